"""How long a path of sparsities will take, from a measured piece of its work."""

import time
from typing import Any

from groupfs.utils.device import resolve_device

#: Models of a path that are trained side by side, and how often that is done.
MODELS, PARTS = 8, 6
#: What a part takes, in pieces as measured here: 94 to 378 on six tables of 178 to 2,796 rows and
#: 13 to 400 columns (training stops early on some).
PIECES = 200
#: Rows of a batch, and rows up to which a table is one batch.
BATCH, ONE_BATCH = 256, 320


def path_sentence(n_rows: int, device: Any) -> str | None:
    """Say about how long training a path will take on this machine; None on a GPU."""
    if resolve_device(device).type != "cpu":
        return None
    seconds = PARTS * PIECES * _measure(n_rows if n_rows <= ONE_BATCH else BATCH)
    return (
        f"Training 24 sparsities will take about {write_seconds(seconds)} (by table, half of that "
        "to three times as long)"
    )


def write_seconds(seconds: float) -> str:
    """Write a duration in steps of five seconds, or in minutes.

    Examples
    --------
    >>> from groupfs.cli.path_time import write_seconds
    >>> write_seconds(3.2), write_seconds(37), write_seconds(400)
    ('5 s', '35 s', '7 min')
    """
    if seconds < 60:
        return f"{max(5, 5 * round(seconds / 5))} s"
    return f"{round(seconds / 60)} min"


def _measure(n_rows: int) -> float:
    """Time a piece of a step: products of matrices between samples, and their neighbours."""
    import torch

    between = torch.rand(MODELS, n_rows, n_rows)
    seconds = []
    for _ in range(4):  # the first one warms up
        began = time.perf_counter()
        (between @ between).exp_().sum()
        between.topk(8, dim=-1)
        seconds.append(time.perf_counter() - began)
    return sum(seconds[1:]) / 3
