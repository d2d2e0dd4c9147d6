"""Say of every group of a fit, at every level, whether it holds in other rows, and what broke.

Nothing is fitted again: the groups, their signs and their correlations are those of the fit.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from groupfs.discovery.items import cross_correlations
from groupfs.groups import Groups, feature_names
from groupfs.preservation.measure import (
    CHANCE_FEATURES,
    MOST_FEATURES,
    Measured,
    State,
    chance_of_set,
    density,
    measure,
)
from groupfs.preservation.read import MOST_ROWS, OtherRows, read_other_rows
from groupfs.utils.progress import doing, progress
from groupfs.utils.text import count, join_names, write_p
from groupfs.utils.types import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas

#: How often the correlation with another group is that with the own one, and its least size and
#: standard errors, where a feature that is lost goes with the other group now.
CLEARLY_NEARER, LEAST_CORRELATION, CHANCE_ERRORS = 1.5, 0.2, 3.5
#: Half of an interval of 95 %, in standard errors.
REACH = 1.96
#: States of features that are told of a group, and verdicts on groups.
BROKEN = (State.LOST, State.REVERSED)
VERDICTS = (State.PRESERVED, State.WEAKER, State.GONE, State.UNKNOWN)


@dataclass(frozen=True)
class GroupCheck:
    """One group of one level in other rows."""

    level: int  #: number of groups of the level
    group: int | str  #: its number in that level, or its name
    representative: str
    size: int  #: features in the fit
    features: list[str]  #: that are there, most central first, (m,)
    missing: list[str]  #: that are not there, or the same in every row
    now: Measured | None  #: None with fewer than two features
    p_random: float  #: how likely as many random features go together as much
    moved: dict[str, int | str]  #: features that are lost, and the group that they go with now

    @property
    def verdict(self) -> State:
        """Whether the group holds."""
        return State.UNKNOWN if self.now is None else self.now.verdict

    def named(self, state: State) -> list[str]:
        """Name the features in a state, of a group that is not gone as a whole."""
        if self.now is None or self.verdict is State.GONE:
            return []
        pairs = zip(self.features, self.now.states, strict=True)
        return [name for name, of in pairs if of == state]

    @property
    def broken_words(self) -> str:
        """Name the features that are lost, reversed, or go with another group now."""
        named = {state: self.named(state) for state in BROKEN}
        parts = [f"{state}: {join_names(names)}" for state, names in named.items() if names]
        if parts and self.now is not None and self.now.without_lost != self.verdict:
            parts[0] += f" ({self.now.without_lost} without)"
        parts += [f"missing: {join_names(self.missing)}"] if self.missing else []
        for group in sorted(set(self.moved.values()), key=str):
            these = [name for name, other in self.moved.items() if other == group]
            parts.append(f"now with group {group}: {join_names(these)}")
        return "; ".join(parts)

    @property
    def cells(self) -> list[str]:
        """Tell the group in the cells of a table that is printed."""
        now = self.now
        called = f"{self.group}  {self.representative}"
        figures = ["–"] * 3
        if now is not None:
            figures = [f"{of:.2f}" for of in (now.cohesion, now.cohesion_before, now.congruence)]
        called = called if isinstance(self.group, int) else self.group
        p = write_p(None if now is None else now.p_shuffled)
        return [called, str(self.verdict), *figures, p, self.broken_words]

    def to_row(self) -> dict[str, Any]:
        """Tell the group as a row of a table."""
        now, row = self.now, dict[str, Any]()
        row |= {"level": self.level, "group": self.group, "representative": self.representative}
        row |= {"size": self.size, "verdict": str(self.verdict)}
        reach = 0 if now is None else REACH * now.cohesion_error
        row["cohesion"] = np.nan if now is None else now.cohesion
        row["cohesion_low"] = max(row["cohesion"] - reach, -1.0)
        row["cohesion_high"] = min(row["cohesion"] + reach, 1.0)
        for name in ("cohesion_before", "congruence", "p_shuffled"):
            row[name] = np.nan if now is None else getattr(now, name)
        row["p_random"] = self.p_random
        row |= {str(state): ", ".join(self.named(state)) for state in BROKEN}
        row["without_lost"] = str(self.verdict if now is None else now.without_lost)
        return row | {"missing": ", ".join(self.missing)}

    def feature_rows(self) -> list[dict[str, Any]]:
        """Tell every feature of the group as a row of a table."""
        rows: list[dict[str, Any]] = []
        if (now := self.now) is not None:
            figures = zip(now.states, now.item_rest, now.loadings, now.loadings_before, strict=True)
            for name, (state, rest, loading, before) in zip(self.features, figures, strict=True):
                row = {"feature": name, "state": str(state), "item_rest": rest, "loading": loading}
                rows.append(row | {"loading_before": before, "now_in": self.moved.get(name)})
        rows += [{"feature": name, "state": str(State.MISSING)} for name in self.missing]
        return [{"level": self.level, "group": self.group, **row} for row in rows]


@dataclass(frozen=True)
class Preservation:
    """Whether groups hold in other rows; made by ``selector.check``.

    ``print`` shows the groups of the level that is shown, ``to_frame`` has those of every level.
    """

    #: Headings of the table that is printed, and whether numbers stand below.
    HEADINGS: ClassVar = {"group": False, "verdict": False, "cohesion": True, "before": True}
    HEADINGS |= {"congruence": True, "p": True, "what broke": False}
    LEGEND: ClassVar = (
        "cohesion: mean correlation of the group's features, reversed ones turned, here and in the "
        "rows of the fit (before). congruence: of the loadings, 1 where they are in proportion. p: "
        "how likely shuffled columns go together as much."
    )

    groups: list[GroupCheck]  #: of every level, broadest first, and in each the largest first
    level: int  #: number of groups of the level that is shown
    n_rows: int
    notes: list[str] = field(default_factory=list)  #: what was noticed of the table

    @property
    def shown(self) -> list[GroupCheck]:
        """The groups of the level that is shown."""
        return [of for of in self.groups if of.level == self.level]

    def to_frame(self) -> "pandas.DataFrame":
        """Return one row for each group of every level.

        ``cohesion`` is the mean correlation of its features, reversed ones turned, with an interval
        of 95 %, and ``cohesion_before`` that in the rows of the fit; ``congruence`` compares their
        loadings on what they have in common (Tucker's, 1 if in proportion); ``p_shuffled`` and
        ``p_random`` are how likely shuffled columns, and as many random features, go together as
        much. ``lost`` and ``reversed`` name features, ``without_lost`` is the verdict on the
        others.
        """
        import pandas as pd

        return pd.DataFrame([of.to_row() for of in self.groups])

    def features_frame(self) -> "pandas.DataFrame":
        """Return one row for each feature of each group of every level, most central first.

        ``state`` is "holds", "lost", "reversed" or "missing"; ``item_rest`` is the correlation with
        the sum of the others that hold, in the direction of the fit; ``now_in`` the group that a
        feature which is lost goes with now.
        """
        import pandas as pd

        return pd.DataFrame([row for of in self.groups for row in of.feature_rows()])

    @property
    def sentence(self) -> str:
        """Say how many groups hold."""
        numbers = {state: sum(of.verdict is state for of in self.shown) for state in VERDICTS}
        told = ", ".join(f"{n:,} {state}" for state, n in numbers.items() if n)
        return f"Of {count(len(self.shown), 'group')} in {count(self.n_rows, 'other row')}: {told}."

    def __str__(self) -> str:
        cells = [list(self.HEADINGS), *(of.cells for of in self.shown)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(str.ljust, of, widths)).rstrip() for of in cells]
        return "\n".join([self.sentence, *self.notes, "", *lines, "", self.LEGEND])


def check_groups(selector: Any, X: Any) -> Preservation:
    """Compare the groups of a fitted selector with other rows; see ``selector.check``."""
    rng, names = np.random.default_rng(0), feature_names(selector)
    of_levels = [Groups(**of) for of in getattr(selector, "_level_groups", ())]
    shown = Groups.of(selector)
    of_levels = of_levels if len(of_levels) > 1 else [shown]
    if not len(shown):
        raise ValueError(
            "the selector has found no groups, so there is nothing to check; fit a table in which "
            "features go together."
        )
    found: list[GroupCheck] = []
    with progress(1 + len(of_levels), X):
        doing("Reading the table")
        rows = read_other_rows(selector, X)
        some = np.flatnonzero(~np.isnan(rows.Z).all(axis=0))  # of which random sets are drawn
        for groups in of_levels:
            doing("Checking groups")
            numbers = range(len(groups))
            checks = [_check_group(groups, j, rows, some, names, rng) for j in numbers]
            found += _with_moves(checks, groups, rows, names)
    return Preservation(found, len(shown), rows.n_rows, rows.notes)


def _check_group(
    groups: Groups, j: int, rows: OtherRows, some: IntArray, names: list[str], rng: Any
) -> GroupCheck:
    doing()
    members, p_random, now = groups.by_centrality(j), np.nan, None
    there = np.isin(members, some)
    own = members[there][:MOST_FEATURES]
    if len(own) > 1:
        Z = rows.Z[:, own] * groups.signs[own]
        now = measure(_correlations_then(groups, j, own), _rows_then(groups, j), Z, rng)
        few = rows.Z[:, own[:CHANCE_FEATURES]]
        p_random = chance_of_set(density(few), rows.Z[:, some], len(own), few.shape[1], rng)
    return GroupCheck(
        level=len(groups),
        group=groups.label(j),
        representative=names[groups.representatives[j]],
        size=len(members),
        features=[names[i] for i in own],
        missing=[names[i] for i in members[~there]],
        now=now,
        p_random=p_random,
        moved={},
    )


def _correlations_then(groups: Groups, j: int, own: IntArray) -> FloatArray:
    """Return the correlations of some features of a group in the rows of the fit, (m, m).

    Those that were not kept, of large groups, are taken for products of centralities.
    """
    within = groups.items["within"][j] if groups.items else np.zeros((0, 0))
    if len(within):
        place = np.searchsorted(groups.members[j], own)
        return within[np.ix_(place, place)]
    R = np.outer(groups.centrality[own], groups.centrality[own])
    np.fill_diagonal(R, 1)
    return R


def _rows_then(groups: Groups, j: int) -> float:
    n = float(groups.items["n_rows"][j]) if groups.items else 0.0
    return n or float(MOST_ROWS)


def _with_moves(
    checks: list[GroupCheck], groups: Groups, rows: OtherRows, names: list[str]
) -> list[GroupCheck]:
    """Say of features that are lost which other group of the level they go with now."""
    place = {name: i for i, name in enumerate(names)}
    scores = np.full((len(rows.Z), len(checks)), np.nan)
    for j, of in enumerate(checks):
        if of.verdict in (State.PRESERVED, State.WEAKER):
            held = np.array([place[name] for name in of.named(State.HOLDS)], dtype=np.int64)
            turned, there = rows.Z[:, held] * groups.signs[held], ~np.isnan(rows.Z[:, held])
            scores[:, j] = np.nansum(turned, axis=1) / np.where(there.any(1), there.sum(1), np.nan)
    found = []
    for j, of in enumerate(checks):
        moved = dict[str, int | str]()
        lost = (
            [] if of.now is None else zip(of.features, of.now.states, of.now.item_rest, strict=True)
        )
        for name, state, rest in lost:
            if state is not State.LOST:
                continue
            z = rows.Z[:, [place[name]]]
            r = np.abs(cross_correlations(z, scores)[0])
            r[j] = 0
            least = max(LEAST_CORRELATION, CLEARLY_NEARER * abs(rest))
            best = int(r.argmax())
            if r[best] >= max(least, CHANCE_ERRORS / np.sqrt((~np.isnan(z)).sum())):
                moved[name] = groups.label(best)
        found.append(replace(of, moved=moved))
    return found
