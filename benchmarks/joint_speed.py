"""Time per model and step of the joint method, beside plain autograd in one run.

Run with ``python -m benchmarks.joint_speed`` (``--device cuda`` on a GPU); prints a table. Seconds
of a step are those that more epochs add to a fit, so that graphs and warm starts do not count; the
plain version (``benchmarks.straightforward``) is timed without either.
"""

import argparse
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from benchmarks.machine import seconds
from benchmarks.straightforward import StraightforwardGroupFS, feature_laplacian, train_epochs
from benchmarks.tables import read
from groupfs import GroupFSPath

#: table, groups and batch size of the paper
SETTINGS = {
    "two_moons": (12, 100),
    "heart_disease": (6, 100),
    "yale": (16, 32),
    "ar10p": (20, 32),
    "pie10p": (29, 50),
    "allaml": (26, 50),
    "nmnist38": (7, 100),
}
#: Models of the published method, which are trained to the end.
PLAIN = {"preset": "paper", "n_init": 1, "early_stopping": False, "random_state": 0}
#: Epochs of the shorter of two fits, whose seconds are taken off those of the longer.
FEW_EPOCHS = 2
REPEATS = 3


def per_epoch(train: Callable[[int], object], budget: float) -> float:
    """Time an epoch: what more of them add, the fastest of a few repeats of both lengths."""

    def fastest(epochs: int) -> float:
        return min(seconds(lambda: train(epochs)) for _ in range(REPEATS))

    train(FEW_EPOCHS)
    short = fastest(FEW_EPOCHS)
    epochs, added = 4 * FEW_EPOCHS, 0.0
    while added < budget / REPEATS:
        epochs *= 2
        added = seconds(lambda: train(epochs)) - short  # noqa: B023
    return (fastest(epochs) - short) / (epochs - FEW_EPOCHS)


def measure(name: str, n_models: list[int], budget: float, device: str) -> None:
    """Print how many times faster a step is than the plain one, by the number of models."""
    X = read(name)
    Z = (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1)
    C, batch = SETTINGS[name]
    n_steps = -(-len(Z) // batch)
    columns = torch.as_tensor(Z, dtype=torch.float32, device=device)
    labels = torch.as_tensor(np.arange(Z.shape[1]) % C)
    plain = StraightforwardGroupFS(feature_laplacian(columns), labels, C, 1.0, 1.0)
    slow = per_epoch(lambda epochs: train_epochs(plain, columns, batch, epochs), budget)
    for R in n_models:
        asked = {"sparsities": np.linspace(0.5, 2, R), "n_groups": C, "batch_size": batch, **PLAIN}
        path = partial(GroupFSPath, device=device, **asked)
        ours = per_epoch(lambda n, path=path: path(max_epochs=n).fit(Z), budget) / R
        milliseconds = 1000 * ours / n_steps
        print(f"{name:>14} {R:>6} {slow / ours:>7.1f} {milliseconds:>8.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--models", nargs="+", type=int, default=[1, 8, 48])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--budget", type=float, default=3.0, help="seconds per measurement")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    warnings.simplefilter("ignore")  # that gates are shut after few epochs
    name = torch.cuda.get_device_name() if options.device == "cuda" else "CPU"
    print(f"{name}, torch {torch.__version__}, {options.threads} threads")
    print(f"{'table':>14} {'models':>6} {'ratio':>7} {'ms':>8}  per model and step", flush=True)
    for name in options.tables:
        measure(name, options.models, options.budget, options.device)


if __name__ == "__main__":
    main()
