"""Whether two versions of the library fit the same models, to the last bit.

``python -m benchmarks.same_results A [B]`` fits the cases below with the library at both commits,
each in a process of its own, and prints a line per case: identical, or which attributes differ and
by how much; and whether B reads the model that A saved. Without B the working tree is compared. The
status is 1 if anything differs. In place of a commit there may be a ``src`` folder, or a file that
``python -m benchmarks.same_results --fit SRC OUT.npz`` wrote on the same machine: other processors
round differently. ``--cases moons heart``, after A and B, takes some of the cases. They use nothing
but the public interface, so modules may move from one version to the other.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy and torch are loaded

import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[1]
#: What a case keeps beside its attributes: why it failed, the model it saved, and what became of
#: the model that the other version saved.
FAILURE, SAVED, REFUSED, READ = "failure", "model/saved", "model/refused", "model/read/"
#: Bytes that the library sets aside for itself when it counts what ``max_memory`` leaves.
SET_ASIDE = 160 * 10**6


def cases(device: str, folder: Path) -> dict[str, Callable[[], tuple[Any, ...]]]:
    """Name the cases: each gives an estimator and a table, which ``folder`` takes if a file."""
    from benchmarks.tables import load
    from groupfs import GroupFS, GroupFSPath, baselines
    from groupfs.datasets import load_two_moons

    moons = load_two_moons(random_state=0)
    X, few, y = moons.data, moons.data[:300], moons.target[:300]
    known = np.repeat(["x", "y", "noise"], [5, 5, 10]).tolist()
    sparse = sp.csr_array(np.maximum(planted(500, 120, 10) - 1.5, 0))
    seeded = {"device": device, "random_state": 0}
    plain = partial(GroupFS, **seeded)
    path = partial(GroupFSPath, sparsities=np.geomspace(0.25, 3, 5), **seeded)

    def streamed(left: int, shape: tuple[int, int, int], **parameters: Any) -> tuple[Any, Any]:
        """Write a file for which ``left`` bytes beside what the process holds do not suffice."""
        np.save(folder / "table.npy", planted(*shape))
        plain(max_epochs=1).fit(few)  # what is loaded on the way is held from here on
        held = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        selector = plain(max_memory=held + SET_ASIDE + left, **parameters)
        return selector, np.load(folder / "table.npy", mmap_mode="r")

    return {
        "moons": lambda: (plain(), X),
        "moons_paper": lambda: (plain(preset="paper"), X),
        "heart_paper": lambda: (plain(preset="paper", max_epochs=40), *load("heart_disease")),
        "yale_paper": lambda: (plain(16, preset="paper", max_epochs=40), *load("yale")),
        "sparse_paper": lambda: (plain(preset="paper", max_epochs=40), sparse),
        "path_paper": lambda: (path(preset="paper", max_epochs=60, n_resamples=2), few),
        "moons_path": lambda: (plain(ranking="path"), X[:500]),
        "heart": lambda: (plain(), *load("heart_disease")),
        "heart_budget": lambda: (
            plain(n_features_to_select=5, allocation="whole"),
            *load("heart_disease"),
        ),
        "yale": lambda: (plain(), *load("yale")),
        "yale_budget": lambda: (plain(16, n_features_to_select=50), *load("yale")),
        "known_groups": lambda: (plain(groups=known), X),
        "frame": lambda: (plain(output="representatives"), awkward_frame(few)),
        "sparse": lambda: (plain(n_groups_to_select="significant"), sparse),
        # rows held at a time are rounded to powers of two; these amounts lie well between them
        "streamed": lambda: streamed(116_000_000, (40_000, 300, 12), max_epochs=3),
        "candidates": lambda: streamed(65_000_000, (1200, 3000, 60), n_groups=60, max_epochs=10),
        "path": lambda: (path(n_resamples=3), few),
        "path_bootstrap": lambda: (
            path([4, 6], n_resamples=2, resample="bootstrap", ranking="path"),
            *load("heart_disease"),
        ),
        "laplacian": lambda: (baselines.LaplacianScore(5, device=device), X),
        "mcfs": lambda: (baselines.MCFS(5, device=device), X),
        "mgagr": lambda: (baselines.MGAGR(5, device=device), few),
        "dufs": lambda: (baselines.DUFS(5, **seeded), few),
        "cae": lambda: (baselines.ConcreteAutoencoderSelector(5, **seeded), few),
        "compfs": lambda: (baselines.CompFS(5, max_epochs=50, **seeded), few, y),
    }


def planted(N: int, d: int, C: int) -> np.ndarray:
    """Make columns that follow one of C hidden variables, with noise of nearly their size."""
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((N, C), dtype=np.float32)
    return hidden[:, np.arange(d) % C] + 0.8 * rng.standard_normal((N, d), dtype=np.float32)


def awkward_frame(X: np.ndarray) -> Any:
    """Make named columns: two constant, four others again, but for scale and shift."""
    import pandas as pd

    constant = np.tile([3.0, 0.0], (len(X), 1))
    table = np.hstack([X, constant, 2 * X[:, [0, 6]] - 1, X[:, [12, 12]]])
    return pd.DataFrame(table, columns=[f"column {place}" for place in range(table.shape[1])])


def fit(source: str, out: str, options: argparse.Namespace) -> None:
    """Fit the cases with the library in a folder; keep in a file what they found."""
    sys.path.insert(0, str(Path(source).resolve()))
    import groupfs

    if not Path(groupfs.__file__).is_relative_to(Path(source).resolve()):
        raise SystemExit(f"There is no groupfs in {source}; give the folder that holds it.")
    print(f"fitting with {source}", flush=True)
    warnings.simplefilter("ignore")
    before = gathered(options.models, options.cases) if options.models else {}
    found: dict[str, np.ndarray] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        available = cases(options.device, folder)
        for case in options.cases or available:
            began = time.perf_counter()
            try:
                estimator, *table = available[case]()
                arrays = described(estimator.fit(*table), table[0]) | saved(estimator, folder)
                if SAVED in before.get(case, {}):
                    arrays |= read(before[case][SAVED], table[0], folder)
            except Exception as reason:  # a finding as others are
                arrays = {FAILURE: np.array(f"{type(reason).__name__}: {reason}")}
            found |= {f"{case}/{name}": array for name, array in arrays.items()}
            print(f"  {case:14s} {time.perf_counter() - began:5.1f} s", flush=True)
    np.savez_compressed(out, **found)


def described(estimator: Any, X: Any) -> dict[str, np.ndarray]:
    """Return public fitted attributes as arrays, the selection, and some rows transformed."""
    names = [name for name in dir(estimator) if name.endswith("_") and name[0] != "_"]
    values = {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}
    values["support"], values["transformed"] = estimator.get_support(), estimator.transform(X[:50])
    return dict(flat(values))


def flat(value: Any, name: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Yield arrays that stand for a value, by name; no seconds, which are never the same."""
    if sp.issparse(value):
        value = {part: getattr(value, part) for part in ("data", "indices", "indptr")}
    elif is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    elif isinstance(value, dict) and not any(isinstance(key, str) for key in value):
        value = {"keys": list(value), "values": list(value.values())}
    elif isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        value = {key: [part[key] for part in value] for key in value[0]}
    elif isinstance(value, list) and value and all(np.ndim(part) for part in value):
        value = {"sizes": [len(part) for part in value], "values": np.concatenate(value)}
    if isinstance(value, dict):
        for key, part in value.items():
            if key != "seconds":
                yield from flat(part, f"{name}/{key}" if name else key)
    else:
        array = np.asarray(value)
        yield name, array.astype(str) if array.dtype == object else array


