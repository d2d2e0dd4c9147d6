"""What the parameters left at None become: our defaults, or the paper's choices."""

from __future__ import annotations

from typing import Any

#: On weakly structured tables batches of a hundred leave mostly noise in the order of the groups;
#: a step on this many costs little more. Tables up to a quarter larger are taken whole.
LARGE_BATCH = 512
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
        "allocation": "spread",
        "batch_size": "auto",
        "max_epochs": "auto",
        "learning_rate": 0.02,
        "early_stopping": True,
        "feature_neighbors": "auto",
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
    },
}
#: Above this number of features the feature graph keeps nearest neighbours only, this many of each.
DENSE_FEATURES, KEPT_NEIGHBORS = 512, 50


def resolve(
    parameters: dict[str, Any], n_samples: int, n_features: int, most_rows: int | None = None
) -> dict[str, Any]:
    """Fill in what is None from the preset and what is "auto" from the size of the table.

    ``most_rows`` are those that a batch may hold.
    """
    preset = PRESETS[parameters["preset"]]
    settings = {
        name: preset[name] if name in preset and value is None else value
        for name, value in parameters.items()
    }
    if settings["batch_size"] == "auto":
        settings["batch_size"] = large_batch(n_samples)
        if most_rows is not None:
            settings["batch_size"] = min(settings["batch_size"], most_rows)
    settings["steps_per_epoch"] = None
    if settings["max_epochs"] == "auto":
        n_steps = min(-(-n_samples // settings["batch_size"]), LONGEST_EPOCH)
        settings["steps_per_epoch"] = n_steps
        settings["max_epochs"] = max(MIN_EPOCHS, MAX_STEPS // n_steps)
    neighbors = settings["feature_neighbors"]
    if neighbors == "auto":
        neighbors = KEPT_NEIGHBORS if n_features > DENSE_FEATURES else "all"
    settings["feature_neighbors"] = None if neighbors == "all" else neighbors
    return settings


def large_batch(n_samples: int) -> int:
    """The rows of a step: all where they are few, else a like share of them."""
    n_steps = 1 if n_samples <= 1.25 * LARGE_BATCH else -(-n_samples // LARGE_BATCH)
    return -(-n_samples // n_steps)
