"""Seconds of the stages of a fit: the functions of each are watched while it runs."""

from __future__ import annotations

import contextlib
import importlib
import time
from collections.abc import Iterator
from typing import Any

#: Where the function of a stage is looked up when it is called.
STAGES = {
    "table": "groupfs.data.open_table.open_table",
    "relatedness": "groupfs.graphs.relatedness.measure_relatedness",
    "groups": "groupfs.training.problem.discover",
    "weights": "groupfs.training.problem.measure_start",
    "scores": "groupfs.training.problem._gate_starts",
    "training": "groupfs.training.solve.train_path",
    "p-values": "groupfs.selection.describe._p_values",
    "order": "groupfs.selection.feature_order.order_features",
}


@contextlib.contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Add up the seconds of every stage; all of them end on the processor."""
    seconds = dict.fromkeys(STAGES, 0.0)
    with contextlib.ExitStack() as stack:
        for stage, place in STAGES.items():
            module, name = place.rsplit(".", 1)
            owner = importlib.import_module(module)
            plain = getattr(owner, name)
            setattr(owner, name, _timed(plain, stage, seconds))
            stack.callback(setattr, owner, name, plain)
        yield seconds


def _timed(function: Any, stage: str, seconds: dict[str, float]) -> Any:
    def timed(*given: Any, **named: Any) -> Any:
        began = time.perf_counter()
        try:
            return function(*given, **named)
        finally:
            seconds[stage] += time.perf_counter() - began

    return timed
