"""Finished cells of an experiment: nothing finished is computed again.

While an experiment runs, each cell becomes a line of json in a journal, which is on the disk before
the next cell is asked for: a run that is killed loses at most the cells in work. Each line has a
checksum; one that was cut short or damaged is ignored with a warning and its cell computed again.
At the end of the run the journal is packed into one compressed file.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from tqdm import tqdm

from experiments.packing import read_packed, write_packed
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
        The packed file, ``NAME.npz``; the journal is ``NAME.jsonl`` beside it. A record is
        ``{"key": {...}, ...}``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = path.with_suffix(".jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        self.damaged = False
        self.records = self._read()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.records.values())

    def has(self, key: Key, fields: Collection[str] = ()) -> bool:
        """Tell whether a cell is finished, and with all of these values."""
        name = _name(key)
        return name in self.records and set(fields) <= self.records[name].keys()

    def add(self, record: dict[str, Any]) -> None:
        """Append a finished cell to the journal, safely on disk when this returns."""
        if self.damaged:  # what was ignored must not stand before it
            self.rewrite(self.records.values())
        with self.journal.open("ab") as file:
            file.write(_line(record))
            file.flush()
            os.fsync(file.fileno())
        self.records[_name(record["key"])] = record

    def rewrite(self, records: Iterable[dict[str, Any]]) -> None:
        """Keep these cells and no others, packed."""
        write_packed(self.path, records)
        self.journal.unlink(missing_ok=True)  # last: until here its cells are in both or in it
        self.records = self._read()

    def pack(self) -> None:
        """Move the cells of the journal into the packed file."""
        if self.journal.exists():
            # read again, since another run of the same experiment may have added to it
            self.rewrite(self._read().values())

    def _read(self) -> dict[str, dict[str, Any]]:
        packed = read_packed(self.path) if self.path.exists() else []
        lines, rest = [], b""
        if self.journal.exists():
            *lines, rest = self.journal.read_bytes().split(b"\n")
        added = [_record(line) for line in lines]
        bad = [place for place, record in enumerate(added, 1) if record is None]
        bad += [len(lines) + 1] if rest else []
        self.damaged = bool(bad)
        for place in bad:
            warnings.warn(
                f"{self.journal}, line {place}, is damaged or was cut short and is ignored; its "
                "cell is computed again.",
                UserWarning,
                stacklevel=3,
            )
        found = [*packed, *(record for record in added if record is not None)]
        return {_name(record["key"]): record for record in found}


def run(
    name: str,
    cells: Iterable[Key],
    compute: Callable[[Key], dict[str, Any]],
    results: Path = RESULTS,
    n_jobs: int | None = None,
    fields: Collection[str] = (),
) -> Store:
    """Compute the cells that are not finished, through joblib's current backend, and store them.

    A finished cell without one of the ``fields`` is computed again.
    """
    store = Store(results / f"{name}.npz")
    todo = [key for key in cells if not store.has(key, fields)]
    tasks = (delayed(_timed)(compute, key) for key in todo)
    done = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks)
    for record in tqdm(done, total=len(todo), desc=name, unit="cell"):
        store.add(record)
    store.pack()
    return store


def write_csv(store: Store, path: Path, leave_out: Iterable[str] = ("selected",)) -> None:
    """Write one row per cell: its key and plain values, without lists."""
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


def _record(line: bytes) -> dict[str, Any] | None:
    """Read a line; None if it is not what was written."""
    try:
        record = json.loads(line)
        is_whole = record.pop(CHECKSUM) == _checksum(json.dumps(record))
        return record if is_whole and isinstance(record["key"], dict) else None
    except (ValueError, AttributeError, KeyError, TypeError):
        return None


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _timed(compute: Callable[[Key], dict[str, Any]], key: Key) -> dict[str, Any]:
    began = time.perf_counter()
    values = compute(key)
    return {"key": key, **values, "seconds": round(time.perf_counter() - began, 3)}


def _name(key: Key) -> str:
    return json.dumps(key, sort_keys=True)
