"""What distances from inner products lose in digits, and whether a selection notices.

Run with ``python -m benchmarks.precision``; for tables that are hard on them it prints, beside
differences taken one by one in double precision: errors of distances, affinities and scores, the
share of samples whose bandwidth is the floor, and how the groups and the selection of three fits
agree: ours, one with exact distances, and one with exact distances and next to no floor.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score
from torch import Tensor

from groupfs import GroupFS
from groupfs.data.open_table import open_table
from groupfs.data.rows import Rows
from groupfs.graphs import affinity, feature_graph
from groupfs.graphs.feature_neighbors import column_distances, subtract_common_column
from groupfs.models import losses
from groupfs.scoring import excess

K = 7


def planted(rng: np.random.Generator, n: int = 200) -> np.ndarray:
    """Make three groups of four features and four features of noise."""
    factors = rng.standard_normal((n, 3))
    grouped = np.repeat(factors, 4, axis=1) + 0.4 * rng.standard_normal((n, 12))
    return np.column_stack([grouped, rng.standard_normal((n, 4))])


def tight_clusters(rng: np.random.Generator, width: float) -> np.ndarray:
    return width * planted(rng) + rng.choice([-1.0, 1.0], size=(200, 1))


def nearly_equal_rows(rng: np.random.Generator, width: float) -> np.ndarray:
    return np.tile(planted(rng, 20), (10, 1)) + width * rng.standard_normal((200, 16))


def nearly_equal_columns(rng: np.random.Generator, gap: float) -> np.ndarray:
    """Make correlations of 1 - gap within each of three groups of twelve."""
    factors = rng.standard_normal((200, 3))
    noise = rng.standard_normal((200, 36)) * np.sqrt(gap)
    return np.column_stack([np.repeat(factors, 12, axis=1) + noise, rng.standard_normal((200, 4))])


def outlier(rng: np.random.Generator, deviations: float) -> np.ndarray:
    X = planted(rng)
    X[0] = deviations * rng.uniform(0.5, 1.5, X.shape[1])
    return X


def heavy_tails(rng: np.random.Generator, sigma: float) -> np.ndarray:
    X = planted(rng)
    return np.exp(sigma * X) if sigma else np.tan(1.4 * np.tanh(X)) * np.exp(np.abs(X) ** 1.5)


def unequal_units(rng: np.random.Generator, ratio: float) -> np.ndarray:
    """Make groups whose gates are open to different degrees, for ``standardize=False``."""
    return planted(rng) * np.repeat(np.geomspace(1, ratio, 4), 4)


CASES = {
    "planted": (lambda rng, _: planted(rng), (1,)),
    "tight clusters": (tight_clusters, (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)),
    "nearly equal rows": (nearly_equal_rows, (1e-1, 1e-2, 1e-3, 1e-5, 1e-7)),
    "nearly equal columns": (nearly_equal_columns, (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)),
    "outlier": (outlier, (1e2, 1e3, 1e4, 1e5, 1e6, 1e8)),
    "heavy tails": (heavy_tails, (0, 1, 3, 5)),
    "unequal units": (unequal_units, (1e-2, 1e-4, 1e-6)),
}


def exact_distances(points: Tensor) -> Tensor:
    """Compute squared distances by differences, (n, d) to (n, n), in double precision."""
    points = points.double()
    return torch.stack([(points - point).square().sum(1) for point in points])


def relative_error(values: Tensor, exact: Tensor) -> float:
    """Find the largest relative error of distances that are not zero."""
    apart = exact > 0
    return float(((values.double() - exact).abs()[apart] / exact[apart]).max())


def errors(rows: Rows) -> dict[str, float]:
    """Measure the errors of all that is computed from inner products, before any training."""
    N, d = rows.shape
    rows.to(torch.device("cpu"), torch.float32)
    X = rows.take(torch.arange(N))
    samples, columns = exact_distances(X), exact_distances(torch.from_numpy(rows.columns(0, d)).T)
    distances = affinity.squared_distances(X @ X.T)
    ours = affinity.self_tuning_graph(distances, K)
    exact = affinity.self_tuning_graph(samples, K)
    feature = feature_graph.FeatureGraph(rows, K, None).affinity
    exact_feature = affinity.self_tuning_graph(columns, K).affinity.numpy()
    score = excess.own_graph_smoothness(X[None], K, 2)
    exact_score = excess.own_graph_smoothness(X[None].double(), K, 2)
    apart = subtract_common_column(rows)
    return {
        "distance": relative_error(distances, samples),
        "affinity": float((ours.affinity - exact.affinity).abs().max()),
        "score": float((score - exact_score).abs()),
        "at floor": float(exact.floored.double().mean()),
        "column distance": relative_error(column_distances(apart, 0, d), columns),
        "column affinity": float(np.abs(feature - exact_feature).max()),
    }


@contextmanager
def exact_arithmetic(floor: float | None) -> Iterator[None]:
    """Take samples' products in double precision, columns' distances by differences, a floor."""
    smoothness, own = losses.sample_smoothness, excess.own_graph_smoothness

    def precise(X: Tensor, weight: Tensor, *rest: object) -> tuple[Tensor, Tensor]:
        value, grad = smoothness(X.double(), weight.double(), *rest)
        return value.to(X.dtype), grad.to(X.dtype)

    def columns(rows: Rows, start: int, stop: int) -> Tensor:
        return exact_distances(torch.from_numpy(rows.columns(0, rows.shape[1])).T)[start:stop]

    with ExitStack() as stack:
        replace = [
            (losses, "sample_smoothness", precise),
            (excess, "own_graph_smoothness", lambda X, *rest: own(X.double(), *rest)),
            (feature_graph, "column_distances", columns),
        ]
        if floor is not None:
            replace.append((affinity, "BANDWIDTH_FLOOR", floor))
        for where, name, what in replace:
            stack.enter_context(mock.patch.object(where, name, what))
        yield


def agreement(X: np.ndarray, standardize: bool) -> dict[str, float]:
    """Compare groups (adjusted Rand index) and selection (Jaccard) with exact arithmetic's."""

    def fit() -> GroupFS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return GroupFS(random_state=0, standardize=standardize, device="cpu").fit(X)

    ours = fit()
    found = {"groups": float(ours.n_groups_), "features": float(ours.get_support().sum())}
    for name, floor in (("exact", None), ("no floor", 1e-14)):
        with exact_arithmetic(floor):
            other = fit()
        both = ours.get_support() & other.get_support()
        either = ours.get_support() | other.get_support()
        found[f"groups, {name}"] = adjusted_rand_score(ours.group_labels_, other.group_labels_)
        found[f"selection, {name}"] = float(both.sum() / either.sum())
    return found


def measure(options: argparse.Namespace) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for name in options.cases.split(","):
        make, values = CASES[name]
        for value in values:
            X = make(np.random.default_rng(options.seed), value)
            standardize = name != "unequal units"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                table = open_table(GroupFS(), X, standardize)
            row = {"table": name, "value": value, **errors(table.rows)}
            if options.fit:
                row |= agreement(X, standardize)
            if not rows:
                print(" " * 29 + "".join(f"{key:>17}" for key in list(row)[2:]))
            numbers = "".join(f"{row[key]:>17.2g}" for key in list(row)[2:])
            print(f"{name:>20} {value:>8.0e}{numbers}", flush=True)
            rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fit", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--out", type=Path, default=Path("out/precision.json"))
    options = parser.parse_args()
    result = measure(options)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
