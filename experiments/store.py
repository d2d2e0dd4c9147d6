"""Finished cells of an experiment, one json line each: nothing finished is computed again.

A line is written whole and flushed to disk before the next cell begins, so a run that is killed
loses at most the cells in work; a last line that was cut short is ignored and overwritten.
"""

from __future__ import annotations

import csv
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from tqdm import tqdm

RESULTS = Path(__file__).parent / "results"
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
        self.records = self._read()

    def __contains__(self, key: Key) -> bool:
        return _name(key) in self.records

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.records.values())

    def add(self, record: dict[str, Any]) -> None:
        """Append a finished cell, safely on disk when this returns."""
        with self.path.open("ab") as file:
            file.write(json.dumps(record).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.records[_name(record["key"])] = record

    def _read(self) -> dict[str, dict[str, Any]]:
        if not self.path.exists():
            return {}
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
        records = (json.loads(line) for line in whole.splitlines())
        return {_name(record["key"]): record for record in records}


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
    """One row per cell: its key and whatever is a plain value; long lists stay in the json."""
    rows = [{**r["key"], **{k: v for k, v in r.items() if k != "key"}} for r in store]
    rows = [{k: v for k, v in row.items() if not isinstance(v, (dict, list))} for row in rows]
    names = list(dict.fromkeys(name for row in rows for name in row if name not in leave_out))
    aside = path.with_suffix(".part")
    with aside.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: [str(row.get(name)) for name in names]))
    os.replace(aside, path)


def machine(device: str) -> dict[str, Any]:
    """Versions and the machine a figure comes from."""
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


def _timed(compute: Callable[[Key], dict[str, Any]], key: Key) -> dict[str, Any]:
    began = time.perf_counter()
    values = compute(key)
    return {"key": key, **values, "seconds": round(time.perf_counter() - began, 3)}


def _name(key: Key) -> str:
    return json.dumps(key, sort_keys=True)
