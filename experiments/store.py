"""Finished cells of an experiment, one json line each: nothing finished is computed again.

A line is on the disk before the next cell is asked for, so a run that is killed loses at most the
cells in work. Each line has a checksum; one that was cut short or damaged is ignored with a warning
and its cell computed again. Older lines have no checksum and need only be json.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from tqdm import tqdm

from groupfs.utils.atomic_files import write_file

RESULTS = Path(__file__).parent / "results"
CHECKSUM = "checksum"
PACKAGES = ("groupfs", "numpy", "scipy", "scikit-learn", "torch")

#: what makes a cell the cell it is: experiment-specific names and values
Key = dict[str, Any]


class Store:
    """The cells of one experiment that are finished.

    Parameters
    ----------
    path : Path
        File with one json line per cell: ``{"key": {...}, ...}``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.damaged = False
        self.records = self._read()

    def __contains__(self, key: Key) -> bool:
        return _name(key) in self.records

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.records.values())

    def add(self, record: dict[str, Any]) -> None:
        """Append a finished cell, safely on disk when this returns."""
        if self.damaged:  # what was ignored must not stand before it
            self.rewrite(self.records.values())
        with self.path.open("ab") as file:
            file.write(_line(record))
            file.flush()
            os.fsync(file.fileno())
        self.records[_name(record["key"])] = record

    def rewrite(self, records: Iterable[dict[str, Any]]) -> None:
        """Keep these cells and no others."""
        content = b"".join(map(_line, records))
        write_file(self.path, lambda aside: aside.write_bytes(content))
        self.records, self.damaged = self._read(), False

    def _read(self) -> dict[str, dict[str, Any]]:
        if not self.path.exists():
            return {}
        *lines, rest = self.path.read_bytes().split(b"\n")
        found = _records(lines)
        bad = [place for place, record in enumerate(found, 1) if record is None]
        bad += [len(lines) + 1] if rest else []
        self.damaged = bool(bad)
        for place in bad:
            warnings.warn(
                f"{self.path}, line {place}, is damaged or was cut short and is ignored; its cell "
                "is computed again.",
                UserWarning,
                stacklevel=3,
            )
        return {_name(record["key"]): record for record in found if record is not None}


def run(
    name: str,
    cells: Iterable[Key],
    compute: Callable[[Key], dict[str, Any]],
    results: Path = RESULTS,
    n_jobs: int | None = None,
) -> Store:
    """Compute the cells that are not finished, through joblib's current backend, and store them."""
    store = Store(results / f"{name}.jsonl")
    todo = [key for key in cells if key not in store]
    tasks = (delayed(_timed)(compute, key) for key in todo)
    done = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks)
    for record in tqdm(done, total=len(todo), desc=name, unit="cell"):
        store.add(record)
    return store


def write_csv(store: Store, path: Path, leave_out: Iterable[str] = ("selected",)) -> None:
    """Write one row per cell: its key and plain values; long lists stay in the json."""
    rows = [{**r["key"], **{k: v for k, v in r.items() if k != "key"}} for r in store]
    rows = [{k: v for k, v in row.items() if not isinstance(v, (dict, list))} for row in rows]
    names = list(dict.fromkeys(name for row in rows for name in row if name not in leave_out))

    def write(aside: Path) -> None:
        with aside.open("w", newline="") as file:
            writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(rows, key=lambda row: [str(row.get(name)) for name in names]))

    write_file(path, write)


def machine(device: str) -> dict[str, Any]:
    """Name the versions and the machine a figure comes from."""
    import torch

    cuda = torch.cuda.get_device_name() if device == "cuda" else None
    versions = {package: version(package) for package in PACKAGES if _installed(package)}
    return {"device": cuda or platform.machine(), "python": platform.python_version(), **versions}


def _installed(package: str) -> bool:
    try:
        version(package)
    except ModuleNotFoundError:
        return False
    return True


def _line(record: dict[str, Any]) -> bytes:
    """Write a record with its checksum, which is that of the line without it."""
    plain = json.dumps(record)
    return f'{plain[:-1]}, "{CHECKSUM}": "{_checksum(plain)}"}}\n'.encode()


def _records(lines: Iterable[bytes]) -> list[dict[str, Any] | None]:
    """Read the records of lines; None for those that are not what was written.

    Lines without a checksum are older ones: they stand before all others.
    """
    records, is_old = [], True
    for line in lines:
        try:
            record = json.loads(line)
            checksum = record.pop(CHECKSUM, None)
            is_whole = checksum == _checksum(json.dumps(record)) or (checksum is None and is_old)
            is_old &= checksum is None
            records.append(record if is_whole and isinstance(record["key"], dict) else None)
        except (ValueError, AttributeError, KeyError, TypeError):
            records.append(None)
    return records


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _timed(compute: Callable[[Key], dict[str, Any]], key: Key) -> dict[str, Any]:
    began = time.perf_counter()
    values = compute(key)
    return {"key": key, **values, "seconds": round(time.perf_counter() - began, 3)}


def _name(key: Key) -> str:
    return json.dumps(key, sort_keys=True)
