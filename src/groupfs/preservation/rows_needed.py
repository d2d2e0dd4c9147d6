"""Say how many rows it takes until groups are found again: replication by rows, told as tables."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from groupfs.discovery.describe_groups import Options
from groupfs.discovery.discover import divide_table, measure_related
from groupfs.discovery.growth import Curves, measure_growth
from groupfs.groups import CLEAR_LEVEL, FEWEST_HALVED, Groups, feature_names
from groupfs.utils.text import count, join_names
from groupfs.utils.types import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas

    from groupfs.data.table import Table

#: Replication that is asked for.
TARGETS = (0.75, 0.9)
#: Times the rows beyond which nothing can be foreseen.
FORESEEN = 16


@dataclass(frozen=True)
class RowsNeeded:
    """How replication of groups and agreement on levels grow with the rows.

    Made by ``FeatureGroups.rows_needed``.
    """

    n_rows: int  #: rows of the table
    levels: Curves  #: agreement on each level
    n_groups: list[int]  #: of each level, broadest first
    groups: list[Curves]  #: replication of the groups of each level
    called: list[list[Any]]  #: number or name of each of them
    representatives: list[list[str]]
    sizes: list[list[int]]

    def to_frame(self) -> "pandas.DataFrame":
        """Return one row for each group of every level.

        ``replication_1/4`` and so on are that of halves of a quarter, half, and all of the rows,
        ``replication_x2`` what twice as many would show, with an interval of 95 %; ``rows_75`` and
        ``rows_90`` the rows at which it reaches .75 and .9, infinite where more than 16 times as
        many would be needed.
        """
        import pandas as pd

        rows = []
        for n, curves, *named in zip(
            self.n_groups, self.groups, self.called, self.representatives, self.sizes, strict=True
        ):
            figures = _figures(curves, "replication", TARGETS)
            for j, told in enumerate(zip(*named, strict=True)):
                row = dict(zip(("group", "representative", "size"), told, strict=True))
                rows.append({"level": n, **row, **{key: of[j] for key, of in figures.items()}})
        called = pd.Series([row["group"] for row in rows], dtype=object)  # numbers stay whole
        return pd.DataFrame(rows).assign(group=called)

    def levels_frame(self) -> "pandas.DataFrame":
        """Return one row for each level: agreement of halves by rows, and rows until it is clear.

        ``rows_70`` are those at which halves would agree by .7, the line that decides which level
        is shown.
        """
        import pandas as pd

        return pd.DataFrame(
            {"level": self.n_groups, **_figures(self.levels, "agreement", (CLEAR_LEVEL,))}
        )

    @property
    def sentences(self) -> list[str]:
        """Say of every level that is not clear how many rows it would need."""
        told, needed = [], _foreseen(self.levels, CLEAR_LEVEL)
        for k, n in enumerate(self.n_groups):
            agreed = self.levels.shown[-1, k]
            if agreed >= CLEAR_LEVEL:
                continue
            words = f"{count(n, 'group')}: halves of {self.n_rows:,} rows agree by {agreed:.2f}; "
            if np.isfinite(needed[0, k]):
                about, low, high = needed[:, k]
                words += (
                    f"for {CLEAR_LEVEL:.2f} this split would need about {about:,.0f} rows "
                    f"({low:,.0f} to {high:,.0f}); you have {self.n_rows:,}."
                )
            else:
                words += f"{CLEAR_LEVEL:.2f} is not in sight with {FORESEEN} times as many."
            told.append(words)
        return told

    def __str__(self) -> str:
        frames = self.levels_frame(), self.to_frame()
        return "\n\n".join(
            ["\n".join(self.sentences), *(of.round(2).to_string(index=False) for of in frames)]
        ).strip()


def round_rows(n: float) -> float:
    """Round a number of rows to two digits: it is not known better.

    >>> round_rows(1234.5)
    1200.0
    """
    return float(f"{n:.2g}")


def _foreseen(curves: Curves, target: float) -> FloatArray:
    """Tell the rows at which a target is reached, infinite where too far away, (3, m)."""
    found = curves.needed(target)
    rounded = np.vectorize(round_rows)(found)
    return np.where(found > FORESEEN * curves.n_rows[-1], np.inf, rounded)


def _figures(curves: Curves, name: str, targets: tuple[float, ...]) -> dict[str, FloatArray]:
    """Gather the figures of curves, by column."""
    found: dict[str, FloatArray] = {}
    for n, of in zip(curves.n_rows, curves.shown, strict=True):
        share = round(curves.n_rows[-1] / n)
        found[f"{name}_1/{share}" if share > 1 else name] = of
    twice = curves.at(2)
    found |= dict(zip((f"{name}_x2", f"{name}_x2_low", f"{name}_x2_high"), twice, strict=True))
    for target in targets:
        key = f"rows_{100 * target:.0f}"
        of = _foreseen(curves, target)
        found |= dict(zip((key, f"{key}_low", f"{key}_high"), of, strict=True))
    return found


def columns_of_fit(selector: Any, X: Any) -> Any:
    """Return a table with the columns of a fit in their order; refuse one that lacks some."""
    names = feature_names(selector)
    if hasattr(X, "columns") and hasattr(selector, "feature_names_in_"):
        if absent := [name for name in names if name not in set(X.columns)]:
            raise ValueError(
                f"X lacks {count(len(absent), 'column')} of the fit: {join_names(absent)}; give a "
                "table that has them all."
            )
        return X[names]
    X = X if hasattr(X, "shape") else np.asarray(X)
    if X.shape[1] != len(names):
        raise ValueError(
            f"X has {X.shape[1]} columns, and the selector was fitted on {len(names)}; give these."
        )
    return X


def rows_needed(selector: Any, table: "Table", options: Options) -> RowsNeeded:
    """Measure how replication grows with the rows of an opened table."""
    N = table.rows.shape[0]
    if N < FEWEST_HALVED:
        raise ValueError(
            f"X has {count(N, 'row')}, and halves are compared from {FEWEST_HALVED} on; give more."
        )
    divided = divide_table(table, measure_related(table, options), options)
    if divided is None:
        raise ValueError(
            "X shows no groups, so nothing grows with its rows; give a table in which features go "
            "together."
        )
    growth = measure_growth(divided, options.signed)
    columns, names = divided.table.columns, feature_names(selector)
    fitted = {len(of): of for of in (Groups(**one) for one in selector._level_groups)}
    called, representatives, sizes = [], [], []
    for labels in growth.labels:
        members = [columns[labels == j] for j in range(int(labels.max()) + 1)]
        told = [_as_fitted(own, fitted.get(len(members)), names) for own in members]
        called.append([number for number, _ in told])
        representatives.append([name for _, name in told])
        sizes.append([len(own) for own in members])
    n_groups = [len(of) for of in sizes]
    return RowsNeeded(
        N, growth.agreement, n_groups, growth.replication, called, representatives, sizes
    )


def _as_fitted(own: IntArray, of_fit: Groups | None, names: list[str]) -> tuple[Any, str]:
    """Return the number and the representative of a group if it is one of the fit."""
    j = -1 if of_fit is None else int(of_fit.labels[own[0]])
    if of_fit is None or j < 0 or not np.array_equal(np.sort(own), of_fit.members[j]):
        return None, names[own[0]]
    return of_fit.label(j), names[of_fit.representatives[j]]