def saved(estimator: Any, folder: Path) -> dict[str, np.ndarray]:
    """Return the model file, of estimators that have one."""
    from groupfs import GroupFS, GroupFSPath, persistence

    if not isinstance(estimator, GroupFS | GroupFSPath) or find_spec("skops") is None:
        return {}
    persistence.save(estimator, folder / "model.skops")
    return {SAVED: np.fromfile(folder / "model.skops", dtype=np.uint8)}


def read(model: np.ndarray, X: Any, folder: Path) -> dict[str, np.ndarray]:
    """Read what is in a model file, or why it was not read."""
    from groupfs import persistence

    path = folder / "model.skops"
    model.tofile(path)
    try:
        found = described(persistence.load(path), X)
        return {READ + name: array for name, array in found.items()}
    except Exception as reason:  # one sentence, or what should have been one
        return {REFUSED: np.array(str(reason).replace(str(path), "the file"))}


def gathered(file: str, names: list[str]) -> dict[str, dict[str, np.ndarray]]:
    """Read the arrays in a file by case and name; of all cases if none are named."""
    found: dict[str, dict[str, np.ndarray]] = {}
    with np.load(file) as arrays:
        for key in arrays.files:
            case, name = key.split("/", 1)
            if not names or case in names:
                found.setdefault(case, {})[name] = arrays[key]
    return found


