"""The result of a fit: whatever a report, a notebook, a command line or a figure asks of it.

Axes: d features in the user's order, C groups, the largest first (those of the joint method in the
order of their gates). Numpy alone; pandas for the frames.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from groupfs import sentences
from groupfs.groups import (
    FEWEST_HALVED,
    Groups,
    Level,
    Selection,
    adjust_p_values,
    feature_names,
    related_features,
)
from groupfs.scales import Scales
from groupfs.utils.packages import import_optional
from groupfs.utils.text import (
    SAME_SHARE,
    STEPS,
    count,
    join_names,
    ordinal,
    whole_steps,
    write_share,
)
from groupfs.utils.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas

#: Groups up to which loadings on each, and correlations with each, are told.
MOST_TOLD = 60
#: The share that is told of where nobody has asked for another.
ENOUGH = 0.9
NEEDS_PANDAS = (
    "needs pandas; install it with pip install pandas, or read the attributes groups_, centrality_ "
    "and group_replication_."
)


@dataclass(frozen=True)
class Result:
    """Groups and features of a fitted selector, and what is selected of them."""

    names: list[str]  #: (d,)
    groups: Groups
    order: IntArray  #: features that vary, those that explain most of the others first
    explained: FloatArray  #: share of the variance that the first 1, 2, ... of them explain
    weights: FloatArray  #: what the variance of every feature counts, (d,)
    relatedness_p_values: FloatArray | None  #: NaN for constant features, (d,)
    selection: Selection
    held_out: FloatArray | None = None  #: what the first 1, 2, ... explain in rows left out
    levels: list[Level] = field(default_factory=list)  #: broadest first
    duplicate_of: IntArray | None = None  #: first column that each equals, -1 for none, (d,)
    n_values: FloatArray | None = None  #: rows that have a value of each feature, (d,)
    wording: list[str | None] | None = None  #: what the features say, such as questions, (d,)
    blocks: list[str] = field(default_factory=list)  #: of rows, as the user calls them, (B,)

    @classmethod
    def of(
        cls,
        selector: Any,
        names: Sequence[object] | None = None,
        wording: Mapping[str, str] | None = None,
    ) -> "Result":
        """Read the result of a fitted selector; ``names`` take the place of those it has seen.

        ``wording`` tells what features say, by name.
        """
        selector.get_support()  # refuses one that is not fitted, or asked for what cannot be
        columns = feature_names(selector) if names is None else [str(name) for name in names]
        if len(columns) != selector.n_features_in_:
            raise ValueError(
                f"feature_names has {len(columns)} names, but the selector was fitted on "
                f"{selector.n_features_in_} features; give one name per column."
            )
        told = [(wording or {}).get(name) for name in columns]
        return cls(
            wording=told if any(told) else None,
            names=columns,
            groups=Groups.of(selector),
            order=selector.feature_order_,
            explained=selector.explained_,
            weights=selector.feature_weights_,
            relatedness_p_values=getattr(selector, "relatedness_pvalues_", None),
            selection=selector.select(),
            held_out=getattr(selector, "explained_held_out_", None),
            levels=getattr(selector, "levels_", []),
            duplicate_of=getattr(selector, "duplicate_of_", None),
            n_values=getattr(selector, "_n_values", None),
            blocks=getattr(selector, "blocks_", None) or [],
        )

    @property
    def support(self) -> BoolArray:
        """Which features are selected, (d,)."""
        return self.selection.support

    @property
    def kept(self) -> BoolArray:
        """Which groups are kept, (C,)."""
        return self.selection.groups

    @cached_property
    def n_selected_of(self) -> IntArray:
        """Number of selected features of every group, (C,)."""
        inside = self.groups.labels[self.support & (self.groups.labels >= 0)]
        return np.bincount(inside, minlength=len(self.groups))

    @cached_property
    def marked_names(self) -> list[str]:
        """Names of the features, a minus before those that are reversed."""
        pairs = zip(self.names, self.groups.signs, strict=True)
        return [f"−{name}" if sign < 0 else name for name, sign in pairs]

    # what is explained

    @cached_property
    def positions(self) -> IntArray:
        """Position of every feature in the order, 1 for the first, 0 for constant ones, (d,)."""
        positions = np.zeros(len(self.names), dtype=np.int64)
        positions[self.order] = np.arange(1, len(self.order) + 1)
        return positions

    @cached_property
    def steps(self) -> list[int]:
        """Shares explained by the first features in whole steps, as they are told."""
        return [whole_steps(share) for share in self.explained.tolist()]

    @property
    def n_enough(self) -> int:
        """Number of features that explain 90 %."""
        return 1 + int(np.searchsorted(self.explained, ENOUGH - SAME_SHARE))

    @property
    def n_first(self) -> int | None:
        """Number of selected features if they are the first of the order; None if others are."""
        n_selected = int(self.support.sum())
        is_first = bool(self.support[self.order[:n_selected]].all())
        return n_selected if n_selected and is_first else None

    @cached_property
    def n_related(self) -> int:
        """Number of features whose variance is explained: related ones, or all that vary.

        The latter where it is not known which are related, and where all took part.
        """
        if self.relatedness_p_values is None:
            return len(self.order)
        related = related_features(self.relatedness_p_values[self.order])
        all_count = bool(self.weights[self.order[~related]].any())
        return len(self.order) if all_count else int(related.sum())

    @property
    def explained_words(self) -> str:
        """Name the features whose variance is explained: ``10 related features``."""
        if self.n_related < len(self.order):
            return count(self.n_related, "related feature")
        varying = " that vary" if len(self.order) < len(self.names) else ""
        return count(self.n_related, "feature") + varying

    @property
    def explained_sentence(self) -> str | None:
        """Say how much the selected features explain, or how many would be enough.

        The latter without a budget, and where one is spent in another order. None where there are
        no groups and nothing is selected.
        """
        if not len(self.groups) and not self.support.any():
            return None
        chosen = self.n_first if self.selection.asked.n_features else None
        n = chosen or self.n_enough
        share = new = write_share(float(self.explained[n - 1]))
        if self.held_out is not None and n <= len(self.held_out):
            new = write_share(max(float(self.held_out[n - 1]), 0.0))
        who = f"{n:,} of {count(len(self.names), 'feature')} {'explains' if n == 1 else 'explain'}"
        who = who if chosen else f"The first {who}"
        beside = "" if new == share else f" ({new} in rows left out)"
        return f"{who} {share} of the variance of the {self.explained_words}{beside}."

    # levels

    @cached_property
    def level(self) -> int | None:
        """Place of the level that is shown, from 0; None without levels."""
        same = (np.array_equal(one.labels, self.groups.labels) for one in self.levels)
        return next((i for i, is_shown in enumerate(same) if is_shown), None)

    @property
    def levels_sentence(self) -> str | None:
        """Name the levels, which is shown, and whether that was a near thing; None if it is one."""
        return None if self.level is None else sentences.levels_sentence(self.levels, self.level)

    # places

    @cached_property
    def verdicts(self) -> list[str]:
        """What every feature is, in a word: "member", "between two", "alone", ..., (d,)."""
        outside = self.groups.labels < 0
        found = np.where(outside, "alone", "member").astype(object)
        if self.groups.between is not None:
            found[self.groups.between] = "between two"
        if self.n_values is not None:
            found[outside & (self.n_values < FEWEST_HALVED)] = "too few rows"
        if self.duplicate_of is not None:
            found[self.duplicate_of >= 0] = "duplicate of"
        found[self.positions == 0] = "constant"
        return found.tolist()

    @cached_property
    def places(self) -> list[str]:
        """Where every feature stands, as a sentence, (d,)."""
        return [sentences.place(self, i) for i in range(len(self.names))]

    @property
    def stability(self) -> FloatArray:
        """Share of the halves of the rows that put a feature into its group, or NaN, (d,)."""
        of = self.groups.stability
        return np.full(len(self.names), np.nan) if of is None else of

    @property
    def second(self) -> tuple[IntArray, FloatArray]:
        """Return the group a feature loads on most beside its own, or -1, and abs(r), (d,) each."""
        group, strength = self.groups.second, self.groups.second_strength
        if group is None or strength is None:
            return np.full(len(self.names), -1), np.full(len(self.names), np.nan)
        return group, np.where(group < 0, np.nan, strength)

    # groups as scales

    @cached_property
    def scales(self) -> Scales:
        """Alpha, omega, loadings and correlations of the groups."""
        return Scales(self.groups)

    @property
    def tells_all_pairs(self) -> bool:
        """Whether loadings on every group and correlations with every group are told."""
        return len(self.groups) <= MOST_TOLD and len(self.scales.loadings) > 0

    # features in no group

    @cached_property
    def relatedness_p_adjusted(self) -> FloatArray:
        """Adjusted p-values of relatedness, NaN where that was not looked at, (d,)."""
        if self.relatedness_p_values is None:
            return np.full(len(self.names), np.nan)
        return adjust_p_values(self.relatedness_p_values)

    @cached_property
    def in_no_group(self) -> dict[str, IntArray]:
        """Features in no group by why: "unrelated", "between" groups, or "constant"."""
        outside, p_values = self.groups.labels < 0, self.relatedness_p_values
        varies = related = ~outside  # without p-values all that vary were taken into groups
        if p_values is not None:
            varies, related = np.isfinite(p_values), related_features(p_values)
        return {
            "unrelated": np.flatnonzero(outside & varies & ~related),
            "between": np.flatnonzero(outside & related),
            "constant": np.flatnonzero(outside & ~varies),
        }

    @property
    def in_no_group_sentence(self) -> str | None:
        """Say how many features are in no group, why, and which; None if there are none."""
        words = [
            f"{sentences.in_no_group_words(kind, len(of))} "
            f"({join_names([self.names[i] for i in of], 4)})"
            for kind, of in self.in_no_group.items()
            if len(of)
        ]
        return f"Features in no group: {'; '.join(words)}." if words else None

    # why

    @property
    def kept_sentence(self) -> str:
        """Say how much is kept, without the full stop."""
        n_groups = len(self.groups)
        kept = f"{self.kept.sum()} of {count(n_groups, 'group')} kept" if n_groups else "No groups"
        return f"{kept}, {self.support.sum():,} of {count(len(self.names), 'feature')} selected"

    @property
    def limit(self) -> str:
        """Say why a budget that follows the order takes no more."""
        asked = self.selection.asked
        words = sentences.LIMITS["budget" if asked.explain is None else "explain"]
        return words.format(budget=f"{asked.n_features or 0:,}", share=write_share(asked.explain))

    @cached_property
    def group_reasons(self) -> list[str]:
        """Why every group is kept or not, without the full stop, (C,)."""
        pairs = zip(self.selection.group_why.tolist(), self._facts, strict=False)
        return [sentences.REASONS[code].format(**facts) for code, facts in pairs]

    @cached_property
    def _facts(self) -> list[dict[str, object]]:
        """What reasons speak of: what was asked for, and every group; the last is for none."""
        groups, asked, again = self.groups, self.selection.asked, self.groups.replication
        budget = f"{asked.n_features or 0:,}"
        every: dict[str, object] = {"asked": asked.n_groups, "limit": self.limit, "budget": budget}
        of_groups = [
            {
                "p": sentences.p_words(self.figures["p_adjusted"][j]),
                "replication": "" if again is None else f", replication {again[j]:.2f}",
                "rank": j + 1,
                "n": f"{self.n_selected_of[j]:,}",
                "size": count(int(groups.sizes[j]), "feature"),
                "representative": self.names[groups.representatives[j]],
                "in_blocks": self.in_blocks_words(j),
            }
            for j in range(len(groups))
        ]
        return [every | facts for facts in of_groups] + [every]

    def in_blocks_words(self, group: int) -> str:
        """Say in how many blocks of rows a group holds: ``1 of 4 blocks (first)``."""
        groups = self.groups
        if groups.in_blocks is None:
            return ""
        n_holds, n_blocks = groups.n_blocks
        named = join_names(np.array(self.blocks)[groups.in_blocks[group]])
        return f"{n_holds[group]} of {n_blocks} blocks" + (f" ({named})" if named else "")

    @cached_property
    def reasons(self) -> list[str]:
        """Why every feature is selected or not, as a sentence, (d,)."""
        kinds = dict.fromkeys(range(len(self.names)), "group")
        kinds |= {i: kind for kind, of in self.in_no_group.items() for i in of.tolist()}
        why, texts = [*self.group_reasons, ""], []
        for i, j in enumerate(self.groups.labels.tolist()):
            p, k = sentences.p_words(self.relatedness_p_adjusted[i]), int(self.positions[i])
            place = sentences.PLACES[kinds[i]].format(group=self.groups.title(j), p=p)
            words = sentences.REASONS[self.selection.why[i]]
            reason = words.format(**self._facts[j], why=why[j], nth=ordinal(k), gain=self._gain(k))
            between = "; " if reason and kinds[i] != "group" else ""
            texts.append(f"{place}{between}{reason}.")
        return texts

    def _gain(self, k: int) -> str:
        if k == 0:
            return ""
        before = self.steps[k - 2] if k > 1 else 0
        if before == STEPS:
            return sentences.GAINS["nothing"]
        share = write_share((self.steps[k - 1] - before) / STEPS)
        return sentences.GAINS["first" if k == 1 else "more"].format(share=share)

    # tables

    @property
    def figures(self) -> dict[str, FloatArray]:
        """Numbers of every group, NaN where they were not looked at, (C,) each."""
        found = {name: getattr(self.groups, name) for name in ("replication", "p_adjusted")}
        unknown = np.full(len(self.groups), np.nan)
        return {name: unknown if of is None else of for name, of in found.items()}

    @property
    def scale_figures(self) -> dict[str, FloatArray]:
        """Reliabilities of every group with their intervals, and its scores, (C,) each."""
        of, (low, high) = self.scales, self.scales.alpha_interval.T
        (omega_low, omega_high), short = of.omega_interval.T, self.selection.short
        return {
            **{"alpha": of.alpha, "alpha_low": low, "alpha_high": high},
            **{"omega": of.omega, "omega_low": omega_low, "omega_high": omega_high},
            # of short forms, where they are asked for, how well they keep the scores
            **({} if short is None else {"short_r": short[:, 0], "short_alpha": short[:, 1]}),
            **{"score_mean": of.items["score_mean"], "score_sd": of.items["score_sd"]},
        }

    @property
    def level_columns(self) -> dict[str, list[int | None]]:
        """Group of every feature at each of several levels, from 1: ``level_1`` is the broadest."""
        several = self.levels if len(self.levels) > 1 else []
        return {
            f"level_{i}": [j + 1 if j >= 0 else None for j in one.labels.tolist()]
            for i, one in enumerate(several, start=1)
        }

    def to_frame(self) -> "pandas.DataFrame":
        """Return one row for every feature, group by group, most central feature first."""
        pd = import_optional("pandas", f"to_frame {NEEDS_PANDAS}")
        groups, labels, inside = self.groups, self.groups.labels, self.groups.labels >= 0
        names = np.array([*map(groups.label, range(len(groups))), None], dtype=object)
        called, (second, strength) = names[labels].tolist(), self.second
        loadings = self.scales.loadings.T if self.tells_all_pairs else ()
        columns = {
            "feature": self.names,
            **({"wording": self.wording} if self.wording else {}),
            "group": called if groups.names else pd.array(called, dtype="Int64"),
            "rank": pd.array([rank or None for rank in groups.ranks.tolist()], dtype="Int64"),
            "representative": np.isin(np.arange(len(labels)), groups.representatives),
            "centrality": np.where(inside, groups.signs * np.abs(groups.centrality), np.nan),
            "item_rest": self.scales.item_rest,
            **{name: np.append(of, np.nan)[labels] for name, of in self.figures.items()},
            "verdict": self.verdicts,
            "stability": self.stability,
            "second_group": pd.array(names[second].tolist()),
            "second_strength": strength,
            "place": self.places,
            "relatedness_p_adjusted": self.relatedness_p_adjusted,
            "order": pd.array([k or None for k in self.positions.tolist()], dtype="Int64"),
            "explained": np.append(self.explained, np.nan)[self.positions - 1],
            "selected": self.support,
            "why": self.reasons,
            **{name: pd.array(of, dtype="Int64") for name, of in self.level_columns.items()},
            **{f"loading_{j}": of for j, of in enumerate(loadings, start=1)},
            "smoothness": np.append(groups.smoothness, np.nan)[labels],
        }
        order = np.lexsort((groups.ranks, np.where(inside, labels, len(groups))))
        return pd.DataFrame(columns).iloc[order].reset_index(drop=True)

    @property
    def _block_columns(self) -> dict[str, Any]:
        """Tell of every group in how many blocks of rows it holds, and in which it does not."""
        if self.groups.in_blocks is None:
            return {}
        looked_at = ~np.isnan(cast(FloatArray, self.groups.within_blocks))
        absent = [np.array(self.blocks)[of] for of in looked_at & ~self.groups.in_blocks]
        return {"n_blocks": self.groups.n_blocks[0], "not_in": [", ".join(of) for of in absent]}

    def groups_frame(self) -> "pandas.DataFrame":
        """Return one row for every group, largest first."""
        pd, groups = import_optional("pandas", f"groups_frame {NEEDS_PANDAS}"), self.groups
        said, pairs = self.wording, {}
        if self.tells_all_pairs:
            pairs = {"r": self.scales.correlations, "r_disattenuated": self.scales.disattenuated}
        columns = {
            "group": [groups.label(j) for j in range(len(groups))],
            "size": groups.sizes,
            "representative": [self.names[i] for i in groups.representatives],
            **({} if said is None else {"wording": [said[i] for i in groups.representatives]}),
            "kept": self.kept,
            "selected": self.n_selected_of,
            **self.scale_figures,
            **self.figures,
            **self._block_columns,
            "why": self.group_reasons,
            **({} if groups.gates is None else {"gate": groups.gates}),
            **{f"{name}_{j + 1}": r for name, of in pairs.items() for j, r in enumerate(of)},
            "smoothness": groups.smoothness,
        }
        return pd.DataFrame(columns)
