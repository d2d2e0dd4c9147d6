"""This version beside an older one in one run: seconds of fits, of paths, and of the import.

``python -m benchmarks.releases COMMIT`` fits every table with the source folders of the commit and
of the working tree, copied when the run begins. Each version has a process of its own for each
table; after a small fit to warm up, old and new take turns, so that noise of the machine hits both,
and the fastest counts. The ratio is how many times faster this version is. Tables are drawn or read
once, so older versions need not know them. Threads are those of the environment.

``python -m benchmarks.releases --guard`` (``make bench``) takes a few minutes: some timings beside
the last release. The status is 1 if one takes more than 1.3 times as long as before, or breaks.
"""

from __future__ import annotations

import argparse
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
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

# groupfs and benchmarks are imported where they are used: workers run this file with an older one.

ROOT = Path(__file__).resolve().parents[1]
#: What the guard compares with as long as there is no tag.
LAST_RELEASE = "a9c816d"
TABLES = ("two_moons", "bfi", "heart_disease", "yale", "metabric", "nmnist38", "allaml")
#: What the guard times: a table and what is done with it.
GUARDED = (
    *(("two_moons", "fit"), ("bfi", "fit"), ("heart_disease", "fit"), ("yale", "fit")),
    *(("allaml", "fit"), ("two_moons", "path"), ("two_moons", "dask"), ("two_moons", "import")),
)
#: The guard fails if a timing is this many times longer.
SLOWER = 1.3
#: Rows of a piece of a dask array.
CHUNK = 100


class WorkerFailed(RuntimeError):
    """A version could not do what was asked; the last line of its errors says why."""


# In a worker: the version in the folder that PYTHONPATH names.


def serve(source: str, file: str) -> None:
    """Warm up, then do what each line of the input asks for and answer with seconds."""
    with redirect_stdout(sys.stderr):
        import groupfs

        if not Path(groupfs.__file__).resolve().is_relative_to(source):
            raise SystemExit(f"groupfs was found in {groupfs.__file__}, not in {source}.")
        warnings.simplefilter("ignore")
        rng = np.random.default_rng(0)
        small = rng.standard_normal((99, 3)).repeat(4, axis=1) + rng.standard_normal((99, 12))
        timed(small, "fit")
        X = np.load(file)
    print("ready", flush=True)
    for line in sys.stdin:
        with redirect_stdout(sys.stderr):
            seconds = timed(X, line.strip())
        print(seconds, flush=True)


def timed(X: Any, what: str) -> float:
    """Time one fit, of a table as it is or in pieces of dask; old versions have one estimator."""
    import groupfs

    if what == "dask":
        import dask.array

        X = dask.array.from_array(X, chunks=(CHUNK, X.shape[1]))
    groups = getattr(groupfs, "FeatureGroups", groupfs.GroupFS)
    estimator = (groupfs.GroupFSPath if what == "path" else groups)(random_state=0, device="cpu")
    began = time.perf_counter()
    estimator.fit(X)
    return time.perf_counter() - began


# On this side: who asks them.


@contextmanager
def worker(source: Path, file: Path) -> Iterator[Callable[[str], float]]:
    """Start a process that has read a table; give what asks it for seconds."""
    command = [sys.executable, "-P", __file__, "--serve", str(source), str(file)]
    with tempfile.TemporaryFile("w+") as errors:
        options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        options |= {"stderr": errors, "text": True, "env": environment(source)}
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


def import_seconds(source: Path) -> float:
    """Time the import of the library in a fresh process."""
    code = "import time; began = time.perf_counter(); from groupfs import GroupFS, GroupFSPath"
    command = [sys.executable, "-P", "-c", f"{code}; print(time.perf_counter() - began)"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(source))
    if done.returncode:
        raise WorkerFailed(last_line(done.stderr))
    return float(last_line(done.stdout))


def environment(source: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(source)}


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


def export(commit: str | None, folder: Path) -> Path:
    """Copy the source folder of a commit, or of the working tree."""
    if commit is None:
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        return Path(shutil.copytree(ROOT / "src", folder / "src", ignore=ignored)).resolve()
    done = subprocess.run(["git", "-C", str(ROOT), "archive", commit, "src"], capture_output=True)
    if done.returncode:
        raise SystemExit(f"There is no commit {commit} here: {last_line(done.stderr.decode())}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return (folder / "src").resolve()


def write_table(name: str, folder: Path) -> Path:
    """Write a table to a file that any version can read, if it is not there yet."""
    from benchmarks.tables import known_groups, load
    from groupfs.datasets import load_two_moons

    file = folder / f"{name}.npy"
    if not file.exists():
        if name == "two_moons":
            np.save(file, load_two_moons(random_state=0).data)
        else:
            np.save(file, known_groups(name)[0] if name == "bfi" else load(name)[0])
    return file


def measure(sources: list[Path], file: Path, what: str, repeats: int) -> list[float]:
    """Let versions take turns; return the least seconds of each."""
    taken: list[list[float]] = [[] for _ in sources]
    with ExitStack() as stack:
        if what == "import":
            asks = [lambda what, source=source: import_seconds(source) for source in sources]
            for ask in asks:
                ask(what)  # compiles the modules, and brings them into memory
        else:
            asks = [stack.enter_context(worker(source, file)) for source in sources]
        for turn in range(repeats):
            pairs = list(zip(taken, asks, strict=True))
            for seconds, ask in pairs if turn % 2 == 0 else pairs[::-1]:
                seconds.append(ask(what))
    return [min(seconds) for seconds in taken]


def last_release() -> str:
    """Name the newest tag, or the commit that stands in for one."""
    command = ["git", "-C", str(ROOT), "describe", "--tags", "--abbrev=0"]
    tag = subprocess.run(command, capture_output=True, text=True)
    return LAST_RELEASE if tag.returncode else tag.stdout.strip()


def main() -> None:
    from benchmarks.tables import TablesMissing, machine

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("commit", nargs="?", help="the older version; else the last release")
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--paths", action="store_true", help="time GroupFSPath, too")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--guard", action="store_true", help="a few timings; status 1 if slower")
    options = parser.parse_args()
    commit = options.commit or last_release()
    threads = os.environ.get("OMP_NUM_THREADS", f"all {os.cpu_count()}")
    load = os.getloadavg()[0]
    print(f"{machine()}, threads: {threads}, load before: {load:.1f}; beside {commit}")
    print(f"{'':24s}{'old, s':>10s}{'new, s':>10s}{'ratio':>8s}", flush=True)
    kinds = ("fit", "path") if options.paths else ("fit",)
    asked = [(name, what) for name in options.tables for what in kinds]
    slower = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        sources = [export(commit, folder / "old"), export(None, folder / "new")]
        for name, what in GUARDED if options.guard else [*asked, ("two_moons", "import")]:
            label = what if what == "import" else f"{name}, {what}"
            try:
                file = write_table(name, folder)
                old, new = measure(sources, file, what, options.repeats)
            except TablesMissing as reason:  # says nothing about either version
                print(f"{label:24s}not measured, {reason}", flush=True)
            except (WorkerFailed, BrokenPipeError) as reason:
                slower = True
                print(f"{label:24s}{reason}", flush=True)
            else:
                mark = "  slower" if new > SLOWER * old else ""
                slower |= bool(mark)
                print(f"{label:24s}{old:10.2f}{new:10.2f}{old / new:8.2f}{mark}", flush=True)
    if options.guard and slower:
        sys.exit(1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:])
    else:
        main()
