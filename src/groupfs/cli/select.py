"""``groupfs select`` and ``groupfs demo``: read, prepare, fit, summarise, write."""

import shlex
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from groupfs.cli.conditions import check_conditions, compare_by, without_column
from groupfs.cli.errors import OPTIONS, translate
from groupfs.cli.result_folder import check_folder, write_results
from groupfs.tables import Table, read_table
from groupfs.tables.columns import (
    ColumnsError,
    Preparation,
    learn_columns,
    no_such_column,
    numeric_columns,
)
from groupfs.utils.text import join_names

#: Labels of numbers with more values than this are cut into two halves to report agreement.
MOST_CLASSES = 10


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    out: Path
    force: bool = False
    label: str | None = None
    by: str | None = None  #: column that groups are compared by
    drop: Sequence[str] = ()
    use: Sequence[str] = ()
    header: bool | None = None
    image_shape: tuple[int, int] | None = None
    along_path: bool = False  #: whether a path of sparsities is trained
    settings: dict[str, Any] = field(default_factory=dict)  #: of the estimator


@dataclass(frozen=True)
class Prepared:
    """A table ready for the estimator."""

    X: Any
    preparation: Preparation
    labels: Any
    notes: list[str]


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
    if path is None:
        table = two_moons()
    else:
        report_progress(f"Reading {'standard input' if path == '-' else path}")
        table = read_table(path, header=request.header)
        report_progress(f"Read {table.n_rows} rows and {len(table.names)} columns")
    by = None
    if request.by is not None:
        by = find_column(table, request.by, "--by")
        check_conditions(by, f"--by {request.by}")
        if request.by != request.label:  # the label is set aside below
            table = without_column(table, request.by)
        aside = f"Set {request.by} aside to compare groups by: it plays no part in the selection."
        table = replace(table, notes=[*table.notes, aside])
    prepared = prepare(table, request)
    for sentence in prepared.notes:
        note(sentence)
    names = prepared.preparation.names

    from groupfs import GroupFS, GroupFSPath, report  # slow, so not before the table is sound

    report_progress(f"Looking for groups among {len(names)} features")
    estimator = (GroupFSPath if request.along_path else GroupFS)(**request.settings)
    warned = _fit(estimator, prepared.X)
    for sentence in warned:
        note(sentence)
    conditions = None
    if by is not None:
        report_progress(f"Comparing groups by {request.by}")
        conditions, said = compare_by(estimator, prepared.X, by)
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


def command_line(source: str, request: Request) -> str:
    """Write the command that selects the same from the same file."""
    words = ["groupfs", "select", source]
    words += ["--label", request.label] if request.label is not None else []
    words += ["--by", request.by] if request.by is not None else []
    words += [word for name in request.drop for word in ("--drop", name)]
    words += [word for name in request.use for word in ("--use", name)]
    words += ["--no-header"] if request.header is False else []
    words += ["--image", "x".join(map(str, request.image_shape))] if request.image_shape else []
    words += ["--path"] if request.along_path else []
    rule = request.settings.get("n_groups_to_select")
    words += {"significant": ["--significant"], "open": ["--open-gates"], None: []}[rule]
    similarity = request.settings.get("similarity", "correlation")
    if similarity != "correlation":
        words += [OPTIONS["similarity"], similarity.replace("_", "-")]
    flags = [name for name in ("signed", "keep_unrelated") if request.settings.get(name)]
    words += [OPTIONS[name] for name in flags]
    for name in ("n_features_to_select", "explain", "n_groups", "sparsity", "random_state"):
        if request.settings.get(name) is not None:
            words += [OPTIONS[name], str(request.settings[name])]
    return shlex.join(words)


def prepare(table: Table, request: Request) -> Prepared:
    """Set the label aside before anything else, then give every column its kind."""
    labels, notes = _labels(table, request.label)
    if table.is_sparse:  # numbers already
        preparation = numeric_columns(table.names, drop=request.drop, label=request.label)
        kept = [i for i, column in enumerate(preparation.columns) if column.kind == "number"]
        X = table.values if len(kept) == len(table.names) else table.values[:, kept]
    else:
        preparation = learn_columns(
            table.values, drop=request.drop, use=request.use, label=request.label
        )
        preparation = replace(preparation, header=request.header)
        X, _ = preparation.apply(table.values)
    notes += map(translate, preparation.notes)
    n_features = len(preparation.names)
    if n_features < 2:
        raise ColumnsError(
            f"{table.source} has {n_features} usable column{'' if n_features == 1 else 's'} left, "
            f"and a choice needs at least 2{': ' if notes else '.'}{' '.join(notes)}"
        )
    if request.image_shape is not None:
        height, width = request.image_shape
        if height * width != n_features:
            raise ColumnsError(
                f"--image {height}x{width}: that is {height * width} pixels, but the table has "
                f"{n_features} features."
            )
    if table.n_rows < 2:
        raise ColumnsError(f"{table.source} has only one row; groups show in many.")
    return Prepared(X, preparation, labels, [*table.notes, *notes])


def _labels(table: Table, label: str | None) -> tuple[Any, list[str]]:
    """Return the label of every row, None for missing ones, and what to say about it."""
    if label is None:
        others = [] if table.row_metadata is None else list(table.row_metadata.columns)
        hint = f"--label can report agreement with what else the file holds: {join_names(others)}."
        return None, [hint] if others else []
    series = find_column(table, label, "--label")
    note = f"Set {label} aside as the label: it plays no part in the selection."
    n_classes = series.nunique()
    if n_classes < 2:
        only = "".join(f"one value only, {value}" for value in series.dropna().unique())
        raise ColumnsError(f"--label {label}: the column has {only or 'no value'}.")
    if series.dtype.kind in "iuf" and n_classes > MOST_CLASSES:
        middle = float(series.median())
        if middle == series.max():
            middle = float(series[series < middle].max())
        low, high = f"up to {middle:g}", f"above {middle:g}"
        series = series.map(lambda v: low if v <= middle else high, na_action="ignore")
        note = f"{note[:-1]}; agreement is that with its two halves, {low} and {high}."
    return series.to_numpy(dtype=object, na_value=None), [note]


def find_column(table: Table, name: str, option: str) -> Any:
    """Return a column of the table, or of what else its file says of the rows."""
    if name in table.names:
        return table.frame([name])[name]
    others = [] if table.row_metadata is None else list(map(str, table.row_metadata.columns))
    if name in others:
        return table.row_metadata[name]
    raise ColumnsError(f"{option} {name}: {no_such_column(name, [*table.names, *others])}")


def _fit(estimator: Any, X: Any) -> list[str]:
    """Fit the estimator, and return its warnings as sentences."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X)
    estimator.verbose = 0  # the bar was for this terminal, not for whoever reads the model
    if hasattr(estimator, "checkpoint"):
        estimator.checkpoint = None  # nor is a folder of this machine
    # those of other packages have classes of their own, and are not for users of a command
    ours = [w for w in caught if w.category is UserWarning or "groupfs" in w.category.__module__]
    return [translate(str(w.message)) for w in ours]
