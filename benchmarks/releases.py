"""This version beside older ones in one run: seconds of fits and of paths.

``python -m benchmarks.releases COMMIT ...`` (``make bench``: the last release) times fits and more
with the source folders of commits and of the working tree, copied when the run begins. They take
turns, so that noise of the machine hits all, each time in a new process after a small fit to warm
up; the fastest counts. A ratio is how many times faster this version is. Tables are drawn or read
once, so older versions need not know them. Threads are those of the environment. The status is 1 if
anything takes 1.3 times as long as with the first commit, or breaks. It takes a few minutes.
"""

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
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

# groupfs and benchmarks are imported where they are used: workers run this file with an older one.

ROOT = Path(__file__).resolve().parents[1]
GIT = ("git", "-C", str(ROOT))
#: What the guard compares with as long as there is no tag.
LAST_RELEASE = "a9c816d"
#: What is timed if no tables are named: a table and what is done with it.
GUARDED = (
    *(("two_moons", "fit"), ("bfi", "fit"), ("heart_disease", "fit"), ("yale", "fit")),
    *(("allaml", "fit"), ("two_moons", "path"), ("two_moons", "dask")),
)
#: The status is 1 if a timing is this many times longer.
SLOWER = 1.3
#: Rows of a piece of a dask array.
CHUNK = 100


class WorkerFailed(RuntimeError):
    """A version could not do what was asked; the last line of its errors says why."""


# In a process of its own: the version in the folder that PYTHONPATH names.


def work(source: str, file: str, what: str) -> None:
    """Warm up, do what is asked for with a table, and print the seconds."""
    with redirect_stdout(sys.stderr):
        import groupfs

        if not Path(groupfs.__file__).resolve().is_relative_to(source):
            raise SystemExit(f"groupfs was found in {groupfs.__file__}, not in {source}.")
        warnings.simplefilter("ignore")
        rng = np.random.default_rng(0)
        small = rng.standard_normal((99, 3)).repeat(4, axis=1) + rng.standard_normal((99, 12))
        timed(small, "fit")
        seconds = timed(np.load(file), what)
    print(seconds)


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


def process_seconds(source: Path, code: str) -> float:
    """Time code in a fresh process."""
    code = f"import time; began = time.perf_counter(); {code}; print(time.perf_counter() - began)"
    return answer(source, "-c", code)


def answer(source: Path, *arguments: str) -> float:
    """Run Python with a version; return the number that it prints last."""
    command = [sys.executable, "-P", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise WorkerFailed(last_line(done.stderr))
    return float(last_line(done.stdout))


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


def export(commit: str | None, folder: Path) -> Path:
    """Copy the source folder of a commit and compile it, or that of the working tree as it is."""
    if commit is None:
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        return Path(shutil.copytree(ROOT / "src", folder / "src", ignore=ignored)).resolve()
    done = subprocess.run([*GIT, "archive", commit], capture_output=True)
    if done.returncode:
        raise SystemExit(f"There is no commit {commit} here: {last_line(done.stderr.decode())}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    if (folder / "setup.py").exists():  # older versions have nothing to compile
        command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
        subprocess.run(command, cwd=folder, check=True)
    return (folder / "src").resolve()


def measure(sources: list[Path], file: Path, what: str, repeats: int) -> list[float]:
    """Let versions take turns; return the least seconds of each."""
    taken: list[list[float]] = [[] for _ in sources]
    for turn in range(repeats):
        pairs = list(zip(taken, sources, strict=True))
        for seconds, source in pairs if turn % 2 == 0 else pairs[::-1]:
            seconds.append(answer(source, __file__, "--work", str(source), str(file), what))
    return [min(seconds) for seconds in taken]


def main() -> None:
    from benchmarks.machine import machine
    from benchmarks.tables import TablesMissing, read

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("commits", nargs="*", help="older versions; else the last release")
    parser.add_argument("--tables", nargs="+", help="fits of these alone")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    tag = subprocess.run([*GIT, "describe", "--tags", "--abbrev=0"], capture_output=True, text=True)
    commits = options.commits or [LAST_RELEASE if tag.returncode else tag.stdout.strip()]
    threads = os.environ.get("OMP_NUM_THREADS", f"all {os.cpu_count()}")
    print(f"{machine()}, threads: {threads}, load: {os.getloadavg()[0]:.1f}")
    headings = [*(f"{commit}, s" for commit in commits), "now, s", *(["ratio"] * len(commits))]
    print(f"{'':24s}" + "".join(f"{heading:>14s}" for heading in headings), flush=True)
    asked = [(name, "fit") for name in options.tables] if options.tables else GUARDED
    slower = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        sources = [export(commit, folder / str(i)) for i, commit in enumerate([*commits, None])]
        for name, what in asked:
            label = f"{name}, {what}"
            try:
                np.save(folder / "table.npy", read(name))
                *old, new = measure(sources, folder / "table.npy", what, options.repeats)
            except TablesMissing as reason:  # says nothing about either version
                print(f"{label:24s}not measured, {reason}", flush=True)
            except WorkerFailed as reason:
                slower = True
                print(f"{label:24s}{reason}", flush=True)
            else:
                mark = "  slower" if new > SLOWER * old[0] else ""
                slower |= bool(mark)
                words = [*(f"{t:14.3f}" for t in [*old, new]), *(f"{t / new:14.2f}" for t in old)]
                print(f"{label:24s}{''.join(words)}{mark}", flush=True)
    sys.exit(slower)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:])
    else:
        main()
