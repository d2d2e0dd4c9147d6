"""Writes the tables of experiments/README.md from the stored results, or checks them.

``python -m experiments.tables`` puts the tables between two marks; the text around them stays.
``python -m experiments.tables --check`` judges some stored selections again and compares.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments import data, scenario0, scenario1, scenario2, student
from experiments.pipeline import rows
from experiments.protocol import judge
from experiments.sections.paper_scenarios import (
    scenario1_section,
    scenario2_section,
    times_section,
)
from experiments.sections.scenario0 import scenario0_section
from experiments.sections.studies import student_section, two_moons_section
from experiments.store import RESULTS

README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
SECTIONS = (
    scenario0_section,
    scenario1_section,
    scenario2_section,
    times_section,
    student_section,
    two_moons_section,
)
#: Points by which an accuracy computed again may differ: k-means rounds differently elsewhere.
TOLERANCE = 0.05


def generated(results: Path) -> str:
    """Write everything between the marks."""
    return "\n\n".join(text for section in SECTIONS if (text := section(results)))


def insert(text: str, tables: str) -> str:
    """Replace what stands between the marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}"


def check(results: Path, n: int, seed: int) -> list[str]:
    """Judge ``n`` stored selections of every scenario again; return what differs."""
    rng = np.random.default_rng(seed)
    wrong = []
    for name in (scenario0.NAME, scenario1.NAME, scenario2.NAME, student.NAME):
        judged = rows(name, results)
        for place in rng.permutation(len(judged))[:n]:
            row = judged[place]
            table = data.load(row["table"])
            again = judge(table.Z, table.y, np.array(row["selected"])).as_dict()
            # scores that the selection has not been judged by differ by what is not a number
            worst = max(np.nan_to_num(abs(again[score] - row[score])) for score in again)
            label = f"{name} {row['table']} {row['method']} seed {row['seed']}"
            print(f"{label}: stored {row['accuracy']:.2f}, again {again['accuracy']:.2f}")
            if worst > TOLERANCE:
                wrong.append(label)
    return wrong


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--readme", type=Path, default=README)
    parser.add_argument("--check", type=int, nargs="?", const=5, metavar="N")
    parser.add_argument("--seed", type=int, default=0, help="which selections are checked")
    given = parser.parse_args(argv)
    text = insert(given.readme.read_text(), generated(given.results))
    if given.check is None:
        given.readme.write_text(text)
        return 0
    wrong = check(given.results, given.check, given.seed)
    if text != given.readme.read_text():
        wrong.append(f"{given.readme} is not what the results give")
    print("\n".join(f"wrong: {label}" for label in wrong) or "all agree")
    return min(len(wrong), 1)


if __name__ == "__main__":
    raise SystemExit(main())
