"""``groupfs scores``: a score for every row on every group of a model."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from groupfs.cli.errors import translate
from groupfs.cli.other_table import (
    check_ending,
    open_model,
    read_other,
    write_table,
)
from groupfs.cli.prepare import kept_columns
from groupfs.files import FileTable
from groupfs.files.columns import ColumnsError, Preparation, no_such_column
from groupfs.groups import Groups, feature_names
from groupfs.utils.text import join_names
from groupfs.utils.warn import ColumnsWarning

#: What a score is, as the command says it.
DEFINITION = (
    "A score is the mean of the standardised values that a row has, central features counting "
    "more and reversed ones turned: 0 is the mean of the table that the groups were found in, and "
    "there is none where less than {least:.0%} of a group is there."
)


def scores(
    model: Path,
    path: str,
    out: Path | None,
    *,
    keep: Sequence[str] = (),
    level: int | str | None = None,
    least: float,
    direction: Sequence[str] = (),
    labels: Path | None = None,
    header: bool | None = None,
    force: bool = False,
    note: Callable[[str], None],
) -> tuple[int, int]:
    """Score the rows of a file, and return the shape of what was written."""
    check_ending(out, force, "a table of scores")
    selector, preparation = open_model(model)
    selector = turned(selector, direction, preparation.names)
    table = read_other(path, preparation, header, labels)
    X, said = values_of_model(table, preparation)
    for sentence in [*table.notes, *said]:
        note(translate(sentence))
    frame, told = scores_table(selector, X, level, least, note)
    for name, values in reversed(kept_columns(table, keep).items()):
        frame.insert(0, name, values)
    note(DEFINITION.format(least=least))
    for sentence in write_table(frame, out, preparation.labels | told):
        note(sentence)
    return frame.shape


def values_of_model(table: FileTable, preparation: Preparation) -> tuple[Any, list[str]]:
    """Return the columns of the model that a table has, as the kinds they have in it."""
    names, given = preparation.names, set(table.names)
    there = [name for name in names if name in given]
    if not there or not table.is_frame:  # sparse numbers have no gaps
        preparation.refuse_missing(table.names, names)
    if not table.is_frame:
        place = {name: i for i, name in enumerate(table.names)}
        return table.values[:, [place[name] for name in names]], []
    known = [column for column in preparation.columns if column.name in given]
    return replace(preparation, columns=tuple(known)).apply(table.frame(there))


def turned(selector: Any, direction: Sequence[str] | None, names: Sequence[str]) -> Any:
    """Return the selector with groups that run towards the items asked for, by name or a,b."""
    items = [item.strip() for part in direction or () for item in part.split(",")]
    if not items:
        return selector
    for item in items:
        if item not in names:
            raise ColumnsError(f"--direction {item}: {no_such_column(item, names)}")
    return selector.towards(*(list(names).index(item) for item in items))


def scores_table(
    selector: Any, X: Any, level: int | str | None, least: float, note: Callable[[str], None]
) -> tuple[Any, dict[str, str]]:
    """Score rows at one level, or at all side by side, and say what every score is of."""
    import pandas as pd

    shown = [selector]
    if level == "all":
        shown = [selector.at_level(one.n_groups) for one in selector.levels_] or shown
    elif level is not None:
        shown = [selector.at_level(level)]
    parts, labels, names = [], dict[str, str](), feature_names(selector)
    for k, of in enumerate(shown, start=1):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            part = of.scores_frame(X, least=least)
        if k == 1:
            for one in caught:
                if one.category is ColumnsWarning:
                    note(translate(str(one.message)))
        several, groups = len(shown) > 1, Groups.of(of)
        parts.append(part.add_prefix(f"level{k}_") if several else part)
        for name, j in zip(parts[-1], of.group_kept_.nonzero()[0], strict=True):
            central = [
                ("-" if groups.signs[i] < 0 else "") + names[i] for i in groups.by_centrality(j)
            ]
            labels[name] = f"{groups.title(j).capitalize()}: {join_names(central, 12)}"
        left_out = [groups.title(j) for j in (~of.group_kept_).nonzero()[0]]
        if left_out:
            where = f" of level {k}" if several else ""
            verb = "is" if len(left_out) == 1 else "are"
            note(f"Not scored, as it {verb} not kept{where}: {join_names(left_out)}.")
    frame = pd.concat(parts, axis=1)
    if not frame.shape[1]:
        raise ColumnsError("No group is kept, so there is nothing to score.")
    return frame, labels
