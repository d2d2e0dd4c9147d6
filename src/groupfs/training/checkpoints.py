"""Checkpoints: finished work and the state of training in a folder, so that a kill costs little.

Files are written aside, brought to the disk and renamed. Each holds arrays and plain facts, never
code, behind a checksum that also covers what it is and which problem it belongs to: what does not
fit is not taken. Every problem, told by a digest of its table and settings, has its own folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groupfs.utils.atomic_files import OutputError, write_file
from groupfs.utils.warn import CheckpointWarning, warn

#: Seconds between two states of one training run, at least, and the share of time they may take.
SAVE_EVERY, SAVE_SHARE = 1.0, 0.05
HEADER = b"groupfs checkpoint 1\n"
ENDING = ".checkpoint"
#: Where among the arrays of a file its facts are.
FACTS = "facts"
#: What files of ours that are being written, and folders of problems, are called.
ASIDE = re.compile(r"\.[0-9a-f]{8}-.*\.checkpoint")
PROBLEM = re.compile(r"[0-9a-f]{32}")

Result = TypeVar("Result")


@dataclass
class State:
    """Something to be kept: arrays, and facts that json can hold."""

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def joined(cls, **parts: State) -> State:
        """Several states as one; :meth:`part` gives them back."""
        return cls(
            {f"{name}/{key}": a for name, part in parts.items() for key, a in part.arrays.items()},
            {name: part.facts for name, part in parts.items()},
        )

    def part(self, name: str) -> State:
        start = f"{name}/"
        own = {key: a for key, a in self.arrays.items() if key.startswith(start)}
        return State({key.removeprefix(start): a for key, a in own.items()}, self.facts[name])


@dataclass(frozen=True)
class Checkpoint:
    """The folder of one problem.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from groupfs.training.checkpoints import State, open_checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = open_checkpoint(folder, digest="0" * 32)
    ...     checkpoint.save("part-0", State({"gates": np.ones(3)}, {"epochs": 8}))
    ...     kept = checkpoint.load("part-0")
    >>> kept.facts, kept.arrays["gates"].tolist()
    ({'epochs': 8}, [1.0, 1.0, 1.0])
    """

    folder: Path
    digest: str

    def path(self, name: str) -> Path:
        return self.folder / f"{name}{ENDING}"

    def load(self, name: str) -> State | None:
        """What was kept under a name; None, with a warning, if it is damaged."""
        path = self.path(name)
        try:
            state = _decoded(path.read_bytes(), f"{self.digest} {name}")
        except FileNotFoundError:
            return None
        except OSError as reason:
            _warn(
                f"{path} cannot be read ({_why(reason)}) and was ignored: its work is done again."
            )
            return None
        if state is None:
            _warn(f"{path} is damaged and was ignored: its work is done again.")
        return state

    def save(self, name: str, state: State) -> None:
        """Keep something under a name; a warning, if that fails."""
        path = self.path(name)
        content = _encoded(state, f"{self.digest} {name}")
        try:
            write_file(path, lambda aside: aside.write_bytes(content))
        except OutputError as reason:
            _warn(
                f"{path} could not be written ({_why(reason.__cause__ or reason)}); the fit goes "
                "on, but if it is killed this work is lost."
            )

    def recall(
        self,
        name: str,
        compute: Callable[[], Result],
        pack: Callable[[Result], State],
        unpack: Callable[[State], Result],
    ) -> Result:
        """A result that was kept under a name, or else computed and kept now."""
        state = self.load(name)
        if state is not None:
            return unpack(state)
        result = compute()
        self.save(name, pack(result))
        return result

    def forget(self, name: str) -> None:
        with contextlib.suppress(OSError):
            self.path(name).unlink()

    def remove(self) -> None:
        """Remove what was kept of this problem, and nothing else."""
        with contextlib.suppress(OSError):
            for path in self.folder.iterdir():
                if path.name.endswith(ENDING):
                    path.unlink(missing_ok=True)
            self.folder.rmdir()


class Keeper:
    """Keeps the state of one training run every now and then."""

    def __init__(self, checkpoint: Checkpoint, name: str) -> None:
        self.checkpoint, self.name = checkpoint, name
        self.due = time.monotonic() + SAVE_EVERY

    def last(self) -> State | None:
        return self.checkpoint.load(self.name)

    def offer(self, take: Callable[[], State]) -> None:
        """Keep the state that ``take`` gives, unless it is too soon after the last one."""
        began = time.monotonic()
        if began >= self.due:
            self.checkpoint.save(self.name, take())
            ended = time.monotonic()
            self.due = ended + max(SAVE_EVERY, (ended - began) / SAVE_SHARE)


def open_checkpoint(folder: str | os.PathLike[str], digest: str) -> Checkpoint:
    """The checkpoint of a problem in a folder; damaged files are reported and removed."""
    outer = Path(folder).expanduser().absolute()
    checkpoint = Checkpoint(outer / digest, digest)
    try:
        checkpoint.folder.mkdir(parents=True, exist_ok=True)
        for path in checkpoint.folder.iterdir():
            if ASIDE.fullmatch(path.name):  # a kill came while it was written
                path.unlink(missing_ok=True)
        write_file(checkpoint.path("opened"), lambda aside: aside.write_bytes(b""))
        checkpoint.forget("opened")
    except OSError as reason:
        raise OutputError(
            f"checkpoint={str(folder)!r}: the folder cannot be written "
            f"({_why(reason.__cause__ or reason)}); choose a folder you may write to."
        ) from reason
    others = [p for p in outer.iterdir() if PROBLEM.fullmatch(p.name) and p.name != digest]
    if others:
        _warn(
            f"checkpoint={str(folder)!r} holds checkpoints of another table or other settings "
            f"({len(others)}), which were left alone; remove them if they are no longer needed."
        )
    for path in _kept(checkpoint):
        if _decoded(path.read_bytes(), f"{digest} {path.name.removesuffix(ENDING)}") is None:
            _warn(f"{path} is damaged and was ignored: its work is done again.")
            path.unlink(missing_ok=True)
    return checkpoint


def _kept(checkpoint: Checkpoint) -> Iterator[Path]:
    return iter(sorted(p for p in checkpoint.folder.iterdir() if p.name.endswith(ENDING)))


def _encoded(state: State, label: str) -> bytes:
    buffer = io.BytesIO()
    facts = np.frombuffer(json.dumps(state.facts).encode(), dtype=np.uint8)
    contents: dict[str, Any] = {**state.arrays, FACTS: facts}
    np.savez(buffer, **contents)
    payload = buffer.getvalue()
    return HEADER + _checksum(payload, label) + payload


def _decoded(content: bytes, label: str) -> State | None:
    """The state in a file's content; None if it is not exactly what was written."""
    start = len(HEADER) + hashlib.sha256().digest_size
    payload = content[start:]
    if content[:start] != HEADER + _checksum(payload, label):
        return None
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as stored:
            arrays = dict(stored)
        return State(arrays, json.loads(arrays.pop(FACTS).tobytes()))
    except (ValueError, KeyError, zipfile.BadZipFile):  # made by others, with a fitting checksum
        return None


def _checksum(payload: bytes, label: str) -> bytes:
    return hashlib.sha256(label.encode() + b"\n" + payload).digest()


def _why(reason: BaseException) -> str:
    return str(getattr(reason, "strerror", None) or reason).lower()


def _warn(sentence: str) -> None:
    warn(sentence, CheckpointWarning)
