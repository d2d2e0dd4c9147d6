"""``groupfs scores``: a score for every row on every group of a model."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from groupfs.cli.apply import open_model, read_other
from groupfs.cli.errors import translate
from groupfs.cli.options import ScoresRequest
from groupfs.cli.prepare import kept_columns
from groupfs.cli.result_folder import Say, check_ending, write_table
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


def scores(request: ScoresRequest, report_progress: Say, note: Say) -> None:
    """Score the rows of another file on the groups of a model, and write the scores."""
    check_ending(request.out, request.force, "a table of scores")
    selector, preparation = open_model(request.model)
    selector = turned(selector, request.direction, preparation.names)
    table = read_other(request, preparation)
    X, said = values_of_model(table, preparation)
    note(*map(translate, [*table.notes, *said]))
    frame, told = scores_table(selector, X, request.level, request.least, note)
    for name, values in reversed(kept_columns(table, request.keep).items()):
        frame.insert(0, name, values)
    note(DEFINITION.format(least=request.least))
    write_table(frame, request.out, preparation.labels | told, report_progress, note)


def values_of_model(table: FileTable, preparation: Preparation) -> tuple[Any, list[str]]:
    """Return the columns of the model that a table has, as the kinds they have in it."""
    import pandas as pd

    given = set(table.names)
    if not table.is_frame or given.isdisjoint(preparation.names):  # sparse numbers have no gaps
        preparation.refuse_missing(table.names, preparation.names)
    if not table.is_frame:
        return table.values[:, pd.Index(table.names).get_indexer(preparation.names)], []
    known = tuple(column for column in preparation.columns if column.name in given)
    return replace(preparation, columns=known).apply(table.values)


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
    selector: Any, X: Any, level: int | str | None, least: float, note: Say
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
            ours = [w for w in caught if w.category is ColumnsWarning]
            note(*(translate(str(w.message)) for w in ours))
        several, groups = len(shown) > 1, Groups.of(of)
        parts.append(part.add_prefix(f"level{k}_") if several else part)
        for name, j in zip(parts[-1], of.group_kept_.nonzero()[0], strict=True):
            ordered = groups.by_centrality(j)
            central = ["-" * int(groups.signs[i] < 0) + names[i] for i in ordered]
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
