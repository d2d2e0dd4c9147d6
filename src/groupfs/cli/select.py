"""``groupfs select`` and ``groupfs demo``: read, prepare, fit, summarise, write."""

import warnings
from typing import Any

import numpy as np

from groupfs.cli.errors import translate
from groupfs.cli.options import SelectRequest, command_line
from groupfs.cli.other_table import DEFINITION, beside_scores, scores_table, turned
from groupfs.cli.prepare import prepare, read_file
from groupfs.cli.result_folder import Say, check_target, write_results
from groupfs.data.row_scores import LEAST_WEIGHT
from groupfs.files import FileTable
from groupfs.utils.errors import ParameterError


def select(request: SelectRequest, report_progress: Say, note: Say) -> dict[str, Any]:
    """Select from a file, or from the two moons without one, and return the summary written.

    ``report_progress`` takes the steps, ``note`` the decisions on columns.
    """
    check_target(request.folder, request.force, is_folder=True)
    if request.table is None:
        table = two_moons()
    else:
        name = "standard input" if request.table == "-" else request.table
        report_progress(f"Reading {name}")
        table = read_file(request)
        report_progress(f"Read {table.n_rows} rows and {len(table.names)} columns")
    if request.rows_needed and request.groups:
        raise ParameterError(
            "--rows-needed speaks of groups that halves of the rows agree on; leave --groups out.",
            "n_groups",
        )
    prepared = prepare(table, request)
    note(*prepared.notes)
    preparation = prepared.preparation
    names = preparation.names

    from groupfs import FeatureGroups, report  # slow, so not before the table is sound

    report_progress(f"Looking for groups among {len(names)} features")
    compared = growth = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector = FeatureGroups(**request.parameters).fit(prepared.X)
        selector.feature_names_in_ = np.array(names, dtype=object)  # sparse tables have none
        selector = turned(selector, request.direction, names)
        if prepared.condition is not None:
            report_progress(f"Comparing groups by {request.by}")
            compared = _compare_by(selector, prepared.X, prepared.condition)
        if request.rows_needed and selector.n_groups_:
            report_progress("Comparing halves of fewer rows")
            growth = selector.rows_needed(prepared.X)
    # those of other packages have classes of their own, and are not for users of a command
    ours = (w for w in caught if w.category is UserWarning or "groupfs" in w.category.__module__)
    said = [translate(str(w.message)) for w in ours]
    note(*said)
    report_progress("Writing the report")
    about: Any = {"feature_names": names, "labels": prepared.labels, "label_name": request.label}
    about |= {"source": table.source, "wording": preparation.labels}
    about |= {"conditions": compared, "growth": growth}
    summary = report.summarize(selector, prepared.X, notes=[*prepared.notes, *said], **about)
    summary["code"] = [command_line(request, table.source)]
    scored = None
    if request.scores and not selector.group_kept_.any():
        note("No group is kept, so there is nothing to score.")
    elif request.scores:
        note(DEFINITION.format(least=LEAST_WEIGHT))
        scored, _ = scores_table(selector, prepared.X, None, LEAST_WEIGHT, note)
        scored = beside_scores(prepared.beside, scored, note)
    write_results(request, summary, selector, preparation, scored)
    return summary


def _compare_by(selector: Any, X: Any, column: Any) -> Any:
    """Compare the groups of a fit by a column; return what was found, None without groups."""
    from groupfs.conditions import compare, curves
    from groupfs.conditions.inputs import is_number

    if not selector.n_groups_:
        warnings.warn(f"There are no groups to compare by {column.name}.", stacklevel=2)
        return None
    return (curves if is_number(column) else compare)(selector, X, column)


def two_moons() -> FileTable:
    """Return the two moons as if read from a file that says of every row which moon it is."""
    import pandas as pd

    from groupfs.datasets import load_two_moons

    moons = load_two_moons(random_state=0)
    values = pd.DataFrame(moons.data, columns=moons.feature_names)
    return FileTable(values, list(values), "two moons", pd.DataFrame({"moon": moons.target}))
