"""What is written: a table, or all files of a result or none; nothing is replaced unasked.

Files are written aside and renamed, so that they appear whole.
"""

import contextlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from groupfs.cli.options import SelectRequest
from groupfs.utils.text import count

if TYPE_CHECKING:
    from groupfs.files.columns import Preparation
    from groupfs.report.schema import Json

#: What a folder of results holds, and what it holds beside that with --by and --scores.
FILES = ("selected.csv", "groups.csv", "scales.csv", "result.json", "report.html", "model.skops")
CONDITIONS, SCORES = "conditions.csv", "scores.csv"
#: Endings of files that can be written, and the extras that bring what writes some of them.
ENDINGS = (".csv", ".csv.gz", ".tsv", ".parquet", ".xlsx", ".sav")
EXTRAS = {".xlsx": "excel", ".sav": "spss"}
#: Names of variables in SPSS: letters it takes, their number, and words that it keeps for itself.
NO_NAME, LONGEST = re.compile(r"[^A-Za-z0-9_.@#$]"), 64
RESERVED = {"ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"}
#: Rows and columns of a sheet, at most.
SHEET = 1_048_575, 16_384

#: What takes sentences for people.
Say: TypeAlias = Callable[..., None]


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


def check_ending(out: Path | None, force: bool, what: str) -> None:
    """Refuse, before any work, a file that cannot be written in the end."""
    if out is None:
        return
    check_target(out, force, is_folder=False)
    if not out.name.lower().endswith(ENDINGS):
        raise OutputError(
            f"--out {out}: {what} is written as {', '.join(e[1:] for e in ENDINGS)}; choose one of "
            "these endings."
        )


def write_results(
    request: SelectRequest, summary: "Json", selector: Any, preparation: "Preparation", scores: Any
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

    # something may have come in the meantime
    check_target(request.folder, request.force, is_folder=True)
    write_folder(request.folder, write)


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


def write_table(
    frame: Any, out: Path | None, labels: Mapping[str, str], report_progress: Say, note: Say
) -> None:
    """Write a table to a file as its ending says, or as csv to standard output.

    ``labels`` are wordings of columns, which sav files hold; ``note`` takes what had to change.
    """
    if out is None:
        # the bytes that a file would get, whatever the terminal's encoding
        frame.to_csv(sys.stdout.buffer, index=False)
    else:
        write_file(out, lambda aside: _write_as(frame, aside, labels, note))
    rows, columns = f"{len(frame)} rows", count(len(frame.columns), "column")
    report_progress(f"Wrote {rows} and {columns}{f' to {out}' if out else ''}")


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


def _write_as(frame: Any, path: Path, labels: Mapping[str, str], note: Say) -> None:
    """Write a table to a path as its ending says; pandas packs by .gz."""
    ending = path.suffix.lower()
    try:
        if ending == ".parquet":
            frame.to_parquet(path, index=False)
        elif ending == ".xlsx":
            if any(n > most for n, most in zip(frame.shape, SHEET, strict=True)):
                raise OutputError(
                    f"{frame.shape[0]} rows and {frame.shape[1]} columns do not fit on a sheet; "
                    "write csv or parquet."
                )
            frame.to_excel(path, index=False)
        elif ending == ".sav":
            _write_spss(frame, path, labels, note)
        else:
            frame.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    except ImportError as reason:
        raise ImportError(
            f"Writing {ending[1:]} needs {str(reason.name).partition('.')[0]}; install it with pip "
            f'install "groupfs[{EXTRAS.get(ending, "cli")}]".'
        ) from reason


def _write_spss(frame: Any, path: Path, labels: Mapping[str, str], note: Say) -> None:
    """Write variables under names that SPSS takes; what they were called becomes their label."""
    import pyreadstat

    renamed: dict[str, str] = {}
    for name in map(str, frame.columns):
        plain = NO_NAME.sub("_", name)
        plain = plain if re.match("[A-Za-z]", plain) else f"v_{plain}"
        plain = f"{plain}_" if plain.upper() in RESERVED else plain[:LONGEST].rstrip(".")
        taken = {other.lower() for other in renamed.values()}
        unique, n = plain, 2
        while unique.lower() in taken:
            unique, n = f"{plain[: LONGEST - 4]}_{n}", n + 1
        renamed[name] = unique
    changed = {new: old for old, new in renamed.items() if new != old}
    told = {new: labels.get(old) or changed.get(new) for old, new in renamed.items()}
    frame = frame.set_axis(list(told), axis=1)
    for name in told:  # SPSS has numbers, dates and text
        if frame[name].dtype.kind not in "biufM":
            numbers = frame[name].convert_dtypes()
            is_text = numbers.dtype.kind not in "biufM"
            text = numbers.astype(object).map(str, na_action="ignore")
            frame[name] = text if is_text else numbers.astype(float)
    pyreadstat.write_sav(frame, str(path), column_labels=told)
    if changed:
        first = ", ".join([f"{old} ({new})" for new, old in changed.items()][:8])
        note(f"SPSS takes other names for {first}{', ...' if len(changed) > 8 else ''}.")
