"""Read a file in a child process with bounds of memory and time.

The parsers of mat, h5ad, feather, parquet, xlsx and sav files are other people's, and damaged or
crafted files can crash them, hang them or have them fill the memory. In a child process that ends
in one sentence instead of the user's session. What the child has read comes back through files in a
temporary folder: arrays as npy, sparse matrices as npz, frames as Arrow; never as pickle.
"""

import contextlib
import errno
import json
import os
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
from groupfs.utils.errors import ParameterError

#: Reads the file at a path that is called by a source, to named parts: numpy arrays, scipy sparse
#: arrays and Arrow tables.
Parser = Callable[..., dict[str, Any]]
#: Packages that parsers need, and the extra of groupfs that brings each.
EXTRAS = {
    "openpyxl": "excel",
    "pyreadstat": "spss",
    "anndata": "anndata",
    "h5py": "anndata",
    "pandas": "cli",
    "pyarrow": "cli",
}
#: Exit status of a process that the system has killed (SIGKILL, a name that Windows has not).
KILLED = -9
#: Name of the file in which the child says which parts there are, or what went wrong.
OUTCOME = "outcome.json"


def parse_in_child(
    parse: Parser, content: Content, imports: Sequence[str], **options: Any
) -> dict[str, Any]:
    """Call a parser of a file in a child process, and return the parts that it found.

    The parser is a function of a module; the modules it needs are imported before memory is
    limited. If it fails, crashes, hangs or needs too much memory, a TableError says so; if a
    package is missing an ImportError, and if an option does not fit the file a ParameterError.
    """
    with tempfile.TemporaryDirectory(prefix="groupfs-") as folder:
        path = content.path or Path(folder, "input")
        if content.path is None:
            path.write_bytes(content.data)
        max_seconds = content.max_seconds or 60 + path.stat().st_size / 1e6
        function = f"{parse.__module__}:{parse.__name__}"
        what = [function, str(path.absolute()), content.source, folder, str(content.max_bytes)]
        what.append(json.dumps(options))
        try:
            code = _run([*what, *imports], max_seconds)
            outcome = json.loads(Path(folder, OUTCOME).read_text())
        except subprocess.TimeoutExpired:
            outcome = {"problem": "time", "reason": f"{max_seconds:g} s"}
        except (OSError, ValueError):  # it left no outcome; the system kills if memory runs out
            outcome = {"problem": "memory" if code == KILLED else "crash", "reason": str(code)}
        if "parts" in outcome:
            return {name: _read_part(Path(folder, file)) for name, file in outcome["parts"]}
    raise _error(content, **outcome)


def _run(arguments: list[str], max_seconds: float) -> int:
    # the child imports what we would, and no module that lies beside the data (-P)
    command = [sys.executable, "-P", "-m", "groupfs.tables.child_process", *arguments]
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    none = subprocess.DEVNULL
    return subprocess.run(
        command, env=environment, timeout=max_seconds, stdin=none, stdout=none, stderr=none
    ).returncode


def _error(content: Content, problem: str, reason: str, parameter: str = "") -> Exception:
    source = content.source
    if problem == "parameter":
        return ParameterError(reason, parameter)
    if problem == "package":
        what = f'"groupfs[{EXTRAS[reason]}]"' if reason in EXTRAS else reason
        return ImportError(f"Reading {source} needs {reason}; install it with pip install {what}.")
    if problem == "memory":
        return beyond_memory(content.max_bytes, source)
    if problem == "broken":
        return broken(content, reason)
    sentences = {
        "time": f"{source} took longer than {reason} to read, so it was given up; it is damaged or "
        "very slow to reach.",
        "crash": f"{source} crashed its parser (exit status {reason}), so it was not read; it is "
        f"damaged or no {content.kind} file.",
    }
    return TableError(sentences.get(problem, reason))


def _read_part(path: Path) -> Any:
    if path.suffix == ".npy":
        return np.load(path, allow_pickle=False)
    if path.suffix == ".npz":
        import scipy.sparse as sp

        return sp.load_npz(path)
    from pyarrow import feather

    return feather.read_table(path, memory_map=False)


def _write_part(part: Any, path: Path) -> str:
    """Write a part to a file, and return the name of the file, whose ending tells the kind."""
    if isinstance(part, np.ndarray):
        path = path.with_suffix(".npy")
        np.save(path, part, allow_pickle=False)
    elif hasattr(part, "tocsr"):
        import scipy.sparse as sp

        path = path.with_suffix(".npz")
        sp.save_npz(path, part, compressed=False)
    else:
        from pyarrow import feather

        path = path.with_suffix(".feather")
        feather.write_feather(part, path, compression="uncompressed")
    return path.name


def _limit_memory(max_bytes: int) -> None:
    """Let this process take so many bytes more, where the system can be told."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        import psutil

        held = getattr(psutil.Process().memory_info(), "data", 0)
        most = min(held + max_bytes, sys.maxsize)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _problem(error: Exception) -> tuple[str, str]:
    """Return what kind of problem an error is, and its reason."""
    reason = str(error) or type(error).__name__
    if isinstance(error, ModuleNotFoundError):
        return "package", str(error.name).partition(".")[0]
    if isinstance(error, TableError):
        return "sentence", reason
    if isinstance(error, ParameterError):
        return "parameter", reason
    no_memory = isinstance(error, MemoryError) or getattr(error, "errno", 0) == errno.ENOMEM
    # numpy says so of more bytes than can be numbered
    return "memory" if no_memory or "array is too big" in reason else "broken", reason


def main(
    function: str,
    path: str,
    source: str,
    folder: str,
    max_bytes: str,
    options: str,
    *imports: str,
) -> None:
    """Parse a file as the child process, and leave its parts and the outcome in a folder."""
    outcome: dict[str, Any] = {}
    try:
        for name in imports:
            import_module(name)
        module, name = function.split(":")
        parse: Parser = getattr(import_module(module), name)
        _limit_memory(int(max_bytes))
        parts = parse(path, source, **json.loads(options)).items()
        outcome["parts"] = [
            (name, _write_part(part, Path(folder, str(i)))) for i, (name, part) in enumerate(parts)
        ]
    except Exception as error:  # a damaged file may fail in any way
        outcome["problem"], outcome["reason"] = _problem(error)
        if isinstance(error, ParameterError):
            outcome["parameter"] = error.parameter
    Path(folder, OUTCOME).write_text(json.dumps(outcome))


if __name__ == "__main__":
    main(*sys.argv[1:])
