"""The folder of results: the files in it, and that nothing is replaced unasked."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groupfs.utils.atomic_files import OutputError, write_folder

if TYPE_CHECKING:
    from groupfs.files.columns import Preparation

#: What a folder of results holds, and what it holds beside that with --by.
FILES = ("selected.csv", "groups.csv", "result.json", "report.html", "model.skops")
CONDITIONS = "conditions.csv"


def check_folder(folder: Path, force: bool) -> None:
    """Refuse, before any work, a folder that may not be written in the end."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise OutputError(f"{folder} is a file; name a folder for the results.")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise _exists(folder)


def check_file(file: Path, force: bool) -> None:
    """Refuse, before any work, a file that may not be written in the end."""
    if file.is_dir():
        raise OutputError(f"{file} is a folder; name a file to write.")
    if os.path.lexists(file) and not force:
        raise _exists(file)


def _exists(target: Path) -> OutputError:
    return OutputError(f"{target} exists; add --force to replace it, or name another --out.")


def write_results(
    folder: Path, force: bool, summary: dict[str, Any], selector: Any, preparation: "Preparation"
) -> None:
    """Write all files of a result, or none."""
    import pandas as pd

    from groupfs import persistence, report
    from groupfs.report.conditions import CONDITIONS_COLUMNS
    from groupfs.report.csv_rows import GROUPS_COLUMNS, SELECTED_COLUMNS

    tables = {
        "selected.csv": (SELECTED_COLUMNS, report.selected_table(summary)),
        "groups.csv": (GROUPS_COLUMNS, report.groups_table(summary)),
    }
    if summary.get("conditions"):
        tables[CONDITIONS] = CONDITIONS_COLUMNS, report.conditions_table(summary)

    def write(aside: Path) -> None:
        for name, (columns, rows) in tables.items():
            frame = pd.DataFrame(rows, columns=columns, dtype=object)  # whole numbers stay whole
            frame.to_csv(aside / name, index=False, lineterminator="\n")
        text = json.dumps(summary, ensure_ascii=False, allow_nan=False)
        (aside / "result.json").write_text(text, encoding="utf-8")
        (aside / "report.html").write_text(report.render(summary), encoding="utf-8")
        persistence.save(selector, aside / "model.skops", preparation=preparation)

    check_folder(folder, force)  # something may have come in the meantime
    write_folder(folder, write)


def files_of(summary: dict[str, Any]) -> list[str]:
    """Name the files of a result."""
    return [*FILES, *[CONDITIONS] * bool(summary.get("conditions"))]
