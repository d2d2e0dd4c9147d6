"""Whether two versions of the library fit the same models, to the last bit or to a tolerance.

``python -m benchmarks.same_results A [B]`` fits the cases below with the library at both commits,
each in a process of its own, and prints a line per case: identical, or which attributes differ and
by how much. Without B the working tree is compared. The status is 1 if anything differs by more
than ``--tolerance`` (absolute; 0 by default). In place of a commit there may be a ``src`` folder,
or a file that ``python -m benchmarks.same_results --fit SRC OUT.npz`` wrote on the same machine:
other processors round differently. ``--cases moons heart``, after A and B, takes some of the cases.
They use nothing but the public interface, so modules may move from one version to the other.
"""

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
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy and torch are loaded

import numpy as np
import scipy.sparse as sp

from benchmarks.releases import ROOT, export

#: What a case that failed keeps in place of its attributes.
FAILURE = "failure"
#: Tables that are fitted as they come.
WHOLE = ("bfi", "ability", "holzinger", "breast cancer", "digits", "cells")
#: Bytes that the library sets aside for itself when it counts what ``max_memory`` leaves.
SET_ASIDE = 160 * 10**6


def cases(device: str, folder: Path) -> dict[str, Callable[[], tuple[Any, ...]]]:
    """Name the cases: each gives an estimator and a table, which ``folder`` takes if a file."""
    from sklearn.neighbors import NearestNeighbors

    from benchmarks.tables import load, read
    from groupfs import FeatureGroups, GroupFS, GroupFSPath, baselines
    from groupfs.datasets import load_two_moons

    moons = load_two_moons(random_state=0)
    X, few, y = moons.data, moons.data[:300], moons.target[:300]
    known = np.repeat(["x", "y", "noise"], [5, 5, 10]).tolist()
    sparse = sp.csr_array(np.maximum(planted(500, 120, 10) - 1.5, 0))
    seeded = {"device": device, "random_state": 0}
    plain, joint = partial(FeatureGroups, **seeded), partial(GroupFS, **seeded)
    path = partial(GroupFSPath, sparsities=np.geomspace(0.25, 3, 5), **seeded)
    paper = {"preset": "paper", "max_epochs": 40}
    heart, yale, bfi = load("heart_disease"), load("yale"), read("bfi")
    gone = np.random.default_rng(0).random(bfi.shape) < 0.1
    whole = lambda name: (plain(), read(name))  # noqa: E731
    drawn = lambda seed: (joint(), load_two_moons(random_state=seed).data)  # noqa: E731
    squared = lambda X: np.corrcoef(np.nan_to_num(X), rowvar=False) ** 2  # noqa: E731
    pairs = {f"pair {i}": [2 * i, 2 * i + 1] for i in range(2)}

    def streamed(left: int, shape: tuple[int, int, int], **parameters: Any) -> tuple[Any, Any]:
        """Write a file for which ``left`` bytes beside what the process holds do not suffice."""
        np.save(folder / "table.npy", planted(*shape))
        plain().fit(few)  # what is loaded on the way is held from here on
        held = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        selector = plain(max_memory=held + SET_ASIDE + left, **parameters)
        return selector, np.load(folder / "table.npy", mmap_mode="r")

    return {
        "moons": lambda: (plain(), X),
        "heart": lambda: (plain(), heart[0]),
        "heart_budget": lambda: (plain(n_features_to_select=5), heart[0]),
        "yale": lambda: (plain(), yale[0]),
        "yale_budget": lambda: (plain(n_groups=16, n_features_to_select=50), yale[0]),
        **{name.replace(" ", "_"): partial(whole, name) for name in WHOLE},
        "student": lambda: (plain(), student()),
        "bfi_gaps": lambda: (plain(), np.where(gone, np.nan, bfi)),
        "rank": lambda: (plain(similarity="rank"), bfi[:600]),
        "distance": lambda: (plain(similarity="distance"), bfi[:300]),
        "callable": lambda: (plain(similarity=squared), bfi[:600]),
        "cosine": lambda: (plain(metric="cosine"), yale[0]),
        "graph": lambda: (plain(metric=NearestNeighbors(n_neighbors=10).fit(few)), few),
        "explain": lambda: (plain(explain=0.9), bfi),
        "signed": lambda: (plain(signed=True), bfi),
        "unrelated": lambda: (plain(keep_unrelated=True, n_groups=6), few),
        "known_groups": lambda: (plain(groups=known), X),
        "known_pairs": lambda: (plain(groups=pairs | {"a": [4], "b": [5]}), few[:, :6]),
        "known_singles": lambda: (plain(groups=list(range(6))), few[:, 4:10]),
        "representatives": lambda: (plain(n_per_group=1), awkward_frame(few)),
        "sparse": lambda: (plain(n_groups_to_select="significant"), sparse),
        # rows held at a time are rounded to powers of two; these amounts lie well between them
        "streamed": lambda: streamed(116_000_000, (40_000, 300, 12)),
        "streamed_wide": lambda: streamed(132_000_000, (1200, 3000, 60), n_groups=60),
        "wide": lambda: (plain(), planted(200, 10_000, 40)),
        **{f"joint_{seed}": partial(drawn, seed) for seed in range(10)},
        "joint_heart": lambda: (joint(), heart[0]),
        "moons_paper": lambda: (joint(preset="paper"), X),
        "heart_paper": lambda: (joint(**paper), heart[0]),
        "yale_paper": lambda: (joint(n_groups=16, **paper), yale[0]),
        "sparse_paper": lambda: (joint(**paper), sparse),
        "path": lambda: (path(), few),
        "path_paper": lambda: (path(preset="paper", max_epochs=60), few),
        "laplacian": lambda: (baselines.LaplacianScore(5, device=device), X),
        "mcfs": lambda: (baselines.MCFS(5, device=device), X),
        "mgagr": lambda: (baselines.MGAGR(5, device=device), few),
        "dufs": lambda: (baselines.DUFS(5, **seeded), few),
        "cae": lambda: (baselines.ConcreteAutoencoderSelector(5, **seeded), few),
        "compfs": lambda: (baselines.CompFS(5, max_epochs=50, **seeded), few, y),
    }


