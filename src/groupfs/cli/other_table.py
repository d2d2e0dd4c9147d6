"""Another table for a model: ``groupfs apply`` selects columns, ``groupfs scores`` scores rows."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from groupfs import persistence
from groupfs.cli.errors import translate
from groupfs.cli.options import ApplyRequest, CheckRequest, ScoresRequest
from groupfs.cli.prepare import LIKE_A_SCORE, kept_columns
from groupfs.cli.result_folder import Say, check_ending, write_table
from groupfs.files import FileTable, read_table
from groupfs.files.codebook import read_renamed
from groupfs.files.columns import ColumnsError, Preparation, no_such_column, numeric_columns
from groupfs.files.file_content import find_content
from groupfs.files.file_table import numbered
from groupfs.groups import Groups, feature_names
from groupfs.utils.text import count, join_names
from groupfs.utils.warn import ColumnsWarning

#: What a score is, as the command says it.
DEFINITION = (
    "A score is the mean of the standardised values that a row has, central features counting "
    "more and reversed ones turned: 0 is the mean of the table that the groups were found in, and "
    "there is none where less than {least:.0%} of a group is there."
)


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


def scores(request: ScoresRequest, report_progress: Say, note: Say) -> None:
    """Score the rows of another file on the groups of a model, and write the scores."""
    check_ending(request.out, request.force, "a table of scores")
    selector, preparation = open_model(request.model)
    selector = turned(selector, request.direction, preparation.names)
    table = read_other(request, preparation)
    X, said = values_of_model(table, preparation)
    note(*map(translate, [*table.notes, *said]))
    frame, told = scores_table(selector, X, request.level, request.least, note)
    note(DEFINITION.format(least=request.least))
    frame = beside_scores(kept_columns(table, request.keep), frame, note)
    write_table(frame, request.out, preparation.labels | told, report_progress, note)


def beside_scores(kept: dict[str, Any], scores: Any, note: Say) -> Any:
    """Put the columns that are kept before the scores, and say in which rows scores are missing."""
    import pandas as pd

    if twice := [name for name in kept if name in scores]:
        raise ColumnsError(f"--keep {twice[0]}: {LIKE_A_SCORE}")
    gaps = scores.isna().to_numpy()
    n_gaps, rows = int(gaps.sum()), np.flatnonzero(gaps.any(axis=1))
    if n_gaps:
        ids = [pd.Series(of) for of in kept.values()]
        told = next((of[rows] for of in ids if of.is_unique), [f"row {i + 1}" for i in rows])
        missing = f"{count(n_gaps, 'score')} {'is' if n_gaps == 1 else 'are'} missing"
        where = f"{count(len(rows), 'row')} ({join_names(told, 8)})"
        note(f"{missing} in {where}: too little of the group is there.")
    return pd.concat([pd.DataFrame(kept, index=scores.index), scores], axis=1)


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


def open_model(path: Path) -> tuple[Any, Preparation]:
    """Read a model, or that of a folder of results, and what it was made from."""
    selector, preparation = persistence.load_model(path / "model.skops" if path.is_dir() else path)
    names = getattr(selector, "feature_names_in_", numbered(selector.n_features_in_))
    preparation = preparation or numeric_columns(names)
    selector.feature_names_in_ = np.array(preparation.names, dtype=object)  # also of sparse tables
    return selector, preparation


def read_other(
    request: ApplyRequest | CheckRequest | ScoresRequest, preparation: Preparation
) -> FileTable:
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
    if request.labels is None:
        return table
    known = [column.name for column in preparation.columns]
    renamed, told = read_renamed(request.labels, table.names, known)
    names = [renamed.get(name, name) for name in table.names]
    values = table.values.set_axis(names, axis=1) if table.is_frame else table.values
    return replace(table, names=names, values=values, notes=[*table.notes, *[told] * bool(told)])


def values_of_model(table: FileTable, preparation: Preparation) -> tuple[Any, list[str]]:
    """Return the columns of the model that a table has, as the kinds they have in it."""
    given = set(table.names)
    if not table.is_frame or given.isdisjoint(preparation.names):  # sparse numbers have no gaps
        preparation.refuse_missing(table.names, preparation.names)
    if not table.is_frame:
        place = {name: i for i, name in enumerate(table.names)}
        return table.values[:, [place[name] for name in preparation.names]], []
    known = tuple(column for column in preparation.columns if column.name in given)
    return replace(preparation, columns=known).apply(table.values)
