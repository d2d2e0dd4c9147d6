"""The paper's numbers and settings, as printed, from the two files in the folder paper."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "paper"


@cache
def results() -> dict[str, Any]:
    return json.loads((FOLDER / "results.json").read_text())


@cache
def hyperparameters() -> dict[str, Any]:
    return json.loads((FOLDER / "hyperparameters.json").read_text())


def budget(table: str) -> int:
    """Look up the features that every method selects in the first scenario."""
    return results()["scenario1_accuracy"][table]["n_selected"]


def settings(method: str, table: str, scenario: str = "fixed_budget") -> dict[str, Any] | None:
    """Look up a method's settings for a table, None where the paper has none."""
    return hyperparameters()[method][table][scenario]
