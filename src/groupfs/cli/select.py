"""``groupfs select`` and ``groupfs demo``: read, prepare, fit, summarise, write."""

import contextlib
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from groupfs.cli.conditions import check_conditions, compare_by, without_column
from groupfs.cli.errors import translate
from groupfs.cli.path_time import path_sentence
from groupfs.cli.prepare import find_column, prepare, read_file
from groupfs.cli.request import Request, command_line
from groupfs.cli.result_folder import check_folder, write_results
from groupfs.tables import Table
from groupfs.tables.columns import Preparation
from groupfs.tables.missing_codes import read_codes, without_codes
from groupfs.utils.warn import ColumnsWarning


def select(
    path: str | None,
    request: Request,
    report_progress: Callable[[str], None],
    note: Callable[[str], None],
) -> dict[str, Any]:
    """Select from a file, or from the two moons without one, and return the summary written.

    ``report_progress`` takes the steps, ``note`` the decisions on columns.
    """
    check_folder(request.out, request.force)
    with contextlib.ExitStack() as stack:
        if path is None:
            table, learned = two_moons(), None
        else:
            report_progress(f"Reading {'standard input' if path == '-' else path}")

            def make_folder() -> str:
                return stack.enter_context(tempfile.TemporaryDirectory(prefix="groupfs-"))

            table, learned = read_file(path, request, make_folder)
            report_progress(f"Read {table.n_rows} rows and {len(table.names)} columns")
        return _select_from(table, learned, request, report_progress, note)


def _select_from(
    table: Table,
    learned: Preparation | None,
    request: Request,
    report_progress: Callable[[str], None],
    note: Callable[[str], None],
) -> dict[str, Any]:
    by = None
    if request.by is not None:
        by = without_codes(find_column(table, request.by, "--by"), read_codes(request.missing))
        check_conditions(by, f"--by {request.by}")
        if request.by != request.label:  # the label is set aside below
            table = without_column(table, request.by)
        aside = f"Set {request.by} aside to compare groups by: it plays no part in the selection."
        table = replace(table, notes=[*table.notes, aside])
    prepared = prepare(table, request, learned)
    for sentence in prepared.notes:
        note(sentence)
    names = prepared.preparation.names

    from groupfs import GroupFS, GroupFSPath, report  # slow, so not before the table is sound

    report_progress(f"Looking for groups among {len(names)} features")
    device = request.settings.get("device", "auto")
    if request.along_path and (expected := path_sentence(table.n_rows, device)):
        report_progress(expected)
    estimator = (GroupFSPath if request.along_path else GroupFS)(**request.settings)
    warned = _fit(estimator, prepared.X)
    for sentence in warned:
        note(sentence)
    conditions = None
    if by is not None:
        report_progress(f"Comparing groups by {request.by}")
        conditions, said = compare_by(estimator, prepared.X, names, by)
        for sentence in said:
            note(sentence)
        warned += said
    report_progress("Writing the report")
    summary = report.summarize(
        estimator,
        prepared.X,
        feature_names=names,
        labels=prepared.labels,
        label_name=request.label,
        conditions=conditions,
        image_shape=request.image_shape,
        source=table.source,
        notes=[*prepared.notes, *warned],
    )
    summary["code"] = [command_line(table.source, request)]
    write_results(request.out, request.force, summary, estimator, prepared.preparation)
    return summary


def two_moons() -> Table:
    """Return the two moons as if read from a file that says of every row which moon it is."""
    import pandas as pd

    from groupfs.datasets import load_two_moons

    moons = load_two_moons(random_state=0)
    names = list(moons.feature_names)
    values = pd.DataFrame(moons.data, columns=names)
    return Table(values, names, "two moons", row_metadata=pd.DataFrame({"moon": moons.target}))


def _fit(estimator: Any, X: Any) -> list[str]:
    """Fit the estimator, and return its warnings as sentences."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ColumnsWarning)  # said of the columns already
        estimator.fit(X)
    estimator.verbose = 0  # the bar was for this terminal, not for whoever reads the model
    if hasattr(estimator, "checkpoint"):
        estimator.checkpoint = None  # nor is a folder of this machine
    # those of other packages have classes of their own, and are not for users of a command
    ours = [w for w in caught if w.category is UserWarning or "groupfs" in w.category.__module__]
    return [translate(str(w.message)) for w in ours]
