"""``groupfs check``: whether the groups of a model hold in another table."""

import json
import warnings
from pathlib import Path
from typing import Any

from groupfs.cli.errors import translate
from groupfs.cli.options import CheckRequest
from groupfs.cli.other_table import open_model, read_other, values_of_model
from groupfs.cli.result_folder import Say, check_target, write_folder


def check(request: CheckRequest, report_progress: Say, note: Say) -> Any:
    """Compare the groups of a model with the rows of a file; write tables and page to a folder.

    The page is the report of the folder that the model is in, with a section on these rows.
    """
    out = request.out
    if out is not None:
        check_target(out, request.force, is_folder=True)
    selector, preparation = open_model(request.model)
    table = read_other(request, preparation)
    X, said = values_of_model(table, preparation)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checked = selector.check(X)
    ours = [str(one.message) for one in caught if "groupfs" in one.category.__module__]
    note(*map(translate, [*table.notes, *said, *ours]))
    if out is not None:
        write_folder(out, lambda aside: _write(aside, checked, request.model, table.source, note))
        report_progress(f"Written: {out}/")
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
