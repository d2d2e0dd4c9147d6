"""Say at which levels groups are, and of every feature what it is and where it stands.

Axes: d features, C groups, K levels.
"""

from typing import Any

import numpy as np

from groupfs import sentences
from groupfs.groups import CLEAR_LEVEL, FEWEST_HALVED, NEAR_LINE, Groups, Level
from groupfs.utils.text import join_words, write_share
from groupfs.utils.types import BoolArray, FloatArray, IntArray


def levels_sentence(levels: list[Level], shown: int) -> str | None:
    """Name the levels, which is shown, and whether that was a near thing; None if it is one."""
    if len(levels) < 2:
        return None
    told = sentences.LEVELS.format(
        n=len(levels),
        numbers=join_words(f"{one.n_groups:,}" for one in levels),
        agreed=join_words(f"{one.agreement or 0:.2f}" for one in levels),
        shown=f"{levels[shown].n_groups:,}",
    )
    near = [one.n_groups for one in levels if abs((one.agreement or 0) - CLEAR_LEVEL) < NEAR_LINE]
    if near:
        told += sentences.NEAR.format(numbers=join_words(near), line=f"{CLEAR_LEVEL:.2f}")
    return told


def verdicts(
    groups: Groups, constant: BoolArray, duplicate_of: IntArray | None, n_values: FloatArray | None
) -> list[str]:
    """Call every feature by a word: member, between two, duplicate of, alone, ..., (d,)."""
    outside = groups.labels < 0
    found = np.where(outside, "alone", "member").astype(object)
    if groups.between is not None:
        found[groups.between] = "between two"
    if n_values is not None:
        found[outside & (n_values < FEWEST_HALVED)] = "too few rows"
    if duplicate_of is not None:
        found[duplicate_of >= 0] = "duplicate of"
    found[constant] = "constant"
    return found.tolist()


def sentence(result: Any, i: int) -> str:
    """Say where a feature of a :class:`~groupfs.result.Result` stands."""
    groups, verdict = result.groups, result.verdicts[i]
    j, facts = int(groups.labels[i]), dict[str, Any](stability="", p="")
    if j >= 0:
        facts["group"] = groups.title(j)
        if groups.stability is not None:
            share = write_share(float(groups.stability[i]))
            facts["stability"] = sentences.STABILITY.format(share=share)
    if verdict == "between two" and groups.second is not None:
        facts["second"] = groups.title(int(groups.second[i]))
        facts["strength"] = 0.0 if groups.second_strength is None else groups.second_strength[i]
        verdict = verdict if j >= 0 else "between two, in none"
    elif verdict == "duplicate of" and result.duplicate_of is not None:
        facts["twin"] = result.names[result.duplicate_of[i]]
    elif verdict == "too few rows" and result.n_values is not None:
        facts["n"] = int(result.n_values[i])
    elif verdict == "alone" and np.isfinite(p_value := result.relatedness_p_adjusted[i]):
        facts["p"] = f" (adjusted p {sentences.p_words(p_value)})"
    return sentences.VERDICTS[verdict].format(**facts) + "."
