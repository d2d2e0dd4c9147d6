"""Questionnaires of one and two levels: are facets and traits among the levels that are found?

``two-level`` has facets in traits, ``one-level`` and ``weak`` (lower loadings, fewer rows) have
factors alone, called facets too. A level has the Rand index of its groups with facets or traits;
items in no group are alone.
"""

import argparse
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from joblib import delayed

from benchmarks.group_competitors import rand_index, timed_fit
from benchmarks.questionnaires import KINDS, Questionnaire, questionnaire
from benchmarks.records import Record, attempt, averaged, means

#: What is averaged, and what it is called; None where there are no traits.
SHOWN = {"levels": "levels", "facets, best level": "facets_ari", "traits, best level": "traits_ari"}
SHOWN |= {"facets, default": "default_ari", "number of facets, default": "right"}
SHOWN |= {"one level": "one_level", "one level, number of facets": "one_right"}
SHOWN |= {"seconds": "seconds"}


def measure(kind: str, number: int) -> list[Record]:
    """Fit a questionnaire, and compare its levels with facets and traits."""
    answered = questionnaire(kind, number)
    return [attempt(dict(answered.facts), lambda: compared(answered, number))]


def compared(answered: Questionnaire, seed: int) -> Record:
    """Fit, and compare every level, and the default one, with how the answers were drawn."""
    selector, seconds = timed_fit(answered.X, seed)
    labels, levels = selector.group_labels_, [level.labels for level in selector.levels_]
    levels = levels or [labels]
    traits = answered.traits
    right = int(selector.n_groups_) == answered.facts["groups"]
    return {
        "levels": len(levels),
        "groups_of_levels": [len(np.unique(level[level >= 0])) for level in levels],
        "agreement": [level.agreement for level in selector.levels_],
        "facets_ari": max(rand_index(answered.facets, level) for level in levels),
        "traits_ari": None if traits is None else max(rand_index(traits, one) for one in levels),
        "default_ari": rand_index(answered.facets, labels),
        **{"right": right, "one_right": right and len(levels) == 1},
        **{"one_level": len(levels) == 1, "seconds": seconds},
    }


def calls(n: int, options: argparse.Namespace) -> Iterable[Any]:
    """Plan the fits of n questionnaires of each kind that is asked for."""
    wanted = [kind for kind in KINDS if kind in (options.kinds or KINDS)]
    return (delayed(measure)(kind, number) for kind in wanted for number in range(n))


def tables(records: list[Record]) -> dict[str, list[Record]]:
    """Average what is found of facets and traits, by kind."""
    return {"Levels of questionnaires": averaged(records, partial(means, shown=SHOWN), "kind")}
