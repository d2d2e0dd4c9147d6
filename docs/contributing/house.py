"""Print the figures of the house: lines, the way of a default fit, parameters, long modules.

Run ``make house``. Lines are counted as git lists the files; the way of a fit is traced on a table
of 200 x 20 with three planted groups, in the order in which functions are called for the first time
(calls into ``utils`` are not counted as changes of room).
"""

import ast
import inspect
import re
import subprocess
import sys
import warnings
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src/groupfs"
#: Rooms in the order of the way of the data; modules at the root of the package open and close it.
STATIONS = ("root", "data", "discovery", "selection")
#: How code outside data/ could ask what kind of rows it has.
KINDS_OF_ROWS = re.compile(
    r"isinstance\([^)]*\b((Dense|Sparse|Stream|Feature)Rows|RowsInMemory|TableInMemory)\b"
    r"|\bowner is (not )?None|\bplan is (not )?None|\bis_exact\b"
)


def main() -> None:
    for folder in ("src", "tests", "benchmarks", "experiments"):
        files = tracked(folder)
        lines = sum(len(path.read_text().splitlines()) for path in files)
        print(f"{folder:12s} {lines:6,d} lines in {len(files)} files")
    way = first_calls()
    modules = list(dict.fromkeys(path for path, _ in way))
    rooms = [room for _, room in way if room != "utils"]
    changes = [(a, b) for a, b in zip(rooms, rooms[1:], strict=False) if a != b]
    back = [(a, b) for a, b in changes if station(b) < station(a)]
    print(f"a default fit enters {len(modules)} modules, changes the room {len(changes)} times,")
    print(f"  {len(back)} times back to an earlier one")
    for name, n_parameters in parameters().items():
        print(f"{name:14s} {n_parameters} parameters")
    asked = questions()
    print(f"questions about the kind of rows outside data/: {len(asked)}")
    for place in asked:
        print(f"  {place}")
    longest = sorted(((code_lines(path), path) for path in tracked("src")), reverse=True)[:3]
    print("longest modules, without docstrings of modules and classes:")
    for n_lines, path in longest:
        print(f"  {n_lines:4d} {path.relative_to(SOURCES)}")


def tracked(folder: str) -> list[Path]:
    """List the Python and Cython files of a folder that git knows."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", f"{folder}/*.py", f"{folder}/*.pyx"],
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).exists()]


def first_calls() -> list[tuple[str, str]]:
    """Fit once and list module and room of every function, in the order of first calls."""
    from groupfs import FeatureGroups

    rng = np.random.default_rng(0)
    hidden, X = rng.standard_normal((200, 3)), rng.standard_normal((200, 20))
    X[:, :15] = hidden[:, np.repeat([0, 1, 2], 5)] + 0.5 * X[:, :15]
    seen: dict[CodeType, None] = {}

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(f"{SOURCES}/"):
            seen.setdefault(frame.f_code)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        FeatureGroups(random_state=0).fit(X)  # what is imported on the way is not the way
        selector = FeatureGroups(random_state=0)
        sys.setprofile(note)
        selector.fit(X)
        sys.setprofile(None)
    paths = [Path(code.co_filename).relative_to(SOURCES) for code in seen]
    return [(str(path), path.parts[0] if len(path.parts) > 1 else "root") for path in paths]


def station(room: str) -> int:
    return STATIONS.index(room)


def parameters() -> dict[str, int]:
    """Count the parameters of the estimators."""
    import groupfs

    kinds = (groupfs.FeatureGroups, groupfs.GroupFS, groupfs.GroupFSPath)
    return {kind.__name__: len(inspect.signature(kind.__init__).parameters) - 1 for kind in kinds}


def questions() -> list[str]:
    """Find places outside data/ that ask what kind of rows they have."""
    places = []
    for path in tracked("src"):
        if path.relative_to(SOURCES).parts[0] == "data":
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if KINDS_OF_ROWS.search(line):
                places.append(f"{path.relative_to(SOURCES)}:{number} {line.strip()}")
    return places


def code_lines(path: Path) -> int:
    """Count the lines of a module without docstrings of the module and its classes."""
    if path.suffix == ".pyx":
        return len(path.read_text().split('"""', 2)[2].splitlines())
    tree = ast.parse(path.read_text())
    documented = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    first = [node.body[0] for node in documented if ast.get_docstring(node)]
    inside = sum((node.end_lineno or 0) - node.lineno + 1 for node in first)
    return len(path.read_text().splitlines()) - inside


if __name__ == "__main__":
    main()
