"""Decide how much memory a fit may take, and what follows: rows of a block, columns at a time.

All numbers that steer memory and the size of blocks live here.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from groupfs.utils.errors import ParameterError
from groupfs.utils.text import format_bytes

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {f"{unit}I": 2 ** (10 * power) for power, unit in enumerate("KMGT", start=1)}

# -- a fit as a whole --
#: Share of the free memory that a fit takes at most if nothing is said.
DEFAULT_SHARE = 0.75
#: Bytes for parts of libraries that are loaded on the way.
LIBRARIES = 160 * 10**6
#: Bytes that a fit in memory takes at its peak for each number of a dense table, entry of a sparse,
#: and feature: its neighbours in the table and in halves, and what is made of them.
PER_NUMBER, PER_ENTRY, PER_FEATURE = 32, 48, 24 * 2**10
#: Numbers, zeros included, above which a sparse table is worked on in blocks whatever the memory.
MOST_SPARSE = 2**30

# -- blocks of a table --
#: Numbers that are read from a file at a time where nothing else is said.
READ_ENTRIES = 2**22
#: Neighbouring rows of a file that are read together where some of its rows are wanted.
RUN_ROWS = 64
#: Products of columns are computed in blocks of about so many numbers (64 MB).
BLOCK_ENTRIES = 2**23
#: Random signs that are drawn at a time for sums of rows.
SIGN_ENTRIES = 2**24

# -- streamed tables --
#: Bytes for each similarity of two columns, with what is made of it.
PER_PRODUCT = 40
#: Most rows of the sample that stays in memory, and the fewest; most of a block.
SAMPLE_ROWS, FEWEST_SAMPLE_ROWS, BLOCK_ROWS = 4096, 128, 8192
#: Rows' worth of memory that a row takes in the sample with shuffled copies, and in a block with
#: what is made of it, two of which are prefetched.
PER_SAMPLE_ROW, PER_BLOCK_ROW = 4, 14
#: Numbers of the sample above which it has fewer rows: chance groups are looked for in it.
SAMPLE_NUMBERS = 2**27

# -- dask arrays, whose passes run on workers --
#: Numbers that a task works on at a time (33 MB in double precision), of smaller blocks together.
WORKER_ENTRIES = 2**22
#: Findings that a task merges, at most, and bytes of them: but two at least.
MOST_MERGED, MERGED_BYTES = 8, 2**28
#: Numbers of a dask array above which it stays on a cluster at hand (1 GB in single precision).
STAYS_ON_CLUSTER = 2**28


@dataclass(frozen=True)
class Plan:
    """Rows of a streamed table that are held at a time."""

    sample_rows: int  #: stay in memory: groups are scored on them
    block_rows: int  #: read at a time in a pass over the table
    block_entries: int  #: similarities of columns that are held at a time


def block_rows(width: int, entries: int = READ_ENTRIES) -> int:
    """Return how many rows of so many numbers a block of so many entries holds, at least one."""
    return max(1, entries // max(1, width))


def parse_memory(value: Any) -> int:
    """Read bytes from a number or from text such as "4GB", "512 MiB"."""
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([KMGT]?I?)B?\s*", value.upper())
        if found and found[2] in UNITS:
            value = float(found[1]) * UNITS[found[2]]
    if isinstance(value, str) or not np.isfinite(value) or value <= 0:
        raise ParameterError(
            f'max_memory={value!r} is not an amount of memory; give bytes, text such as "4GB" or '
            '"512MiB", or None for a share of what is free.',
            "max_memory",
        )
    return int(value)


def memory_budget(max_memory: Any) -> int:
    """Return the bytes a fit may add to what the process holds already."""
    if max_memory is None:
        return int(DEFAULT_SHARE * free_memory())
    return parse_memory(max_memory) - _resident_memory() - LIBRARIES


def memory_of_table(shape: tuple[int, int], n_entries: int | None) -> int:
    """Return the bytes a fit in memory takes; ``n_entries`` are those of a sparse table."""
    rows = PER_NUMBER * shape[0] * shape[1] if n_entries is None else PER_ENTRY * n_entries
    return rows + PER_FEATURE * shape[1]


def fits_in_memory(shape: tuple[int, int], n_entries: int | None, budget: int) -> bool:
    """Tell whether a table may be worked on as a whole."""
    too_long = n_entries is not None and shape[0] * shape[1] > MOST_SPARSE
    return memory_of_table(shape, n_entries) <= budget and not too_long


def plan_rows(n_rows: int, n_features: int, budget: int, max_memory: Any) -> Plan:
    """Divide the budget among what holds rows; refuse where not even a few fit.

    Sizes are powers of two, so that a little more or less free memory does not change a result."""
    per_row, share = 4 * n_features, (budget - PER_FEATURE * n_features) // 4
    sample, block = share // (per_row * PER_SAMPLE_ROW), share // (per_row * PER_BLOCK_ROW)
    if sample < FEWEST_SAMPLE_ROWS:
        needed = PER_FEATURE * n_features + 4 * FEWEST_SAMPLE_ROWS * per_row * PER_SAMPLE_ROW
        total = needed + _resident_memory() + LIBRARIES
        source = "free memory allows" if max_memory is None else "max_memory leaves"
        raise ValueError(
            f"a table of {n_features:,} features needs about {format_bytes(needed)} beside what "
            f"this process holds, but {source} {format_bytes(max(budget, 0))}; set max_memory to "
            f"{format_bytes(1.05 * total)} or more, or leave out columns, e.g. those that hardly "
            "vary."
        )
    most = max(512, _even(SAMPLE_NUMBERS // n_features))
    return Plan(
        sample_rows=min(n_rows, _even(sample), SAMPLE_ROWS, most),
        block_rows=min(_even(block), BLOCK_ROWS),
        block_entries=min(_even(share) // PER_PRODUCT, BLOCK_ENTRIES),
    )


def free_memory(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the memory that is free on this machine or, if that is less, in this container."""
    free = [int(psutil.virtual_memory().available)]
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            room = int((cgroup / limit).read_text()) - int((cgroup / used).read_text())
            stat = (cgroup / used).with_name("memory.stat").read_text()
        except (OSError, ValueError):  # no such file, or "max"
            continue
        # what holds parts of files is given back on demand
        pages = re.findall(r"^(?:in)?active_file (\d+)$", stat, re.MULTILINE)
        free.append(room + sum(map(int, pages)))
    return max(min(free), 0)


def _resident_memory() -> int:
    return int(psutil.Process().memory_info().rss)


def _even(size: int) -> int:
    """Return the largest power of two that is no larger; 0 stays 0."""
    return 1 << (size.bit_length() - 1) if size else 0
