"""From a file to a table for the estimator: columns set aside, the others given their kind."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from groupfs.cli.errors import translate
from groupfs.cli.request import Request
from groupfs.data.memory_plan import memory_budget, parse_memory
from groupfs.tables import Table, read_table
from groupfs.tables.columns import (
    ColumnsError,
    Preparation,
    learn_columns,
    no_such_column,
    numeric_columns,
)
from groupfs.tables.large_text import is_too_large, map_text
from groupfs.tables.missing_codes import read_codes, without_codes
from groupfs.tables.read import refuse_h5ad_options
from groupfs.utils.errors import ParameterError
from groupfs.utils.text import format_bytes, join_names

#: Labels of numbers with more values than this are cut into two halves to report agreement.
MOST_CLASSES = 10
#: Bytes that must be left to read a table with.
LEAST_BYTES = 10**7


@dataclass(frozen=True)
class Prepared:
    """A table ready for the estimator."""

    X: Any
    preparation: Preparation
    labels: Any
    notes: list[str]


def read_file(
    path: str, request: Request, make_folder: Callable[[], str]
) -> tuple[Table, Preparation | None]:
    """Read a file; one too large for memory in parts, and then its columns are prepared as well.

    The numbers of such a file are mapped from the folder that ``make_folder`` makes.
    """
    max_memory = request.settings.get("max_memory")
    max_bytes = None if max_memory is None else memory_budget(max_memory)
    if max_bytes is not None and max_bytes < LEAST_BYTES:
        least = parse_memory(max_memory) - max_bytes + LEAST_BYTES
        raise ParameterError(
            f"max_memory={max_memory!r} leaves nothing for the table; give {format_bytes(least)} "
            "or more.",
            "max_memory",
        )
    if is_too_large(path, max_memory):
        refuse_h5ad_options(path, request.layer, request.use_raw)
        given = {"--label": request.label, "--by": request.by}
        aside = {option: name for option, name in given.items() if name is not None}
        return map_text(
            path,
            make_folder(),
            header=request.header,
            max_memory=max_memory,
            aside=aside,
            drop=request.drop,
            use=request.use,
            missing=request.missing,
            order=request.order,
        )
    table = read_table(
        path,
        header=request.header,
        layer=request.layer,
        use_raw=request.use_raw,
        max_bytes=max_bytes,
    )
    return table, None


def prepare(table: Table, request: Request, learned: Preparation | None = None) -> Prepared:
    """Set the label aside before anything else, then give every column its kind.

    The columns of a table that was read in parts have learned it already.
    """
    labels, notes = _labels(table, request)
    if learned is not None:
        preparation, X = learned, table.values
    elif not table.is_frame:  # numbers already
        _refuse_for_numbers(table, request)
        preparation = numeric_columns(table.names, drop=request.drop, label=request.label)
        kept = [i for i, column in enumerate(preparation.columns) if column.kind == "number"]
        X = table.values if len(kept) == len(table.names) else table.values[:, kept]
    else:
        preparation = learn_columns(
            table.values,
            drop=request.drop,
            use=request.use,
            label=request.label,
            missing=request.missing,
            order=request.order,
        )
        X, _ = preparation.apply(table.values)
    notes += [] if preparation is learned else preparation.notes
    notes = [translate(note) for note in [*table.notes, *notes]]
    preparation = replace(
        preparation, header=request.header, layer=request.layer, use_raw=request.use_raw
    )
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
    return Prepared(X, preparation, labels, notes)


def _refuse_for_numbers(table: Table, request: Request) -> None:
    """Refuse options for answers where a table holds none."""
    for option, given in (("--missing", request.missing), ("--order", request.order)):
        if given:
            raise ColumnsError(
                f"{option} {given[0]}: {table.source} is a sparse table of numbers, which has no "
                "answers; leave it out."
            )


def _labels(table: Table, request: Request) -> tuple[Any, list[str]]:
    """Return the label of every row, None for missing ones, and what to say about it."""
    label = request.label
    if label is None:
        others = [] if table.row_metadata is None else list(table.row_metadata.columns)
        hint = f"--label can report agreement with what else the file holds: {join_names(others)}."
        return None, [hint] if others else []
    series = without_codes(find_column(table, label, "--label"), read_codes(request.missing))
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
