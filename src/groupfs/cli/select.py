"""What ``groupfs select`` and ``groupfs demo`` do: read, prepare, fit, summarise, write."""

from __future__ import annotations

import csv
import json
import shlex
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from groupfs.tables import Table, read_table
from groupfs.tables.columns import (
    Column,
    ColumnsError,
    Preparation,
    learn_columns,
    matching,
    no_column,
)
from groupfs.utils import atomic_files as outputs
from groupfs.utils.text import join_names

#: What a folder of results holds.
FILES = ("selected.csv", "groups.csv", "result.json", "report.html", "model.skops")
#: Labels of numbers with more values than this are cut into two halves to report agreement.
MOST_CLASSES = 10


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    out: Path
    force: bool = False
    label: str | None = None
    drop: Sequence[str] = ()
    use: Sequence[str] = ()
    header: bool | None = None
    image_shape: tuple[int, int] | None = None
    along_path: bool = False  #: whether a path of sparsities is trained
    settings: dict[str, Any] = field(default_factory=dict)  #: of the estimator


#: The options that set parameters of the estimator.
SETTING_OPTIONS = {
    "n_features_to_select": "--budget",
    "n_groups": "--groups",
    "sparsity": "--sparsity",
    "random_state": "--seed",
}


@dataclass(frozen=True)
class Prepared:
    """A table ready for the estimator."""

    X: Any
    names: list[str]
    preparation: Preparation
    labels: Any
    notes: list[str]


@dataclass(frozen=True)
class Outcome:
    summary: dict[str, Any]
    out: Path
    seconds: float


Say = Callable[[str], None]


def select(path: str, request: Request, say: Say, remark: Say) -> Outcome:
    """From a file to a folder of results; ``say`` tells the steps, ``remark`` the decisions."""
    outputs.check_folder(request.out, FILES, request.force)
    say(f"Reading {'standard input' if path == '-' else path}")
    table = read_table(path, header=request.header)
    say(f"Read {table.n_rows} rows and {len(table.names)} columns")
    return select_from(table, request, say, remark)


def select_from(table: Table, request: Request, say: Say, remark: Say) -> Outcome:
    """From a table to a folder of results."""
    started = time.perf_counter()
    outputs.check_folder(request.out, FILES, request.force)
    prepared = prepare(table, request)
    for note in prepared.notes:
        remark(note)
    say(f"Looking for groups among {len(prepared.names)} features")
    selector, warned = _fit(prepared, request)
    for note in warned:
        remark(note)

    from groupfs import report

    say("Writing the report")
    summary = report.summarize(
        selector,
        prepared.X,
        feature_names=prepared.names,
        labels=prepared.labels,
        label_name=request.label,
        image_shape=request.image_shape,
        source=table.source,
        notes=[*prepared.notes, *warned],
    )
    summary["code"] = [same_again(table.source, request)]
    with outputs.folder_aside(request.out, FILES, request.force) as aside:
        _write_results(aside, summary, selector, prepared.preparation)
    return Outcome(summary, request.out, time.perf_counter() - started)


def same_again(source: str, request: Request) -> str:
    """The command that selects the same from the same file."""
    words = ["groupfs", "select", source]
    words += ["--label", request.label] if request.label is not None else []
    words += [word for name in request.drop for word in ("--drop", name)]
    words += [word for name in request.use for word in ("--use", name)]
    words += ["--no-header"] if request.header is False else []
    words += ["--image", "x".join(map(str, request.image_shape))] if request.image_shape else []
    words += ["--path"] if request.along_path else []
    words += ["--significant"] if "n_groups_to_select" in request.settings else []
    for name, option in SETTING_OPTIONS.items():
        if request.settings.get(name) is not None:
            words += [option, str(request.settings[name])]
    return shlex.join(words)


def prepare(table: Table, request: Request) -> Prepared:
    """Set the label aside before anything else, then turn columns into numbers."""
    names = table.names
    labels, notes = _labels(table, request.label)
    columns = table.values
    if hasattr(columns, "columns"):
        preparation = learn_columns(
            columns, drop=request.drop, use=request.use, label=request.label
        )
        preparation = replace(preparation, header=request.header)
        X, _ = preparation.apply(columns)
        notes = [*notes, *preparation.notes]
    else:
        left_out = matching(request.drop, names, "--drop") | ({request.label} & set(names))
        preparation, X, told = _numbers_as_they_are(columns, names, left_out)
        notes = [*notes, *told]
    if len(preparation.names) < 2:
        raise ColumnsError(
            f"{table.source} has {len(preparation.names)} usable column"
            f"{'' if len(preparation.names) == 1 else 's'} left, and a choice needs at least 2"
            f"{': ' if notes else ''}{' '.join(notes) if notes else '.'}"
        )
    _check_image(request.image_shape, len(preparation.names))
    if table.n_rows < 2:
        raise ColumnsError(f"{table.source} has only one row; groups show in many.")
    return Prepared(X, preparation.names, preparation, labels, [*table.notes, *notes])


