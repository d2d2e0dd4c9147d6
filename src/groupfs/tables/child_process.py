"""Read a file in a child process with bounds of memory and time.

The parsers of mat, h5ad, feather and parquet files are other people's, and damaged or crafted files
can crash them, hang them or have them fill the memory. In a child process that ends in one sentence
instead of the user's session. What the child has read comes back through files in a temporary
folder: arrays as npy, sparse matrices as npz, frames as Arrow, text as json; never as pickle.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from groupfs.tables.file_content import Content, beyond_memory, broken
from groupfs.tables.table import TableError

#: Reads the file at a path that is called by a source, to named parts: numpy arrays, scipy sparse
#: arrays, Arrow tables and lists of str.
Parser = Callable[[str, str], dict[str, Any]]
#: Seconds that reading may take: to start with, and for every byte of the file.
SECONDS, SECONDS_PER_BYTE = 60.0, 1e-6
#: Names of files beside the parts: how it ended, and the content of a file that has no path.
OUTCOME, INPUT = "outcome.json", "input"


def parse_in_child(
    parse: Parser,
    content: Content,
    *,
    imports: Sequence[str] = (),
    extra: str = "cli",
    max_seconds: float | None = None,
) -> dict[str, Any]:
    """Call a parser of a file in a child process, and return the parts that it found.

    Parameters
    ----------
    parse : callable
        A function of a module, called with the path of the file and what to call it.
    content : Content
        The file, and how many bytes it may take.
    imports : sequence of str
        Modules that the parser needs; they are imported before memory is limited.
    extra : str
        The extra of groupfs that installs them.
    max_seconds : float or None, default=None
        None allows a minute, and a second more for every megabyte.

    Raises
    ------
    TableError
        With one sentence, if the parser fails, crashes, hangs or needs too much memory.
    """
    if max_seconds is None:
        max_seconds = SECONDS + SECONDS_PER_BYTE * content.size
    with tempfile.TemporaryDirectory(prefix="groupfs-") as name:
        folder = Path(name)
        path = content.path or folder / INPUT
        if content.path is None:
            path.write_bytes(content.data)
        function = f"{parse.__module__}:{parse.__name__}"
        arguments = [function, path.absolute(), content.source, folder, str(content.max_bytes)]
        code = _run([*map(str, arguments), *imports], content, max_seconds)
        outcome = _read_outcome(folder)
        if "parts" in outcome:
            return {name: _read_part(kind, folder / file) for name, kind, file in outcome["parts"]}
    if code == -signal.SIGKILL:  # the system is out of memory
        outcome = {"problem": "memory"}
    raise _error(content, extra, code, **outcome)


def _run(arguments: list[str], content: Content, max_seconds: float) -> int:
    """Run this module as a program, and return its exit status."""
    # the child imports what we would, and no module that lies beside the data (-P)
    command = [sys.executable, "-P", "-m", "groupfs.tables.child_process", *arguments]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "OMP_NUM_THREADS": "1",
    }
    none = subprocess.DEVNULL
    try:
        return subprocess.run(
            command, env=environment, timeout=max_seconds, stdin=none, stdout=none, stderr=none
        ).returncode
    except subprocess.TimeoutExpired as reason:
        raise TableError(
            f"{content.source} took longer than {max_seconds:g} s to read, so it was given up; it "
            "is damaged or very slow to reach."
        ) from reason


def _read_outcome(folder: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):  # none was written if the parser crashed
        return dict(json.loads((folder / OUTCOME).read_text()))
    return {}


def _error(
    content: Content, extra: str, code: int, problem: str = "crash", reason: str = ""
) -> TableError:
    """Return the sentence for a problem of the child."""
    source = content.source
    if problem == "memory":
        return beyond_memory(content.max_bytes, source)
    if problem == "package":
        return TableError(
            f'Reading {source} needs {reason}; install it with pip install "groupfs[{extra}]".'
        )
    if problem == "crash":
        return TableError(
            f"{source} crashed its parser (exit status {code}), so it was not read; it is damaged "
            f"or no {content.kind} file."
        )
    return TableError(reason) if problem == "sentence" else broken(content, reason)


def _read_part(kind: str, path: Path) -> Any:
    if kind == "text":
        return json.loads(path.read_text())
    if kind == "array":
        return np.load(path, allow_pickle=False)
    if kind == "sparse":
        import scipy.sparse as sp

        return sp.load_npz(path)
    import pyarrow as pa

    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).read_all()


def _write_part(part: Any, path: Path) -> str:
    """Write a part to a file, and return its kind."""
    if isinstance(part, list):
        path.write_text(json.dumps(part))
        return "text"
    with path.open("wb") as file:
        if isinstance(part, np.ndarray):
            np.save(file, part, allow_pickle=False)
            return "array"
        if hasattr(part, "tocsr"):
            import scipy.sparse as sp

            sp.save_npz(file, part, compressed=False)
            return "sparse"
        import pyarrow as pa

        with pa.ipc.new_file(file, part.schema) as writer:
            writer.write_table(part)
        return "frame"


def _limit_memory(max_bytes: int) -> None:
    """Let this process take so many bytes more, where the system can be told."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        import psutil

        held = getattr(psutil.Process().memory_info(), "data", 0)
        most = min(held + max_bytes, sys.maxsize)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _outcome(function: str, path: str, source: str, folder: Path, max_bytes: int) -> dict[str, Any]:
    """Parse the file, write its parts, and return what there is or what went wrong."""
    module, name = function.split(":")
    parse: Parser = getattr(import_module(module), name)
    _limit_memory(max_bytes)
    try:
        parts = list(parse(path, source).items())
        kinds = [_write_part(part, folder / str(i)) for i, (_, part) in enumerate(parts)]
        return {"parts": [(parts[i][0], kind, str(i)) for i, kind in enumerate(kinds)]}
    except TableError as reason:
        return {"problem": "sentence", "reason": str(reason)}
    except Exception as reason:  # a damaged file may fail in any way
        words = str(reason) or type(reason).__name__
        no_memory = (
            isinstance(reason, MemoryError)
            or getattr(reason, "errno", 0) == errno.ENOMEM
            or "array is too big" in words  # numpy, of more bytes than can be numbered
        )
        return {"problem": "memory" if no_memory else "broken", "reason": words}


def main(function: str, path: str, source: str, folder: str, max_bytes: str, *imports: str) -> None:
    """Parse a file as the child process, and leave the outcome in a folder."""
    try:
        for name in imports:
            import_module(name)
        outcome = _outcome(function, path, source, Path(folder), int(max_bytes))
    except ImportError as reason:
        outcome = {"problem": "package", "reason": str(reason.name).partition(".")[0]}
    Path(folder, OUTCOME).write_text(json.dumps(outcome))


if __name__ == "__main__":
    main(*sys.argv[1:])
