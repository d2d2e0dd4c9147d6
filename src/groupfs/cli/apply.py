"""What ``groupfs apply`` and ``groupfs report`` do with results that are there already."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from groupfs import persistence
from groupfs.cli.errors import printing
from groupfs.tables import Table, TableError, read_table
from groupfs.tables.columns import ColumnsError, Preparation, no_column, numeric_columns
from groupfs.utils import atomic_files as outputs

#: Endings of files that a selection can be written to, and pandas' writers.
WRITERS: dict[str, Callable[[Any, Path], Any]] = {
    ".csv": lambda frame, path: _write_csv(frame, path),
    ".tsv": lambda frame, path: _write_csv(frame, path, sep="\t"),
    ".parquet": lambda frame, path: frame.to_parquet(path, index=False),
    ".feather": lambda frame, path: frame.to_feather(path),
    ".npy": lambda frame, path: _write_array(frame, path),
}


def apply(
    model: Path,
    path: str,
    out: Path | None,
    *,
    keep: Sequence[str] = (),
    as_is: bool = False,
    header: bool | None = None,
    force: bool = False,
    remark: Callable[[str], None],
) -> tuple[int, int]:
    """Select the model's columns of another file; rows and columns of what was written."""
    if out is not None:
        _writer(out)
        outputs.check_file(out, force)
    model = model / "model.skops" if model.is_dir() else model
    selector, preparation = persistence.load_model(model)
    if preparation is None:
        preparation = numeric_columns(
            getattr(
                selector, "feature_names_in_", [f"x{i}" for i in range(selector.n_features_in_)]
            )
        )
    table = read_table(path, header=preparation.header if header is None else header)
    _refuse_other_layout(table, preparation, model)
    support = selector.get_support()
    names = [name for name, kept in zip(preparation.names, support, strict=True) if kept]
    selected, notes = _selected(table, preparation, names, as_is)
    for note in [*table.notes, *notes]:
        remark(note)
    selected = _with_kept(selected, table, keep)
    if out is None:
        _print_csv(selected)
    else:
        outputs.write_file(out, lambda aside: _writer(out)(selected, aside), force)
    return selected.shape


def report(result: Path, out: Path, force: bool) -> None:
    """Render the report of a result.json anew."""
    from groupfs.report import read, render

    outputs.check_file(out, force)
    try:
        summary = read(result)
    except FileNotFoundError as reason:
        raise TableError(f"There is no file {result}; check the spelling.") from reason
    except OSError as reason:
        raise TableError(f"{result} cannot be read: {reason.strerror}.") from reason
    except ValueError as reason:
        raise TableError(str(reason)) from reason
    try:
        page = render(summary).encode("utf-8")
    except (ImportError, MemoryError):
        raise
    except Exception as reason:  # a file that was changed may hold anything anywhere
        raise TableError(
            f"{result} is not a whole result ({type(reason).__name__}: {reason}); write it again "
            "with groupfs select."
        ) from reason
    outputs.write_file(out, lambda aside: aside.write_bytes(page), force)


def _refuse_other_layout(table: Table, preparation: Preparation, model: Path) -> None:
    """Without names, columns are told apart by their place, so there must be as many."""
    expected = len(preparation.columns)
    if not table.named and len(table.names) != expected:
        raise ColumnsError(
            f"{table.source} has {len(table.names)} columns without names, but {model} was made "
            f"from {expected}, so their places do not tell which is which."
        )


def _selected(
    table: Table, preparation: Preparation, names: list[str], as_is: bool
) -> tuple[Any, list[str]]:
    import pandas as pd

    needed = preparation.needed(names)
    try:
        preparation.refuse_missing(table.names, names)
    except ColumnsError as reason:
        raise ColumnsError(f"{table.source} does not fit the model: {reason}") from reason
    if hasattr(table.values, "columns"):
        frame = table.values[needed]
    else:
        places = {name: place for place, name in enumerate(table.names)}
        columns = table.values[:, [places[name] for name in needed]].toarray()
        frame = pd.DataFrame(columns, columns=needed)
    if as_is:
        return frame.copy(), []
    selected, notes = preparation.apply(frame, names)
    source = {name: column.name for column in preparation.columns for name in column.outputs}
    # what was counted or coded is written without a decimal point
    whole = {
        name: "int64"
        for name in names
        if frame[source[name]].dtype.kind != "f" and (selected[name] % 1 == 0).all()
    }
    return selected.astype(whole), notes


def _with_kept(selected: Any, table: Table, keep: Sequence[str]) -> Any:
    """Put columns that are asked for, such as ids, before the selected ones."""
    for place, name in enumerate(keep):
        if name in selected.columns:
            continue
        if hasattr(table.values, "columns") and name in table.names:
            column = table.values[name]
        elif table.row_metadata is not None and name in table.row_metadata.columns:
            column = table.row_metadata[name]
        else:
            raise ColumnsError(f"--keep {name}: {no_column(name, table.names)}")
        selected.insert(min(place, selected.shape[1]), name, column.to_numpy())
    return selected


def _print_csv(frame: Any) -> None:
    """The same bytes that a file would get, whatever the terminal's encoding."""
    with printing():
        _write_csv(frame, sys.stdout.buffer)


def _write_csv(frame: Any, target: Any, sep: str = ",") -> None:
    text = frame.select_dtypes(exclude="number").to_numpy().ravel()
    quoting = outputs.csv_quoting([*frame.columns, *text])
    frame.to_csv(target, index=False, sep=sep, quoting=quoting)


def _writer(out: Path) -> Callable[[Any, Path], Any]:
    name = out.name.lower()
    if name.endswith((".csv.gz", ".tsv.gz")):  # pandas packs by the ending
        name = name.removesuffix(".gz")
    for ending, writer in WRITERS.items():
        if name.endswith(ending):
            return writer
    raise outputs.OutputError(
        f"--out {out}: a selection is written as {', '.join(e[1:] for e in WRITERS)}; choose one "
        "of these endings."
    )


def _write_array(frame: Any, path: Path) -> None:
    import numpy as np

    array = frame.to_numpy()
    if array.dtype.kind not in "biuf":
        raise ColumnsError("npy files hold numbers alone; write text columns as csv or parquet.")
    with open(path, "wb") as file:
        np.save(file, array, allow_pickle=False)
