"""Settings of a fit: parameters left at None filled in, by our defaults or the paper's choices."""

from dataclasses import dataclass, fields, replace
from typing import Any

from groupfs.graphs.sample_graph import SampleGraph
from groupfs.utils.types import IntArray

#: Rows of a step. On weakly structured tables a hundred leave mostly noise in the order of the
#: groups. Tables up to a quarter larger are taken whole.
LARGE_BATCH = 512
#: Rows of a batch where groups stay as they are and gates alone are trained, and batches at most:
#: the same ones are used in turn.
POOLED_BATCH, MOST_BATCHES = 256, 8
#: Numbers that the rows of all batches of a pool may hold (256 MB).
POOL_ENTRIES = 2**26
#: Steps a default training run may take at most, and epochs it takes at least.
MAX_STEPS, MIN_EPOCHS = 400, 20
#: Steps of a default epoch at most: beyond 20,480 rows an epoch is a random part of them.
LONGEST_EPOCH = 40

PRESETS: dict[str, dict[str, Any]] = {
    "default": {
        "bandwidth_gradient": "exact",
        "start_temperature": 1.0,
        "gate_start": "excess",
        "ranking": "excess",
        "allocation": "explain",
        "batch_size": "auto",
        "max_epochs": "auto",
        "learning_rate": 0.02,
        "early_stopping": True,
        "feature_neighbors": "auto",
        "n_groups": "replication",
        "signed": False,
        "keep_unrelated": False,
        "learn_memberships": False,
        "n_groups_to_select": "significant",
    },
    "paper": {
        "bandwidth_gradient": "detached",
        "start_temperature": 10.0,
        "gate_start": "uniform",
        "ranking": "gate",
        "allocation": "whole",
        "batch_size": 100,
        "max_epochs": 500,
        "learning_rate": 1e-3,
        "early_stopping": False,
        "feature_neighbors": "all",
        "n_groups": "distortion",
        "signed": True,
        "keep_unrelated": True,
        "learn_memberships": True,
        "n_groups_to_select": "open",
    },
}
#: Relative sparsity where none is given.
USUAL_SPARSITY = 0.7
#: Above this number of features the feature graph keeps nearest neighbours only, this many of each:
#: every step of training multiplies with the graph if memberships are learned, none if not.
LEARNED_FEATURES, FIXED_FEATURES, KEPT_NEIGHBORS = 512, 4096, 50


@dataclass(frozen=True)
class Settings:
    """Everything a fit depends on besides the table, the seeds and the device."""

    n_groups: int | str  #: a number, "replication" or "distortion"
    signed: bool
    metric: str | SampleGraph  #: of the samples; their graph where it is known
    keep_unrelated: bool
    learn_memberships: bool
    n_groups_to_select: int | str  #: a number, "significant" or "open"
    smoothness_weight: float | str
    bandwidth_gradient: str
    gate_start: str
    start_temperature: float
    end_temperature: float
    batch_size: int
    pools_rows: bool  #: whether a pool of rows is all that gates see, and learned groups
    max_epochs: int
    steps_per_epoch: int | None  #: at most; None goes through all rows
    early_stopping: bool
    learning_rate: float
    n_neighbors: int
    feature_neighbors: int | None  #: affinities kept per feature; None keeps all
    diffusion_steps: int
    gate_noise: float
    standardize: bool
    ranking: str
    alpha: float
    verbose: bool

    @classmethod
    def resolve(
        cls,
        parameters: dict[str, Any],
        n_samples: int,
        n_features: int,
        most_rows: int | None = None,
        most_dense: int | None = None,
    ) -> "Settings":
        """Fill in what is None from the preset and what is "auto" from the size of the table.

        ``most_rows`` are those that a batch may hold, ``most_dense`` the features whose graph may
        keep all neighbours.
        """
        preset = PRESETS[parameters["preset"]]
        values = {
            name: preset[name] if name in preset and value is None else value
            for name, value in parameters.items()
        }
        if values["n_groups"] == "auto":
            values["n_groups"] = preset["n_groups"]
        values["n_groups_to_select"] = groups_to_select(parameters)
        auto, learned = values["batch_size"] == "auto", values["learn_memberships"]
        pools_rows = values["metric"] != "euclidean" or (auto and not learned)
        values["pools_rows"] = pools_rows
        if auto:
            size = LARGE_BATCH if learned else POOLED_BATCH
            values["batch_size"] = min(large_batch(n_samples, size), most_rows or n_samples)
        values["steps_per_epoch"] = None
        if values["max_epochs"] == "auto":
            longest = LONGEST_EPOCH
            if pools_rows:
                fitting = POOL_ENTRIES // (n_features * values["batch_size"])
                longest = min(MOST_BATCHES, max(1, fitting))
            n_steps = min(-(-n_samples // values["batch_size"]), longest)
            values["steps_per_epoch"] = n_steps
            values["max_epochs"] = max(MIN_EPOCHS, MAX_STEPS // n_steps)
        if values["feature_neighbors"] == "auto":
            most = LEARNED_FEATURES if values["learn_memberships"] else FIXED_FEATURES
            most = most if most_dense is None else min(most, most_dense)
            values["feature_neighbors"] = KEPT_NEIGHBORS if n_features > most else "all"
        if values["feature_neighbors"] == "all":
            values["feature_neighbors"] = None
        values["verbose"] = bool(values["verbose"])
        return cls(**{field.name: values[field.name] for field in fields(cls)})

    @property
    def compares_with_chance(self) -> bool:
        """Whether groups are compared with those of shuffled tables and of halves of the rows."""
        return (
            self.ranking == "excess"
            or self.n_groups == "replication"
            or self.n_groups_to_select == "significant"
        )

    @property
    def gates_decide(self) -> bool:
        """Whether gates say which groups are kept or how they are ranked."""
        return self.n_groups_to_select == "open" or self.ranking != "excess"

    def for_rows(self, index: IntArray) -> "Settings":
        """Adapt to some of the rows, a resample: smaller batches, fewer neighbours, no bar."""
        metric = self.metric
        batch_size = min(self.batch_size, len(index))
        return replace(
            self,
            metric=metric.restricted(index) if isinstance(metric, SampleGraph) else metric,
            batch_size=batch_size,
            n_neighbors=min(self.n_neighbors, batch_size - 1),
            verbose=False,
        )


def groups_to_select(parameters: dict[str, Any]) -> int | str:
    """Return the rule by which groups are kept: gates decide where a sparsity was set."""
    wanted: int | str | None = parameters["n_groups_to_select"]
    if wanted is not None:
        return wanted
    if parameters.get("sparsity") is not None or parameters.get("sparsity_weight") is not None:
        return "open"
    rule: str = PRESETS[parameters["preset"]]["n_groups_to_select"]
    return rule


def is_signed(parameters: dict[str, Any]) -> bool:
    """Return whether a feature and its negative are different to a fit with these parameters."""
    signed = parameters["signed"]
    return bool(PRESETS[parameters["preset"]]["signed"] if signed is None else signed)


def large_batch(n_samples: int, size: int = LARGE_BATCH) -> int:
    """Find the rows of a step: all where they are few, else a like share of them."""
    n_steps = 1 if n_samples <= 1.25 * size else -(-n_samples // size)
    return -(-n_samples // n_steps)
