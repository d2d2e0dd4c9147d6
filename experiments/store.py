"""Finished cells of an experiment: nothing finished is computed again.

While an experiment runs, each cell becomes a line of json in a journal, so that a run that is
killed loses at most the cells in work. At the end of the run the journal is packed into one
compressed file of numpy, which holds the text of all records.
"""

from __future__ import annotations

import contextlib
import json
import platform
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
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
        The packed file, ``NAME.npz``; the journal is ``NAME.jsonl`` beside it. A record is
        ``{"key": {...}, ...}``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = path.with_suffix(".jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        self.records = {_name(record["key"]): record for record in self._read()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.records.values())

    def has(self, key: Key, fields: Collection[str] = ()) -> bool:
        """Tell whether a cell is finished, and with all of these values."""
        name = _name(key)
        return name in self.records and set(fields) <= self.records[name].keys()

    def add(self, record: dict[str, Any]) -> None:
        """Append a finished cell to the journal."""
        with self.journal.open("a") as file:
            file.write(f"\n{json.dumps(record)}\n")  # the line before may have been cut short
        self.records[_name(record["key"])] = record

    def rewrite(self, records: Iterable[dict[str, Any]]) -> None:
        """Keep these cells and no others, packed."""
        self.records = {_name(record["key"]): record for record in records}
        text = json.dumps(list(self.records.values()), separators=(",", ":"))
        aside = self.path.with_suffix(".part.npz")
        np.savez_compressed(aside, text=np.frombuffer(text.encode(), np.uint8))
        aside.replace(self.path)
        self.journal.unlink(missing_ok=True)  # last: until here its cells are in both or in it

    def pack(self) -> None:
        """Move the cells of the journal into the packed file."""
        if self.journal.exists():
            self.rewrite(self.records.values())

    def _read(self) -> Iterator[dict[str, Any]]:
        if self.path.exists():
            with np.load(self.path) as file:
                yield from json.loads(file["text"].tobytes())
        if self.journal.exists():
            for line in self.journal.read_text().splitlines():
                with contextlib.suppress(ValueError):  # cut short: its cell is computed again
                    yield json.loads(line)


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


def machine(device: str) -> dict[str, Any]:
    """Name the versions and the machine a figure comes from."""
    import torch

    cuda = torch.cuda.get_device_name() if device == "cuda" else None
    facts = {"device": cuda or platform.machine(), "python": platform.python_version()}
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:  # run from its source folder
            continue
    return facts


def _timed(compute: Callable[[Key], dict[str, Any]], key: Key) -> dict[str, Any]:
    began = time.perf_counter()
    values = compute(key)
    return {"key": key, **values, "seconds": round(time.perf_counter() - began, 3)}


def _name(key: Key) -> str:
    return json.dumps(key, sort_keys=True)
