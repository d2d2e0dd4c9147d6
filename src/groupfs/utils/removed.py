"""Names that ended, and what to use instead."""

import sys
from typing import Any

ENDED = "a fit takes seconds, so leave it out"
HALVES = "FeatureGroups compares halves of the rows in every fit"
#: What to use an estimator for, where a parameter is one of its own.
USES = {
    "FeatureGroups": "which finds groups by comparing them with chance",
    "GroupFS": "which learns gates",
    "GroupFSPath": "which trains many sparsities",
}
#: Parameters of before that no estimator has.
PARAMETERS = {
    **dict.fromkeys(("memory", "n_jobs", "checkpoint"), ENDED),
    **dict.fromkeys(("n_resamples", "resample"), HALVES),
    **dict.fromkeys(("ranking", "gate_start"), "it is part of the preset of GroupFS"),
    "allocation": "a budget takes the first features of feature_order_",
    "learn_memberships": "GroupFS always learns them; FeatureGroups finds groups without training",
}
#: Attributes of before.
ATTRIBUTES = {
    "group_selected_": "it is called group_kept_ now",
    "group_reliability_": "it is called group_replication_ now",
    "group_scores_": "it is called group_smoothness_ now",
    "feature_scores_": "feature_order_ is the order of the features",
    "replication_": "levels_ holds the levels of groups and how far halves of the rows agree",
    "stability_": "group_replication_ of FeatureGroups says how well groups are found again",
}


def refuse_removed(called: str, args: tuple[Any, ...], parameters: dict[str, Any]) -> None:
    """Refuse parameters given by place, and those that ended or are another's, in a sentence."""
    if args:
        raise TypeError(
            f"{called}({args[0]!r}) does not say what {args[0]!r} is; parameters are given by "
            f"name: n_groups={args[0]!r} looks for as many groups, "
            f"n_features_to_select={args[0]!r} selects as many features."
        )
    if called not in USES:  # somebody's own class
        return
    for name in parameters:
        if not _has(called, name):
            moved = (f"use {other}, {use}" for other, use in USES.items() if _has(other, name))
            hint = next(moved, PARAMETERS.get(name))
            if hint is not None:
                raise TypeError(f"{called} has no parameter {name}: {hint}.")


def _has(estimator: str, parameter: str) -> bool:
    return parameter in getattr(sys.modules["groupfs"], estimator).__dataclass_fields__
