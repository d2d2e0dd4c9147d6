"""Puts the short tables of ``results/`` into README.md, between the marks that name them.

``python -m experiments.readme`` writes them; the text around them stays. A test holds README.md to
what this writes.
"""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
MARK = re.compile(r"<!-- (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def filled(text: str, results: Path = FOLDER / "results") -> str:
    """Replace what stands between each pair of marks by the table of that name."""

    def table(match: re.Match[str]) -> str:
        name = match.group(1)
        short = (results / name / "short.md").read_text()
        return f"<!-- {name} -->\n\n{short}\n<!-- end -->"

    return MARK.sub(table, text)


if __name__ == "__main__":
    readme = FOLDER / "README.md"
    readme.write_text(filled(readme.read_text()))