def _check_image(shape: tuple[int, int] | None, n_features: int) -> None:
    if shape is not None and shape[0] * shape[1] != n_features:
        raise ColumnsError(
            f"--image {shape[0]}x{shape[1]}: that is {shape[0] * shape[1]} pixels, but the table "
            f"has {n_features} features."
        )


def _labels(table: Table, label: str | None) -> tuple[Any, list[str]]:
    if label is None:
        more = [] if table.row_metadata is None else list(table.row_metadata.columns)
        hint = f"--label can report agreement with what else the file holds: {join_names(more)}."
        return None, [hint] if more else []
    series = _label_column(table, label)
    note = f"Set {label} aside as the label: it plays no part in the selection."
    if series.isna().all():
        raise ColumnsError(f"--label {label}: the column has no value in it.")
    values = series.to_numpy(dtype=object, na_value=None)
    n_classes = series.nunique()
    if series.dtype.kind in "iuf" and n_classes > MOST_CLASSES:
        middle = float(series.median())
        if middle == series.max():
            middle = float(series[series < middle].max())
        low, high = f"up to {middle:g}", f"above {middle:g}"
        values = series.map(lambda v: low if v <= middle else high, na_action="ignore")
        values = values.to_numpy(dtype=object, na_value=None)
        note = f"{note[:-1]}; agreement is that with its two halves, {low} and {high}."
    elif n_classes == 1:
        present = series.dropna().iloc[0]
        raise ColumnsError(f"--label {label}: the column has one value only, {present}.")
    return values, [note]


def _label_column(table: Table, label: str) -> Any:
    import pandas as pd

    if label in table.names:
        if hasattr(table.values, "columns"):
            return table.values[label]
        return pd.Series(table.values[:, [table.names.index(label)]].toarray().ravel())
    if table.row_metadata is not None and label in table.row_metadata.columns:
        return table.row_metadata[label]
    more = [] if table.row_metadata is None else table.row_metadata.columns
    known = [*table.names, *map(str, more)]
    raise ColumnsError(f"--label {label}: {no_column(label, known)}")


def _numbers_as_they_are(
    matrix: Any, names: list[str], left_out: set[Any]
) -> tuple[Preparation, Any, list[str]]:
    """A sparse table is numbers already: columns are only left out."""
    columns = [
        Column(name, "ignored", why="dropped") if name in left_out else Column(name, "number")
        for name in names
    ]
    kept = [place for place, name in enumerate(names) if name not in left_out]
    gone = [name for name in names if name in left_out]
    notes = [f"Left out {len(gone)} columns, as asked: {join_names(gone, 12)}."] if gone else []
    return Preparation(tuple(columns)), matrix[:, kept] if gone else matrix, notes


def _fit(prepared: Prepared, request: Request) -> tuple[Any, list[str]]:
    """The fitted selector, and what it warned of in sentences."""
    from groupfs import GroupFS, GroupFSPath
    from groupfs.cli.errors import as_options

    estimator = GroupFSPath if request.along_path else GroupFS
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector = estimator(**request.settings).fit(prepared.X)
    selector.verbose = 0  # the bar was for this terminal, not for whoever reads the model
    if request.along_path:
        selector.checkpoint = None  # nor is a folder of this machine
    told = [as_options(str(w.message)) for w in caught if w.category is UserWarning]
    constants_told = any("never change" in note for note in prepared.notes)
    return selector, [w for w in told if not (constants_told and "constant column" in w)]


def _write_results(
    folder: Path, summary: dict[str, Any], selector: Any, preparation: Preparation
) -> None:
    from groupfs import persistence, report

    write_rows(folder / "selected.csv", report.selected_table(summary))
    write_rows(folder / "groups.csv", report.groups_table(summary))
    text = json.dumps(summary, ensure_ascii=False, allow_nan=False)
    (folder / "result.json").write_text(text, encoding="utf-8")
    (folder / "report.html").write_text(report.render(summary), encoding="utf-8")
    persistence.save(selector, folder / "model.skops", preparation=preparation)


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        quoting = outputs.csv_quoting(cell for row in rows for cell in row.values())
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n", quoting=quoting)
        writer.writeheader()
        writer.writerows(rows)
