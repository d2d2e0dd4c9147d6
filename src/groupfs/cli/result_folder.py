"""What is written: the files of a result, all of them or none, and nothing is replaced unasked.

They are written aside and renamed, so that they appear whole.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groupfs.files.columns import Preparation

#: What a folder of results holds, and what it holds beside that with --by and --scores.
FILES = ("selected.csv", "groups.csv", "scales.csv", "result.json", "report.html", "model.skops")
CONDITIONS, SCORES = "conditions.csv", "scores.csv"


class OutputError(OSError):
    """A result that cannot be written; the message is one sentence for people."""


def check_target(target: Path, force: bool, is_folder: bool) -> None:
    """Refuse, before any work, a folder or a file that may not be written in the end."""
    if os.path.lexists(target) and target.is_dir() != is_folder:
        if is_folder:
            raise OutputError(f"{target} is a file; name a folder for the results.")
        raise OutputError(f"{target} is a folder; name a file to write.")
    there = any(target.iterdir()) if target.is_dir() else os.path.lexists(target)
    if there and not force:
        raise OutputError(f"{target} exists; add --force to replace it, or name another --out.")


def write_results(
    folder: Path,
    force: bool,
    summary: dict[str, Any],
    selector: Any,
    preparation: "Preparation",
    scores: Any = None,
) -> None:
    """Write all files of a result, or none; ``scores`` is a table of them if they are asked for."""
    import pandas as pd

    from groupfs import persistence, report
    from groupfs.report import csv_rows

    tables = {
        "selected.csv": (csv_rows.SELECTED_COLUMNS, report.selected_table(summary)),
        "groups.csv": (csv_rows.GROUPS_COLUMNS, report.groups_table(summary)),
        "scales.csv": (csv_rows.SCALES_COLUMNS, report.scales_table(summary)),
    }
    if summary.get("conditions"):
        tables[CONDITIONS] = csv_rows.CONDITIONS_COLUMNS, report.conditions_table(summary)

    def write(aside: Path) -> None:
        for name, (columns, rows) in tables.items():
            columns = tuple(rows[0]) if rows else columns  # levels have columns of their own
            frame = pd.DataFrame(rows, columns=columns, dtype=object)  # whole numbers stay whole
            frame.to_csv(aside / name, index=False, lineterminator="\n")
        if scores is not None:
            scores.to_csv(aside / SCORES, index=False, lineterminator="\n")
        text = json.dumps(summary, ensure_ascii=False, allow_nan=False)
        (aside / "result.json").write_text(text, encoding="utf-8")
        (aside / "report.html").write_text(report.render(summary), encoding="utf-8")
        persistence.save(selector, aside / "model.skops", preparation=preparation)

    check_target(folder, force, is_folder=True)  # something may have come in the meantime
    write_folder(folder, write)


def files_of(summary: dict[str, Any], has_scores: bool) -> list[str]:
    """Name the files of a result."""
    return [*FILES, *[CONDITIONS] * bool(summary.get("conditions")), *[SCORES] * has_scores]


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """Have a file written aside by a function of its path, then put it in place."""
    with _beside(path, path.parent) as aside:
        write(aside / path.name)  # writers of tables go by the ending
        os.replace(aside / path.name, path)


def write_folder(path: Path, write: Callable[[Path], object]) -> None:
    """Have files written aside by a function of their folder's path, then put them in place.

    A new folder appears with all its files at once. Files of the same name in a folder that is
    there already are replaced when all are written, and others stay. Such a folder is never
    replaced itself: it may be a mounted disk, or the one that somebody's shell is in.
    """
    exists = path.is_dir()
    with _beside(path, path if exists else path.parent) as aside:
        made = aside / "results"
        made.mkdir()
        write(made)
        if not exists:
            os.rename(made, path)
            return
        for file in made.iterdir():
            os.replace(file, path / file.name)


@contextlib.contextmanager
def _beside(path: Path, parent: Path) -> Iterator[Path]:
    """Make a folder on the same disk, of which nothing is left; errors name ``path``."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".groupfs-", dir=parent) as aside:
            yield Path(aside)
    except OutputError:
        raise
    except OSError as reason:
        why = str(reason.strerror or reason).lower()
        raise OutputError(
            f"{path} cannot be written ({why}); nothing was changed, so make room or choose "
            "another place."
        ) from reason