def compare(file_a: str, file_b: str, options: argparse.Namespace) -> bool:
    """Print a line per case; return whether all that A has is the same in B."""
    A, B = gathered(file_a, options.cases), gathered(file_b, options.cases)
    verdicts = {case: verdict(A.get(case), B.get(case), options.ignore) for case in {**A, **B}}
    for case, (_, words) in verdicts.items():
        print(f"{case:14s} {words}")
    return bool(verdicts) and all(same for same, _ in verdicts.values())


def verdict(a: Any, b: Any, ignored: list[str]) -> tuple[bool, str]:
    """Tell whether all that A has of a case is the same in B, and what to say of it."""
    if a is None or b is None:
        return a is None, f"only in {'B' if a is None else 'A'}"
    for which, arrays in (("A", a), ("B", b)):
        if FAILURE in arrays:
            return False, f"fails in {which}: {arrays[FAILURE]}"
    same, words = difference(a, b, [*ignored, "model"])
    loaded = {name.removeprefix(READ): b[name] for name in b if name.startswith(READ)}
    if loaded and "model" not in ignored:
        as_saved, of_model = difference(a, loaded, [*ignored, "model"])
        return same and as_saved, f"{words}; model read, {of_model}"
    if REFUSED in b and "model" not in ignored:
        return False, f"{words}; model not read: {b[REFUSED]}"
    return same, words


def difference(a: Any, b: Any, ignored: list[str]) -> tuple[bool, str]:
    """Compare attributes by name; one that only B has is no difference."""
    a, b = ({k: v for k, v in x.items() if k.split("/")[0] not in ignored} for x in (a, b))
    gaps = {name: gap(a[name], b[name]) for name in a if name in b}
    differing = [f"{name} ({far})" for name, far in gaps.items() if far]
    only_a, only_b = [name for name in a if name not in b], [name for name in b if name not in a]
    words = [f"differs: {', '.join(differing)}" if differing else f"identical ({len(gaps)})"]
    words += [f"only in A: {', '.join(only_a)}"] if only_a else []
    words += [f"only in B: {', '.join(only_b)}"] if only_b else []
    return not differing and not only_a, "; ".join(words)


def gap(a: np.ndarray, b: np.ndarray) -> str:
    """Say how far two arrays are apart; nothing if they are equal, any NaN being NaN."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype} {a.shape} and {b.dtype} {b.shape}"
    if a.dtype.kind != "f":
        return f"{np.sum(a != b)} of {a.size}" if (a != b).any() else ""
    bytes_a, bytes_b = (np.where(np.isnan(x), np.nan, x).tobytes() for x in (a, b))
    with np.errstate(invalid="ignore"):
        return "" if bytes_a == bytes_b else f"{np.nanmax(np.abs(a - b), initial=0):.1e}"


def fitted(version: str, folder: Path, options: argparse.Namespace, *more: str) -> str:
    """Return the file with what a version found; a process of its own makes it if needed."""
    if version.endswith(".npz"):
        return str(Path(version).resolve())
    out, is_folder = f"{folder}.npz", Path(version).is_dir()
    source = Path(version).resolve() if is_folder else folder / "src"
    command = [sys.executable, "-m", "benchmarks.same_results", "--fit", source, out, *more]
    command += ["--device", options.device, "--cases", *options.cases]
    worktree = ["git", "-C", ROOT, "worktree"]
    if not is_folder:
        subprocess.run([*worktree, "add", "--quiet", "--detach", folder, version], check=True)
    try:
        subprocess.run(command, cwd=ROOT, check=True)
    finally:
        if not is_folder:
            subprocess.run([*worktree, "remove", "--force", folder], check=True)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="*", help="A [B]: commits, src folders or .npz files")
    parser.add_argument("--fit", nargs=2, metavar=("SRC", "OUT.npz"), help="only fit, and keep it")
    parser.add_argument("--models", metavar="A.npz", help="with --fit: read the models in a file")
    parser.add_argument("--cases", nargs="*", default=[], help="some of the cases")
    parser.add_argument("--ignore", nargs="*", default=[], help='attributes, or "model"')
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    if options.fit:
        return fit(*options.fit, options)
    if not 1 <= len(options.versions) <= 2:
        parser.error("give one or two versions to compare")
    a, b = [*options.versions, str(ROOT / "src")][:2]
    with tempfile.TemporaryDirectory() as folder:
        try:
            file_a = fitted(a, Path(folder, "A"), options)
            file_b = fitted(b, Path(folder, "B"), options, "--models", file_a)
        except subprocess.CalledProcessError as reason:
            command = " ".join(map(str, reason.cmd))
            parser.exit(2, f"{command} ended with status {reason.returncode}.\n")
        sys.exit(not compare(file_a, file_b, options))


if __name__ == "__main__":
    main()
