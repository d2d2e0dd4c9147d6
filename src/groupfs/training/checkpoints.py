"""Keep finished parts of a long fit in a folder, so that a killed fit goes on with the next part.

Every part is a file of arrays, never of code, behind a checksum that also covers its name and the
fit it belongs to: what does not match is not used. Every fit, told by a fingerprint of its table
and settings, has a folder of its own.
"""

import contextlib
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from groupfs.data.feature_rows import FeatureRows
from groupfs.data.rows import DenseRows, Rows, SparseRows
from groupfs.data.table import Table
from groupfs.training.history import History
from groupfs.training.run import Trained
from groupfs.training.settings import Settings
from groupfs.utils.atomic_files import OutputError, write_file
from groupfs.utils.device import DTYPE
from groupfs.utils.versions import installed_version
from groupfs.utils.warn import CheckpointWarning, warn

HEADER = b"groupfs checkpoint 2\n"
ENDING = ".checkpoint"
PACKAGES = ("groupfs", "numpy", "scipy", "scikit-learn", "torch")
#: Rows that stand for a table which is not in memory, beside the norms of its columns.
SAMPLED_ROWS = 256

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Checkpoint:
    """The folder of one fit.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from groupfs.training.checkpoints import open_checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = open_checkpoint(folder, fingerprint="0" * 32)
    ...     checkpoint.save("part-0", {"gates": np.ones(3)})
    ...     stored = checkpoint.load("part-0")
    >>> stored["gates"].tolist()
    [1.0, 1.0, 1.0]
    """

    folder: Path
    fingerprint: str

    def load(self, name: str) -> Arrays | None:
        """Read a part; None, with a warning if the file is damaged."""
        path = self._path(name)
        try:
            return self._decode(path.read_bytes(), name)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as reason:
            warn(
                f"{path} cannot be used ({_why(reason)}) and was ignored: its work is done again.",
                CheckpointWarning,
            )
            return None

    def save(self, name: str, arrays: Arrays) -> None:
        """Write a part; a warning if that fails."""
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        content = HEADER + self._checksum(buffer.getvalue(), name) + buffer.getvalue()
        path = self._path(name)
        try:
            write_file(path, lambda aside: aside.write_bytes(content))
        except OutputError as reason:
            warn(
                f"{path} could not be written ({_why(reason.__cause__ or reason)}); the fit goes "
                "on, but if it is killed this work is lost.",
                CheckpointWarning,
            )

    def remove(self) -> None:
        """Remove what was kept of this fit, and nothing else."""
        with contextlib.suppress(OSError):
            for path in self.folder.glob(f"*{ENDING}"):
                path.unlink(missing_ok=True)
            self.folder.rmdir()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{ENDING}"

    def _checksum(self, payload: bytes, name: str) -> bytes:
        return hashlib.sha256(f"{self.fingerprint} {name}\n".encode() + payload).digest()

    def _decode(self, content: bytes, name: str) -> Arrays:
        start = len(HEADER) + hashlib.sha256().digest_size
        payload = content[start:]
        if content[:start] != HEADER + self._checksum(payload, name):
            raise ValueError("damaged")
        with np.load(io.BytesIO(payload), allow_pickle=False) as stored:
            return dict(stored)


def open_checkpoint(folder: str | os.PathLike[str], fingerprint: str) -> Checkpoint:
    """Open the folder of a fit, and make sure that it can be written to."""
    outer = Path(folder).expanduser().absolute()
    checkpoint = Checkpoint(outer / fingerprint, fingerprint)
    try:
        checkpoint.folder.mkdir(parents=True, exist_ok=True)
        probe = checkpoint.folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as reason:
        raise OutputError(
            f"checkpoint={str(folder)!r}: the folder cannot be written ({_why(reason)}); choose a "
            "folder you may write to."
        ) from reason
    others = [path for path in outer.iterdir() if path.name != fingerprint and path.is_dir()]
    if others:
        warn(
            f"checkpoint={str(folder)!r} holds checkpoints of another table or other settings "
            f"({len(others)}), which were left alone; remove them if they are no longer needed.",
            CheckpointWarning,
        )
    return checkpoint


def fingerprint(
    table: Table, settings: Settings, facts: dict[str, Any], device: torch.device
) -> str:
    """Name a table and all that its fit depends on, by 32 hexadecimal digits.

    ``facts`` are those besides the settings, as json can hold them.
    """
    matters = {**asdict(settings), **facts, "device": device.type, "shape": table.rows.shape}
    del matters["verbose"]
    # how much of a streamed table is held decides which rows meet in a batch
    matters["plan"] = repr(table.rows.plan)
    matters["versions"] = [installed_version(package) for package in PACKAGES]
    found = hashlib.blake2b(json.dumps(matters, sort_keys=True, default=str).encode())
    found.update(table.columns.tobytes())
    for array in _content(table.rows, device):
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()[:32]


def pack_trained(trained: Trained) -> Arrays:
    """Turn one run into arrays."""
    (history,) = trained.histories
    arrays = {f"history.{field.name}": getattr(history, field.name) for field in fields(history)}
    names = ("sparsity_weights", "logits", "gates", "loss", "gain", "terms")
    return arrays | {name: getattr(trained, name) for name in names}


def unpack_trained(arrays: Arrays) -> Trained:
    """Turn arrays back into a run."""
    history = {name[8:]: a for name, a in arrays.items() if name.startswith("history.")}
    others = {name: a for name, a in arrays.items() if not name.startswith("history.")}
    return Trained(**others, histories=[History(**history)], interrupted=False)


def _content(rows: Rows, device: torch.device) -> Iterator[NDArray[Any]]:
    """Yield arrays that tell one table from another: all of it where it is in memory."""
    if isinstance(rows, DenseRows):
        yield rows.Z
    elif isinstance(rows, FeatureRows):
        yield from (rows.Z, rows.basis.E, rows.owner)
    elif isinstance(rows, SparseRows):
        yield from (rows.X.data, rows.X.indices, rows.X.indptr, rows.mean, rows.scale)
    else:
        yield rows.column_norms
        rows.to(device, DTYPE)
        index = np.linspace(0, rows.shape[0] - 1, min(rows.shape[0], SAMPLED_ROWS))
        yield rows.take(torch.from_numpy(index.astype(np.int64))).cpu().numpy()


def _why(reason: BaseException) -> str:
    return str(getattr(reason, "strerror", None) or reason).lower()
