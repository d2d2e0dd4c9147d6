"""What a checkpoint of a path holds: problems, trained parts and refits, and whose they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.data.rows import DenseRows, Rows, SparseRows
from groupfs.data.table import Table
from groupfs.estimators.stability import Refit
from groupfs.models.all_groups import Objective
from groupfs.selection.describe import Trained
from groupfs.training.checkpoints import State
from groupfs.training.history import History
from groupfs.training.problem import Problem
from groupfs.utils.device import DTYPE

#: Parameters that change how the work is done or shown, but not what comes out.
WITHOUT_EFFECT = ("verbose", "n_jobs", "checkpoint", "max_memory")
PACKAGES = ("groupfs", "numpy", "scipy", "scikit-learn", "torch")
#: Rows that stand for a table which is not in memory, beside the norms of its columns.
SAMPLED_ROWS = 256


def digest(table: Table, settings: dict[str, Any], seeds: list[int], device: torch.device) -> str:
    """A name for a table and all that its path depends on, 32 hexadecimal digits."""
    matters = {k: v for k, v in settings.items() if k not in WITHOUT_EFFECT}
    matters |= {"random_state": seeds, "device": device.type}
    # how much of a streamed table is held decides which rows meet in a batch
    matters["plan"] = repr(getattr(table.rows, "plan", None))
    matters |= {"versions": [_version(package) for package in PACKAGES], "shape": table.rows.shape}
    found = hashlib.blake2b(json.dumps(matters, sort_keys=True, default=_plain).encode())
    found.update(table.columns.tobytes())
    for array in _content(table.rows, device):
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()[:32]


def pack_problem(problem: Problem) -> State:
    """Everything that was found out before training; the table itself is not in it."""
    walk = problem.objective.walk
    assert walk is not None
    arrays = {
        "clusters": np.stack(problem.clusters),
        "gate_start": problem.gate_start,
        **_pack_walk(walk),
    }
    if problem.candidates is not None:
        arrays["candidates"] = problem.candidates
    facts = {
        "n_groups": problem.n_groups,
        "distortion": list(problem.distortion.items()),
        "critical_sparsity_weight": problem.critical_sparsity_weight,
        "smoothness_weight": problem.objective.smoothness_weight,
        "n_features": walk.shape[0],
        "best_memberships": problem.settings["best_memberships"],
    }
    return State(arrays, facts)


def unpack_problem(
    state: State,
    table: Table,
    settings: dict[str, Any],
    seeds: list[int],
    device: torch.device,
) -> Problem:
    """The problem as it was prepared."""
    table.rows.to(device, DTYPE)
    facts = state.facts
    objective = Objective(
        walk=_unpack_walk(state, device),
        n_neighbors=settings["n_neighbors"],
        steps=settings["diffusion_steps"],
        gate_noise=settings["gate_noise"],
        smoothness_weight=facts["smoothness_weight"],
        through_bandwidth=settings["bandwidth_gradient"] == "exact",
    )
    return Problem(
        table=table,
        settings={**settings, "best_memberships": facts["best_memberships"]},
        seeds=seeds,
        device=device,
        objective=objective,
        n_groups=facts["n_groups"],
        distortion=dict(facts["distortion"]),
        clusters=list(state.arrays["clusters"]),
        gate_start=state.arrays["gate_start"],
        critical_sparsity_weight=facts["critical_sparsity_weight"],
        candidates=state.arrays.get("candidates"),
    )


def pack_trained(trained: Trained) -> State:
    """A trained part of a path; its history is one."""
    names = ("sparsity_weights", "logits", "gates", "loss", "gain", "terms", "candidates")
    found = State(
        {name: getattr(trained, name) for name in names if getattr(trained, name) is not None},
        {"smoothness_weight": trained.smoothness_weight},
    )
    return State.joined(found=found, history=trained.histories[0].state())


def unpack_trained(state: State) -> Trained:
    values: dict[str, Any] = {**state.part("found").arrays, **state.part("found").facts}
    return Trained(**values, histories=[History.from_state(state.part("history"))])


def pack_refit(refit: Refit) -> State:
    return State({"labels": refit.labels, "selected": refit.selected})


def unpack_refit(state: State) -> Refit:
    return Refit(state.arrays["labels"], state.arrays["selected"])


def _content(rows: Rows, device: torch.device) -> Iterator[NDArray[Any]]:
    """Arrays that tell one table from another: all of it where it is in memory."""
    if isinstance(rows, DenseRows):
        yield rows.Z
    elif isinstance(rows, SparseRows):
        yield from (rows.X.data, rows.X.indices, rows.X.indptr, rows.mean, rows.scale)
    else:
        yield rows.column_norms
        rows.to(device, DTYPE)
        places = np.linspace(0, rows.shape[0] - 1, min(rows.shape[0], SAMPLED_ROWS))
        yield rows.take(torch.from_numpy(places.astype(np.int64))).cpu().numpy()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _plain(value: Any) -> Any:
    """Parameters as json: numpy's numbers and arrays as lists, anything else as it prints."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return repr(value)


def _pack_walk(walk: Tensor) -> dict[str, NDArray[Any]]:
    if walk.layout == torch.strided:
        return {"walk": walk.cpu().numpy()}
    parts = {"rows": walk.crow_indices(), "columns": walk.col_indices(), "walk": walk.values()}
    return {name: values.cpu().numpy() for name, values in parts.items()}


def _unpack_walk(state: State, device: torch.device) -> Tensor:
    kept = {
        name: torch.tensor(state.arrays[name], device=device)
        for name in ("rows", "columns", "walk")
        if name in state.arrays
    }
    if len(kept) == 1:
        return kept["walk"]
    d = state.facts["n_features"]
    return torch.sparse_csr_tensor(
        kept["rows"], kept["columns"], kept["walk"], size=(d, d), check_invariants=False
    )
