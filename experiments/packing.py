"""Records in one compressed file: their text, and their long lists of integers in one array.

Numpy alone writes and reads the file, and nothing in it is pickled. Selections are sorted lists:
these are stored as differences, which compress best. What is read is what was written.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupfs.utils.atomic_files import write_file

#: Lists of so many integers stay in the text, where they can be read.
SHORT = 8
#: Stands in the text where a list was taken out; lists follow in the order of the text.
MARK = {"integers": True}
PARTS = ("text", "integers", "lengths", "is_sorted")


def write_packed(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write records into a file that appears whole or not at all; equal records, equal bytes."""
    lists: list[list[int]] = []
    text = json.dumps([_take_lists(record, lists) for record in records])
    is_sorted = [all(a <= b for a, b in pairwise(some)) for some in lists]
    stored = [
        np.diff(some, prepend=0) if ascending else np.array(some)
        for some, ascending in zip(lists, is_sorted, strict=True)
    ]
    parts = {
        "text": np.frombuffer(text.encode(), np.uint8),
        "integers": _smallest(np.concatenate(stored) if stored else np.zeros(0, int)),
        "lengths": _smallest(np.array([len(some) for some in lists], int)),
        "is_sorted": np.array(is_sorted, bool),
    }
    write_file(path, lambda aside: np.savez_compressed(aside, **parts, checksum=_checksum(parts)))


def read_packed(path: Path) -> list[dict[str, Any]]:
    """Read the records of a file; one that is damaged is an error, and no reason to start anew."""
    content = path.read_bytes()
    try:
        with np.load(io.BytesIO(content)) as file:
            parts = {name: file[name] for name in PARTS}
            is_whole = file["checksum"] == _checksum(parts)
    except Exception as error:  # damaged archives fail in too many ways to list
        raise _damaged(path) from error
    if not is_whole:
        raise _damaged(path)
    ends = np.cumsum(parts["lengths"])
    stored = np.split(parts["integers"], ends[:-1])
    lists = (
        (np.cumsum(some) if ascending else some).tolist()
        for some, ascending in zip(stored, parts["is_sorted"], strict=False)
    )
    return json.loads(
        parts["text"].tobytes(),
        object_hook=lambda found: next(lists) if found == MARK else found,
    )


def _take_lists(value: Any, lists: list[list[int]]) -> Any:
    """Copy a value with its long lists of integers replaced by the mark."""
    if isinstance(value, dict):
        return {name: _take_lists(one, lists) for name, one in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > SHORT and all(type(one) is int and 0 <= one < 2**63 for one in value):
        lists.append(value)
        return MARK
    return [_take_lists(one, lists) for one in value]


def _smallest(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def _checksum(parts: dict[str, NDArray[Any]]) -> str:
    found = hashlib.sha256()
    for name in PARTS:
        found.update(parts[name].tobytes())
    return found.hexdigest()


def _damaged(path: Path) -> ValueError:
    return ValueError(
        f"{path} is damaged or was cut short and cannot be read; restore it (git restore {path}), "
        "or delete it to compute all of its cells again."
    )
