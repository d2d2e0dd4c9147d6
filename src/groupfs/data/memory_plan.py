"""How much memory a fit may take, and how many rows of a table it may hold at a time for that."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from groupfs.utils.text import format_bytes

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {f"{unit}I": 2 ** (10 * power) for power, unit in enumerate("KMGT", start=1)}
#: Share of the free memory that a fit takes at most if nothing is said.
DEFAULT_SHARE = 0.75
#: Free memory that is assumed where the system does not tell.
ASSUMED = 4 * 10**9
#: Bytes for parts of libraries that are loaded on the way.
LIBRARIES = 160 * 10**6
#: Bytes that a fit of a table in memory takes at its peak for each number of a dense table, and for
#: each entry of a sparse one.
PER_NUMBER, PER_ENTRY = 32, 48
#: Numbers, zeros included, above which a sparse table is worked on in blocks whatever the memory.
MOST_SPARSE = 2**30
#: Bytes of the feature graph, its eigenvectors and the search for them, for each feature.
PER_FEATURE = 8192
#: Most rows of the sample that stays in memory, of the buffer that batches are drawn from, and of a
#: block that is read at a time; and the fewest rows of a sample or a batch, and of a block.
SAMPLE_ROWS, BUFFER_ROWS, BLOCK_ROWS, FEWEST_ROWS, SMALLEST_BLOCK = 4096, 16_384, 8192, 64, 8
#: Most bytes of the products of columns at a time.
SLAB_BYTES = 2**31
#: Numbers of the sample above which it has fewer rows: chance groups are looked for in it.
SAMPLE_NUMBERS = 2**27


@dataclass(frozen=True)
class Plan:
    """Rows of a streamed table that are held at a time."""

    sample_rows: int  #: stay in memory: groups are scored on them
    buffer_rows: int  #: that the batches of training are drawn from
    block_rows: int  #: read at a time in a pass over the table
    batch_rows: int  #: of a step of training, at most
    slab_bytes: int  #: products of columns
    model_bytes: int  #: models trained side by side


def parse_memory(value: Any) -> int:
    """Bytes from a number or from text such as "4GB", "512 MiB"."""
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([KMGT]?I?)B?\s*", value.upper())
        if found and found[2] in UNITS:
            value = float(found[1]) * UNITS[found[2]]
    if isinstance(value, str) or not np.isfinite(value) or value <= 0:
        raise ValueError(
            f'max_memory={value!r} is not an amount of memory; give bytes, text such as "4GB" or '
            '"512MiB", or None for a share of what is free.'
        )
    return int(value)


def memory_budget(max_memory: Any) -> int:
    """Bytes a fit may add to what the process holds already."""
    if max_memory is None:
        return int(DEFAULT_SHARE * _free_memory())
    return parse_memory(max_memory) - _resident_memory() - LIBRARIES


def fits_in_memory(shape: tuple[int, int], n_entries: int | None, budget: int) -> bool:
    """Whether a table may be worked on as a whole; ``n_entries`` are those of a sparse one."""
    if n_entries is None:
        return PER_NUMBER * shape[0] * shape[1] <= budget
    return PER_ENTRY * n_entries <= budget and shape[0] * shape[1] <= MOST_SPARSE


def plan_rows(n_rows: int, n_features: int, n_models: int, budget: int, max_memory: Any) -> Plan:
    """Divide the budget among what holds rows; refuse where not even a few fit.

    Sizes are powers of two, so that a little more or less free memory does not change a result.
    """
    per_row = 4 * n_features
    rest = budget - PER_FEATURE * n_features
    share = rest // 4
    # a batch with its weighted copies, the sample with shuffled copies, blocks with what is made
    # of them, two of which are read ahead
    batch = share // (per_row * (2 * n_models + 4))
    sample = share // (per_row * 4)
    buffer = share // (per_row * 2)
    block = share // (per_row * 10)
    if min(batch, sample, buffer) < FEWEST_ROWS or block < SMALLEST_BLOCK:
        needed = PER_FEATURE * n_features + 4 * FEWEST_ROWS * per_row * (2 * n_models + 4)
        _refuse(n_features, needed, budget, max_memory)
    return Plan(
        sample_rows=min(
            n_rows, _even(sample), SAMPLE_ROWS, max(512, _even(SAMPLE_NUMBERS // n_features))
        ),
        buffer_rows=min(_even(buffer), BUFFER_ROWS),
        block_rows=min(_even(block), BLOCK_ROWS),
        batch_rows=min(_even(batch), BUFFER_ROWS),
        slab_bytes=min(_even(share), SLAB_BYTES),
        model_bytes=_even(share),
    )


def _even(size: int) -> int:
    """The largest power of two that is no larger; 0 stays 0."""
    return 1 << (size.bit_length() - 1) if size else 0


def _refuse(n_features: int, needed: int, budget: int, max_memory: Any) -> None:
    total = needed + _resident_memory() + LIBRARIES
    source = "free memory allows" if max_memory is None else "max_memory leaves"
    raise ValueError(
        f"a table of {n_features:,} features needs about {format_bytes(needed)} beside what this "
        "process "
        f"holds, but {source} {format_bytes(max(budget, 0))}; set max_memory to "
        f"{format_bytes(1.05 * total)} or "
        "more, or leave out columns, e.g. those that hardly vary."
    )


def _free_memory() -> int:
    """Memory that is free on this machine or, if that is less, in this container."""
    free = [_available()]
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        try:
            pages = _pages_of_files(Path(used).with_name("memory.stat"))
            free.append(int(Path(limit).read_text()) - int(Path(used).read_text()) + pages)
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return max(min(free), 0)


def _pages_of_files(path: Path) -> int:
    """Memory that holds parts of files, which the system takes back when others need it."""
    try:
        entries = dict(line.split() for line in path.read_text().splitlines())
    except (OSError, ValueError):
        return 0
    return sum(int(entries.get(name, 0)) for name in ("inactive_file", "active_file"))


def _available() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):  # Windows
        return ASSUMED


def _resident_memory() -> int:
    """What the process holds now."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 0
