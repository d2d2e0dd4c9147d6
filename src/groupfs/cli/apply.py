"""``groupfs apply``: select the columns of a model in another file."""

from collections.abc import Callable, Sequence
from pathlib import Path

from groupfs.cli.errors import translate
from groupfs.cli.other_table import (
    check_ending,
    open_model,
    read_other,
    write_table,
)
from groupfs.cli.prepare import kept_columns
from groupfs.files.columns import ColumnsError
from groupfs.utils.text import count, join_names


def apply(
    model: Path,
    path: str,
    out: Path | None,
    *,
    keep: Sequence[str] = (),
    labels: Path | None = None,
    header: bool | None = None,
    force: bool = False,
    note: Callable[[str], None],
) -> tuple[int, int]:
    """Select the model's columns of another file, and return the shape of what was written.

    ``note`` takes the sentences on how the file was read, and on columns that it lacks. Values are
    written as it has them, but for codes for no answer, which become gaps, and answers in words,
    which become their numbers.
    """
    check_ending(out, force, "a selection")
    selector, preparation = open_model(model)
    support = selector.get_support()
    if not support.any():
        raise ColumnsError(f"{model} selects no feature, so there is nothing to apply.")
    table = read_other(path, preparation, header, labels)
    wanted = [name for name, kept in zip(preparation.names, support, strict=True) if kept]
    there = set(table.names)
    names = [name for name in wanted if name in there]
    if not names:
        preparation.refuse_missing(table.names, wanted)
    selected, said = preparation.as_selected(table.frame(names))
    if missing := [name for name in wanted if name not in there]:
        verb = "is" if len(missing) == 1 else "are"
        said = [
            f"{len(missing)} of the {count(len(wanted), 'selected column')} {verb} missing and "
            f"left out: {join_names(missing, 12)}.",
            *said,
        ]
    for sentence in [*table.notes, *said]:
        note(translate(sentence))
    for name, values in reversed(kept_columns(table, keep).items()):
        if name not in names:
            selected.insert(0, name, values)
    for sentence in write_table(selected, out, preparation.labels):
        note(sentence)
    return selected.shape
