"""Versions of the library, each run from a source folder of its own in processes of their own.

No timings are chosen or printed here: ``benchmarks.releases`` does that. Workers run this file, so
it imports nothing of the library or of the benchmarks but where a worker needs it.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[1]
#: Rows of a piece of a dask array.
CHUNK = 100
IMPORT = "import time; began = time.perf_counter(); from groupfs import GroupFS, GroupFSPath"
COLD = """import numpy as np
from groupfs import GroupFS
with np.load({file!r}) as arrays:
    GroupFS(random_state=0, device="cpu").fit(arrays["X"])
"""


class WorkerFailed(RuntimeError):
    """A version could not do what was asked; the last line of its errors says why."""


# In a worker: the version in the folder that PYTHONPATH names.


def serve(source: str, file: str) -> None:
    """Warm up, then do what each line of the input asks for and answer with seconds."""
    import groupfs

    check_source(groupfs, source)
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    small = rng.standard_normal((99, 3)).repeat(4, axis=1) + rng.standard_normal((99, 12))
    with redirect_stdout(sys.stderr):
        groupfs.GroupFS(max_epochs=2, random_state=0, device="cpu").fit(small)
        X = read(file)
    print("ready", flush=True)
    for line in sys.stdin:
        with redirect_stdout(sys.stderr):
            seconds = timed(X, line.strip())
        print(seconds, flush=True)


def check_source(groupfs: Any, source: str) -> None:
    if not Path(groupfs.__file__).resolve().is_relative_to(source):
        raise SystemExit(f"groupfs was found in {groupfs.__file__}, not in {source}.")


def timed(X: Any, what: str) -> float:
    """Time one fit, of a table as it is or in pieces of dask."""
    from groupfs import GroupFS, GroupFSPath

    if what == "dask":
        import dask.array

        X = dask.array.from_array(X, chunks=(CHUNK, X.shape[1]))
    estimator = (GroupFSPath if what == "path" else GroupFS)(random_state=0, device="cpu")
    began = time.perf_counter()
    estimator.fit(X)
    return time.perf_counter() - began


def read(file: str) -> Any:
    with np.load(file) as arrays:
        if "X" in arrays:
            return arrays["X"]
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        return sp.csr_array(parts, shape=tuple(arrays["shape"]))


# On this side: who asks them.


class Version:
    """A source folder that is run in processes of their own."""

    def __init__(self, source: Path) -> None:
        self.source = source.resolve()
        self.environment = {**os.environ, "PYTHONPATH": str(self.source)}

    @contextmanager
    def worker(self, file: Path) -> Iterator[Callable[[str], float]]:
        """Start a process that has read a table; give what asks it for seconds."""
        command = [sys.executable, "-P", __file__, str(self.source), str(file)]
        with tempfile.TemporaryFile("w+") as errors:
            options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            options |= {"stderr": errors, "text": True, "env": self.environment}
            with subprocess.Popen(command, **options) as process:

                def answer() -> str:
                    line = process.stdout.readline()
                    if not line:
                        errors.seek(0)
                        raise WorkerFailed(last_line(errors.read()))
                    return line

                def ask(what: str) -> float:
                    process.stdin.write(f"{what}\n")
                    process.stdin.flush()
                    return float(answer())

                try:
                    answer()  # ready
                    yield ask
                finally:
                    process.kill()

    def once(self, what: str, file: Path) -> float:
        """Time a fresh process: its import of the library, or its start, import and first fit."""
        check = f"import groupfs; assert groupfs.__file__.startswith({str(self.source)!r})"
        code = f"{IMPORT}\nprint(time.perf_counter() - began)"
        if what == "cold":
            code = f"{COLD.format(file=str(file))}import time; print(time.time())"
        command = [sys.executable, "-P", "-W", "ignore", "-c", f"{code}\n{check}"]
        began = time.time()
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        if done.returncode:
            raise WorkerFailed(last_line(done.stderr))
        return float(last_line(done.stdout)) - (began if what == "cold" else 0)


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


def export(commit: str | None, folder: Path) -> Version:
    """Copy the source folder of a commit, or of the working tree."""
    if commit is None:
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        return Version(shutil.copytree(ROOT / "src", folder / "src", ignore=ignored))
    command = ["git", "-C", str(ROOT), "archive", commit, "src"]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        raise SystemExit(f"There is no commit {commit} here: {last_line(done.stderr.decode())}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return Version(folder / "src")


if __name__ == "__main__":
    serve(*sys.argv[1:])
