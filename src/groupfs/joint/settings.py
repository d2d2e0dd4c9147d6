"""Settings of a joint fit: what is None filled in, by our choices or by those the paper prints."""

from dataclasses import dataclass, fields
from typing import Any

from groupfs.utils.errors import ParameterError
from groupfs.utils.warn import warn

#: Rows of a step. On weakly structured tables a hundred leave mostly noise in the order of the
#: groups. Tables up to a quarter larger are taken whole.
LARGE_BATCH = 512
#: Steps a default training run may take at most, and epochs it takes at least.
MAX_STEPS, MIN_EPOCHS = 400, 20
#: Steps of a default epoch at most: beyond 20,480 rows an epoch is a random part of them.
LONGEST_EPOCH = 40
#: Above this number of features the feature graph keeps nearest neighbours only, this many of each:
#: every step of training multiplies with the graph.
FULL_GRAPH_FEATURES, KEPT_NEIGHBORS = 512, 50

#: What the presets "default" and "paper" set. The sparsity of "paper" opens just the groups of two
#: moons most often (experiments.readings); the printed weights lie at 1.06 of critical on average.
_CHOICES: dict[str, tuple[Any, Any]] = {
    "is_published": (False, True),
    "sparsity": (0.7, 1.07),
    "bandwidth_gradient": ("exact", "detached"),
    "start_temperature": (1.0, 10.0),
    "batch_size": ("auto", 100),
    "max_epochs": ("auto", 500),
    "learning_rate": (0.02, 1e-3),
    "early_stopping": (True, False),
    "feature_neighbors": ("auto", "all"),
}
PRESETS = {
    preset: {name: choice[place] for name, choice in _CHOICES.items()}
    for place, preset in enumerate(("default", "paper"))
}


@dataclass(frozen=True)
class Schedule:
    """Length, rate and temperatures of a training run."""

    max_epochs: int
    batch_size: int
    learning_rate: float
    start_temperature: float = 1.0  #: T of the memberships, where there are any
    end_temperature: float = 1.0
    early_stopping: bool = False
    steps_per_epoch: int | None = None  #: at most; None goes through all rows


@dataclass(frozen=True, kw_only=True)
class Settings(Schedule):
    """Everything a joint fit depends on besides the table, the seeds and the device."""

    n_groups: int | str  #: C, or "auto"
    smoothness_weight: float | str  #: lambda1, or "auto"
    bandwidth_gradient: str
    #: Whether, as published, C has the lowest E(C), gates start half open and rank the groups, the
    #: lowest loss chooses among models, and budgets take whole groups.
    is_published: bool
    sparsity: float  #: lambda2 relative to the critical one, where one is trained at
    n_neighbors: int  #: K
    feature_neighbors: int | None  #: affinities kept per feature; None keeps all
    diffusion_steps: int  #: t
    gate_noise: float  #: sigma
    verbose: bool
    sparsity_weight: float | None = None  #: lambda2 itself, in place of relative sparsities

    @classmethod
    def resolve(cls, parameters: dict[str, Any], n_samples: int, n_features: int) -> "Settings":
        """Fill in what is None from the preset and what is "auto" from the size of the table."""
        given = {name: value for name, value in parameters.items() if value is not None}
        values = {**PRESETS[given["preset"]], **given, "verbose": bool(given["verbose"])}
        if values["batch_size"] == "auto":
            values["batch_size"] = large_batch(n_samples)
        if values["max_epochs"] == "auto":
            n_steps = min(-(-n_samples // values["batch_size"]), LONGEST_EPOCH)
            values["steps_per_epoch"] = n_steps
            values["max_epochs"] = max(MIN_EPOCHS, MAX_STEPS // n_steps)
        if isinstance(kept := values["feature_neighbors"], str):
            keeps_all = kept == "all" or n_features <= FULL_GRAPH_FEATURES
            values["feature_neighbors"] = None if keeps_all else KEPT_NEIGHBORS
        rows = min(values["batch_size"], n_samples)
        values["n_neighbors"] = fewer_than("n_neighbors", values["n_neighbors"], rows, "a batch")
        start, end = values["start_temperature"], values["end_temperature"]
        if end > start:
            raise ParameterError(
                f"end_temperature={end} is above start_temperature={start}; temperatures fall, so "
                "choose a lower end.",
                "end_temperature",
            )
        return cls(**{f.name: values[f.name] for f in fields(cls) if f.name in values})


def fewer_than(name: str, value: int, n_samples: int, who: str = "X") -> int:
    """Return the value of a parameter or, with a warning, the most that the samples allow."""
    if value < n_samples:
        return value
    warn(f"{name}={value} but {who} has {n_samples} samples; {n_samples - 1} are used instead.")
    return n_samples - 1


def large_batch(n_samples: int) -> int:
    """Find the rows of a step: all where they are few, else a like share of them."""
    n_steps = 1 if n_samples <= 1.25 * LARGE_BATCH else -(-n_samples // LARGE_BATCH)
    return -(-n_samples // n_steps)
