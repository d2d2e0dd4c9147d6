"""Features in no group, by why they are in none."""

from dataclasses import dataclass

import numpy as np

from groupfs.graphs.relatedness import related_features
from groupfs.utils.fitted_selector import FittedSelector
from groupfs.utils.types import IntArray


@dataclass(frozen=True)
class Ungrouped:
    """Features in no group of a fitted selector, as indices."""

    constant: IntArray  #: the same in every row
    unrelated: IntArray  #: go with no other feature beyond chance
    loose: IntArray  #: go with others, but are near to no group

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each kind."""
        kinds = {"constant": self.constant, "unrelated": self.unrelated, "loose": self.loose}
        return {kind: len(features) for kind, features in kinds.items()}

    @property
    def sentence(self) -> str | None:
        """How many features are in no group, and why; None if there are none."""
        n_unrelated, n_loose, n_constant = map(len, (self.unrelated, self.loose, self.constant))
        parts = []
        if n_unrelated:
            go = "goes" if n_unrelated == 1 else "go"
            parts.append((n_unrelated, f"{go} with no other beyond chance (unrelated)"))
        if n_loose:
            parts.append((n_loose, f"{_is(n_loose)} near to no group (loose)"))
        if n_constant:
            parts.append((n_constant, f"{_is(n_constant)} constant"))
        if not parts:
            return None
        first, *others = parts
        thing = "feature" if first[0] == 1 else "features"
        words = [f"{first[0]:,} {thing} {first[1]}", *[f"{n:,} {what}" for n, what in others]]
        return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words) + "."


def ungrouped_features(selector: FittedSelector) -> Ungrouped:
    """Find the features in no group, and why they are in none."""
    outside = selector.group_labels_ < 0
    p_values = selector.relatedness_pvalues_
    if p_values is None:  # all features that vary were taken into groups
        none = np.zeros(0, dtype=np.int64)
        return Ungrouped(np.flatnonzero(outside), none, none)
    varies = np.isfinite(p_values)
    related = np.zeros(len(p_values), dtype=bool)
    related[varies] = related_features(p_values[varies])
    return Ungrouped(
        constant=np.flatnonzero(outside & ~varies),
        unrelated=np.flatnonzero(outside & varies & ~related),
        loose=np.flatnonzero(outside & related),
    )


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
