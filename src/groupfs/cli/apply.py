"""``groupfs apply``: select the columns of a model in another file."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from groupfs import persistence
from groupfs.cli.errors import translate
from groupfs.cli.prepare import find_column
from groupfs.cli.result_folder import OutputError, check_target, write_file
from groupfs.files import read_table
from groupfs.files.columns import ColumnsError, numeric_columns
from groupfs.files.file_content import find_content
from groupfs.files.file_table import numbered

#: Endings of files that a selection can be written to.
ENDINGS = (".csv", ".csv.gz", ".tsv", ".parquet")


def apply(
    model: Path,
    path: str,
    out: Path | None,
    *,
    keep: Sequence[str] = (),
    header: bool | None = None,
    force: bool = False,
    note: Callable[[str], None],
) -> tuple[int, int]:
    """Select the model's columns of another file, and return the shape of what was written.

    ``note`` takes the sentences on how the file was read. Values are written as it has them, but
    for codes for no answer, which become gaps, and answers in words, which become their numbers.
    """
    if out is not None:
        check_target(out, force, is_folder=False)
        if not out.name.lower().endswith(ENDINGS):
            raise OutputError(
                f"--out {out}: a selection is written as {', '.join(e[1:] for e in ENDINGS)}; "
                "choose one of these endings."
            )
    model = model / "model.skops" if model.is_dir() else model
    selector, preparation = persistence.load_model(model)
    if preparation is None:
        names = getattr(selector, "feature_names_in_", numbered(selector.n_features_in_))
        preparation = numeric_columns(names)
    support = selector.get_support()
    if not support.any():
        raise ColumnsError(f"{model} selects no feature, so there is nothing to apply.")
    is_h5ad = find_content(path).format == "h5ad"  # another file may be csv
    header = preparation.header if header is None else header
    layer, use_raw = (preparation.layer, preparation.use_raw) if is_h5ad else (None, False)
    table = read_table(path, header=header, layer=layer, use_raw=use_raw)
    expected = len(preparation.columns)
    if not table.named and len(table.names) != expected:
        raise ColumnsError(
            f"{table.source} has {len(table.names)} columns without names, but {model} was made "
            f"from {expected}, so their places do not tell which is which."
        )
    names = [name for name, kept in zip(preparation.names, support, strict=True) if kept]
    preparation.refuse_missing(table.names, names)
    selected, said = preparation.as_selected(table.frame(names))
    for sentence in [*table.notes, *said]:
        note(translate(sentence))
    for name in reversed([name for name in dict.fromkeys(keep) if name not in names]):
        selected.insert(0, name, find_column(table, name, "--keep").to_numpy())
    if out is None:
        # the bytes that a file would get, whatever the terminal's encoding
        selected.to_csv(sys.stdout.buffer, index=False)
    else:
        write_file(out, lambda aside: _write(selected, aside))
    return selected.shape


def _write(frame: Any, path: Path) -> None:
    """Write a table as the ending of its name says; pandas packs by .gz."""
    if path.suffix.lower() == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix.lower() == ".tsv" else ",")
