"""Another table for a model: reading both, and ``groupfs apply``, which selects its columns."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from groupfs import persistence
from groupfs.cli.errors import translate
from groupfs.cli.options import ApplyRequest, ScoresRequest
from groupfs.cli.prepare import kept_columns
from groupfs.cli.result_folder import Say, check_ending, write_table
from groupfs.files import FileTable, read_table
from groupfs.files.codebook import read_codebook
from groupfs.files.columns import ColumnsError, Preparation, numeric_columns
from groupfs.files.file_content import find_content
from groupfs.files.file_table import numbered
from groupfs.utils.text import count, join_names


def apply(request: ApplyRequest, report_progress: Say, note: Say) -> None:
    """Select the columns of a model in another file, and write them.

    ``note`` takes the sentences on how the file was read, and on columns that it lacks. Values are
    written as it has them, but for codes for no answer, which become gaps, and answers in words,
    which become their numbers.
    """
    check_ending(request.out, request.force, "a selection")
    selector, preparation = open_model(request.model)
    support = selector.get_support()
    if not support.any():
        raise ColumnsError(f"{request.model} selects no feature, so there is nothing to apply.")
    table = read_other(request, preparation)
    wanted = [name for name, kept in zip(preparation.names, support, strict=True) if kept]
    there = set(table.names)
    names = [name for name in wanted if name in there]
    if not names:
        preparation.refuse_missing(table.names, wanted)
    selected, said = preparation.as_selected(table.frame(names))
    if missing := [name for name in wanted if name not in there]:
        verb = "is" if len(missing) == 1 else "are"
        sentence = (
            f"{len(missing)} of the {count(len(wanted), 'selected column')} {verb} missing and "
            f"left out: {join_names(missing, 12)}."
        )
        said.insert(0, sentence)
    note(*map(translate, [*table.notes, *said]))
    for name, values in reversed(kept_columns(table, request.keep).items()):
        if name not in names:
            selected.insert(0, name, values)
    write_table(selected, request.out, preparation.labels, report_progress, note)


def open_model(path: Path) -> tuple[Any, Preparation]:
    """Read a model, or that of a folder of results, and what it was made from."""
    selector, preparation = persistence.load_model(path / "model.skops" if path.is_dir() else path)
    names = getattr(selector, "feature_names_in_", numbered(selector.n_features_in_))
    preparation = preparation or numeric_columns(names)
    selector.feature_names_in_ = np.array(preparation.names, dtype=object)  # also of sparse tables
    return selector, preparation


def read_other(request: ApplyRequest | ScoresRequest, preparation: Preparation) -> FileTable:
    """Read another table as the first one was read, renamed by a codebook if there is one."""
    how: dict[str, Any] = {"header": False if request.no_header else preparation.header}
    if find_content(request.table).format == "h5ad":  # another file may be csv
        how |= {"layer": preparation.layer, "use_raw": preparation.use_raw}
    table = read_table(request.table, **how)
    expected = len(preparation.columns)
    if not table.named and len(table.names) != expected:
        raise ColumnsError(
            f"{table.source} has {len(table.names)} columns without names, but the model was made "
            f"from {expected}, so their places do not tell which is which."
        )
    renamed = read_codebook(request.labels, table.names).renamed if request.labels else {}
    if renamed and table.is_frame:
        names = [renamed.get(name, name) for name in table.names]
        table = replace(table, names=names, values=table.values.set_axis(names, axis=1))
    return table
