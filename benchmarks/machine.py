"""What the machine is and can do: its name, products and copies by the second, memory, clock."""

import platform
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

#: Rows of the matrices that are multiplied and copied, on a processor and on a GPU; times.
SIDES, REPEATS = {"cpu": (2048, 8192), "cuda": (8192, 16384)}, 3


class Rates(NamedTuple):
    """What the processor or the GPU was measured to do in a second."""

    flops: float  #: of a product of float32 matrices
    bytes: float  #: read and written by a copy

    def limit(self, n: int, d: int, n_shuffled: int, n_bytes: int) -> float:
        """Return the least seconds of a table of n rows and d features (``benchmarks.speed``)."""
        return (n + n_shuffled) * d * (d - 1) / self.flops + n_bytes / self.bytes

    def __str__(self) -> str:
        return f"{self.flops / 1e9:,.0f} Gflop/s (float32), {self.bytes / 1e9:,.1f} GB/s"


def rates(device: str) -> Rates:
    """Measure a product of matrices and a copy, the fastest of a few times."""
    ones: Any = partial(np.ones, dtype=np.float32)
    if device == "cuda":
        import torch

        ones = partial(torch.ones, device=device)
    multiplied, copied = SIDES[device]
    M, source, target = (ones((side, side)) for side in (multiplied, copied, copied))
    product = fastest(lambda: M @ M)
    copy = fastest(lambda: target.__setitem__(slice(None), source))
    return Rates(2 * multiplied**3 / product, 2 * source.nbytes / copy)


def machine(device: str = "cpu") -> str:
    """Name the processor, and the GPU if it is used."""
    info = Path("/proc/cpuinfo")
    text = info.read_text() if info.exists() else ""
    name = text.partition("model name\t: ")[2].partition("\n")[0] or platform.machine()
    return name if device == "cpu" else f"{import_module('torch').cuda.get_device_name()}, {name}"


def peak_memory() -> float:
    """Read this process's peak memory in GB; getrusage counts that of its parent too."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0]) / 1e9


def in_a_process(function: Callable[..., Any], *given: Any) -> Any:
    """Call a function in a process of its own, whose peak memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *given).result()


def fastest(run: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Time calls after one to warm up; return the least seconds."""
    run()
    return min(seconds(run) for _ in range(repeats))


def seconds(run: Callable[[], Any]) -> float:
    """Time one call."""
    began = now()
    run()
    return now() - began


def now() -> float:
    """Read the clock; where a GPU is used, when it is done."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.perf_counter()