def student() -> Any:
    """Return the frame of 395 students as published, with categories, and one answer in 20 gone."""
    import pandas as pd

    from benchmarks.tables import folder

    frame = pd.read_csv(folder() / "student-mat.csv", sep=";").iloc[:, :30]
    gone = np.random.default_rng(0).random(frame.shape) < 0.05
    return frame.astype(object).mask(gone).infer_objects()


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
    arrays_of_cases: dict[str, np.ndarray] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        available = cases(options.device, folder)
        for case in options.cases or available:
            began = time.perf_counter()
            try:
                estimator, *table = available[case]()
                arrays = described(estimator.fit(*table), table[0])
            except Exception as reason:  # a finding as others are
                arrays = {FAILURE: np.array(f"{type(reason).__name__}: {reason}")}
            arrays_of_cases |= {f"{case}/{name}": array for name, array in arrays.items()}
            print(f"  {case:14s} {time.perf_counter() - began:5.1f} s", flush=True)
    np.savez_compressed(out, **arrays_of_cases)


def described(estimator: Any, X: Any) -> dict[str, np.ndarray]:
    """Return public fitted attributes as arrays, the selection, and scores of some rows."""
    names = [name for name in dir(estimator) if name.endswith("_") and name[0] != "_"]
    values = {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}
    values["support"] = estimator.get_support()
    if "output" in estimator.get_params():
        values["scores"] = estimator.set_params(output="scores").transform(X[:50])
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


def gathered(file: str, names: list[str]) -> dict[str, dict[str, np.ndarray]]:
    """Read the arrays in a file by case and name; of all cases if none are named."""
    by_case: dict[str, dict[str, np.ndarray]] = {}
    for key, array in np.load(file).items():
        case, name = key.split("/", 1)
        if not names or case in names:
            by_case.setdefault(case, {})[name] = array
    return by_case


def compare(file_a: str, file_b: str, options: argparse.Namespace) -> bool:
    """Print a line per case; return whether all that A has is the same in B."""
    A, B = gathered(file_a, options.cases), gathered(file_b, options.cases)
    verdicts = {case: verdict(A.get(case), B.get(case), options) for case in {**A, **B}}
    for case, (_, words) in verdicts.items():
        print(f"{case:14s} {words}")
    return bool(verdicts) and all(same for same, _ in verdicts.values())


def verdict(a: Any, b: Any, options: argparse.Namespace) -> tuple[bool, str]:
    """Tell whether all that A has of a case is the same in B, and what to say of it.

    An attribute that only B has is no difference.
    """
    if a is None or b is None:
        return a is None, f"only in {'B' if a is None else 'A'}"
    for which, arrays in (("A", a), ("B", b)):
        if FAILURE in arrays:
            return False, f"fails in {which}: {arrays[FAILURE]}"
    a, b = ({k: v for k, v in x.items() if k.split("/")[0] not in options.ignore} for x in (a, b))
    gaps = {name: gap(a[name], b[name], options.tolerance) for name in a if name in b}
    differing = [f"{name} ({far})" for name, far in gaps.items() if far]
    only_a, only_b = [name for name in a if name not in b], [name for name in b if name not in a]
    words = [f"differs: {', '.join(differing)}" if differing else f"identical ({len(gaps)})"]
    words += [f"only in A: {', '.join(only_a)}"] if only_a else []
    words += [f"only in B: {', '.join(only_b)}"] if only_b else []
    return not differing and not only_a, "; ".join(words)


def gap(a: np.ndarray, b: np.ndarray, tolerance: float) -> str:
    """Say how far two arrays are apart; nothing if that is tolerated, any NaN being NaN."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype} {a.shape} and {b.dtype} {b.shape}"
    if a.dtype.kind != "f":
        return f"{np.sum(a != b)} of {a.size}" if (a != b).any() else ""
    if np.allclose(a, b, rtol=0, atol=tolerance, equal_nan=True):
        return ""
    with np.errstate(invalid="ignore"):
        return f"{np.nanmax(np.abs(a - b), initial=0):.1e}"


def fitted(version: str, folder: Path, options: argparse.Namespace) -> str:
    """Return the file with what a version found; a process of its own makes it if needed."""
    if version.endswith(".npz"):
        return str(Path(version).resolve())
    out = f"{folder}.npz"
    source = Path(version).resolve() if Path(version).is_dir() else export(version, folder)
    command = [sys.executable, "-m", "benchmarks.same_results", "--fit", source, out]
    command += ["--device", options.device, "--cases", *options.cases]
    subprocess.run(command, cwd=ROOT, check=True)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="*", help="A [B]: commits, src folders or .npz files")
    parser.add_argument("--fit", nargs=2, metavar=("SRC", "OUT.npz"), help="only fit, and keep it")
    parser.add_argument("--cases", nargs="*", default=[], help="some of the cases")
    parser.add_argument("--ignore", nargs="*", default=[], help="attributes")
    parser.add_argument("--tolerance", type=float, default=0.0, help="absolute, of floats")
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
            file_b = fitted(b, Path(folder, "B"), options)
        except subprocess.CalledProcessError as reason:
            command = " ".join(map(str, reason.cmd))
            parser.exit(2, f"{command} ended with status {reason.returncode}.\n")
        sys.exit(not compare(file_a, file_b, options))


if __name__ == "__main__":
    main()
