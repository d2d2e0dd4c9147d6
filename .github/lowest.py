"""Write the lowest versions that pyproject.toml allows, as constraints that pip can install.

``python .github/lowest.py`` writes ``constraints-lowest.txt``. The parts for users are in it: the
package itself and every extra but ``docs`` and ``dev``, whose tools need not be old.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOWEST = ROOT / "constraints-lowest.txt"
#: Extras of those who work on groupfs.
OUR_OWN = ("docs", "dev")


def lowest_versions() -> dict[str, str]:
    """Return the lower bound of every package that a user may install, by its name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"]]
    lines += [line for extra in extras if extra not in OUR_OWN for line in extras[extra]]
    bounds: dict[str, str] = {}
    for line in lines:
        if line.startswith("groupfs["):
            continue
        found = re.fullmatch(r"([\w.-]+)(?:\[[\w,-]+\])?>=([\d.]+)", line)
        if found is None:
            raise SystemExit(f"pyproject.toml has {line!r}; write a lower bound, as in numpy>=1.26")
        name, version = found.groups()
        if bounds.setdefault(name, version) != version:
            raise SystemExit(f"pyproject.toml has two lower bounds of {name}; write the same one")
    return dict(sorted(bounds.items()))


def constraints() -> str:
    """Return the text of the file."""
    head = "# Written by python .github/lowest.py from the lower bounds in pyproject.toml.\n"
    return head + "".join(f"{name}=={version}\n" for name, version in lowest_versions().items())


if __name__ == "__main__":
    LOWEST.write_text(constraints(), encoding="utf-8", newline="\n")
