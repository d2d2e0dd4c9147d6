"""Names that ended, and what to use instead."""

from typing import Any

LEARNED = "GroupFS always learns memberships; FeatureGroups finds groups without training"
FOUND = "use FeatureGroups, which finds groups by comparing them with chance"
TRAINED = "use GroupFS, which learns gates; FeatureGroups trains nothing"
HALVES = "FeatureGroups compares halves of the rows in every fit"
ENDED = "a fit takes seconds, so leave it out"

PATH = "use GroupFSPath, which trains many sparsities"

OF_GATES = (
    *("sparsity", "sparsity_weight", "smoothness_weight", "preset", "gate_noise", "n_init"),
    *("bandwidth_gradient", "start_temperature", "end_temperature", "batch_size", "max_epochs"),
    *("early_stopping", "learning_rate", "verbose", "gate_start", "ranking", "learn_memberships"),
)
OF_DISCOVERY = (
    *("groups", "explain", "allocation", "alpha", "signed", "similarity", "metric"),
    *("keep_unrelated", "max_memory"),
)

#: Parameters of before, by estimator.
PARAMETERS: dict[str, dict[str, str]] = {
    "FeatureGroups": {
        **dict.fromkeys(OF_GATES, TRAINED),
        **dict.fromkeys(("memory", "n_jobs", "checkpoint"), ENDED),
        **dict.fromkeys(("n_resamples", "resample"), HALVES),
        "sparsities": PATH,
        "n_neighbors": "graphs use 7 neighbours, as the paper does; leave it out",
        "feature_neighbors": "it follows from the number of features; leave it out",
        "diffusion_steps": "walks take 2 steps, as the paper's do; leave it out",
    },
    "GroupFS": {
        "learn_memberships": LEARNED,
        **dict.fromkeys(OF_DISCOVERY, FOUND),
        **dict.fromkeys(("ranking", "gate_start"), "it is part of the preset"),
        **dict.fromkeys(("memory", "n_jobs", "checkpoint"), ENDED),
        **dict.fromkeys(("n_resamples", "resample"), HALVES),
        "sparsities": PATH,
    },
}
PARAMETERS["GroupFSPath"] = PARAMETERS["GroupFS"] | {
    "sparsity": "give sparsities, of which the one with the largest gain is taken",
}
del PARAMETERS["GroupFSPath"]["sparsities"]

#: Attributes of before.
ATTRIBUTES = {
    "group_selected_": "it is called group_kept_ now",
    "group_reliability_": "it is called group_replication_ now",
    "feature_scores_": "feature_order_ is the order of the features",
    "stability_": "group_replication_ of FeatureGroups says how well groups are found again",
}


def refuse_removed(estimator: str, args: tuple[Any, ...], parameters: dict[str, Any]) -> None:
    """Refuse parameters given by place, and those that ended, in a sentence."""
    if args:
        raise TypeError(
            f"{estimator}({args[0]!r}) does not say what {args[0]!r} is; parameters are given by "
            f"name: n_groups={args[0]!r} looks for as many groups, "
            f"n_features_to_select={args[0]!r} selects as many features."
        )
    for name in parameters:
        if name in PARAMETERS.get(estimator, {}):
            raise TypeError(f"{estimator} has no parameter {name}: {PARAMETERS[estimator][name]}.")
