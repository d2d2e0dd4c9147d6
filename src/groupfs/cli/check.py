"""``groupfs check``: whether the groups of a model hold in another table."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from groupfs.cli.errors import translate
from groupfs.cli.other_table import open_model, read_other
from groupfs.cli.result_folder import check_target, write_folder
from groupfs.cli.scores import values_of_model

Say = Callable[[str], None]


def check(
    model: Path,
    path: str,
    out: Path | None,
    *,
    labels: Path | None = None,
    header: bool | None = None,
    force: bool = False,
    note: Say,
) -> Any:
    """Compare the groups of a model with the rows of a file; write tables and page to a folder.

    The page is the report of the folder that the model is in, with a section on these rows.
    """
    if out is not None:
        check_target(out, force, is_folder=True)
    selector, preparation = open_model(model)
    table = read_other(path, preparation, header, labels)
    X, said = values_of_model(table, preparation)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checked = selector.check(X)
    ours = [str(one.message) for one in caught if "groupfs" in one.category.__module__]
    for sentence in [*table.notes, *said, *ours]:
        note(translate(sentence))
    if out is not None:
        write_folder(out, lambda aside: _write(aside, checked, model, table.source, note))
    return checked


def _write(aside: Path, checked: Any, model: Path, source: str, note: Say) -> None:
    from groupfs import report

    checked.to_frame().to_csv(aside / "check.csv", index=False, lineterminator="\n")
    checked.features_frame().to_csv(aside / "check-features.csv", index=False, lineterminator="\n")
    result = (model if model.is_dir() else model.parent) / "result.json"
    if not result.is_file():
        note(f"There is no {result}, so no report was written, only the tables.")
        return
    summary = report.read(result) | {"check": report.summarize_check(checked, source)}
    text = json.dumps(summary, ensure_ascii=False, allow_nan=False)
    (aside / "result.json").write_text(text, encoding="utf-8")
    (aside / "report.html").write_text(report.render(summary), encoding="utf-8")
