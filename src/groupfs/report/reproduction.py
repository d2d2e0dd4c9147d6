"""What someone needs who wants to do it again: settings, versions, seed and three lines of code."""

from __future__ import annotations

import inspect
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np

from groupfs.report.json_numbers import Json, tidy
from groupfs.utils.fitted_selector import FittedSelector
from groupfs.utils.versions import installed_version

#: Endings of file names that pandas reads by itself; others are left to the reader of the report.
READERS = {".csv": "csv", ".csv.gz": "csv", ".parquet": "parquet", ".feather": "feather"}
#: Longest text of a parameter that is written out.
LONGEST = 200


def reproduction(selector: FittedSelector, source: str | None, notes: Sequence[str]) -> Json:
    """Gather what someone needs who wants to do it again."""
    seed = selector.random_state
    weights = ("critical_sparsity_weight_", "sparsity_weight_", "smoothness_weight_")
    packages = ("groupfs", "numpy", "scipy", "scikit-learn", "torch")
    return {
        "estimator": type(selector).__name__,
        "settings": {
            name: _plain(value) for name, value in selector.get_params(deep=False).items()
        },
        "changed": sorted(_changed(selector)),
        "learned": {
            **{name: tidy(getattr(selector, name), 5) for name in weights},
            "n_groups_": int(selector.n_groups_),
            "n_iter_": int(selector.n_iter_),
            "loss_": tidy(selector.loss_, 5),
            "gain_": tidy(selector.gain_, 5),
        },
        "seed": int(seed) if isinstance(seed, int | np.integer) else None,
        "versions": {
            "python": platform.python_version(),
            **{name: installed_version(name) or "unknown" for name in packages},
        },
        "code": _code(selector, source, notes),
    }


def _changed(selector: FittedSelector) -> Json:
    """Return the parameters that are not at their defaults."""
    defaults = inspect.signature(type(selector).__init__).parameters
    given = selector.get_params(deep=False).items()
    return {name: v for name, v in given if repr(v) != repr(defaults[name].default)}


def _code(selector: FittedSelector, source: str | None, notes: Sequence[str]) -> list[str]:
    """Write three lines that do it again."""
    ending = next((e for e in READERS if str(source or "").lower().endswith(e)), None)
    arguments = ", ".join(f"{name}={_written(name, v)}" for name, v in _changed(selector).items())
    fit = f"selector = groupfs.{type(selector).__name__}({arguments}).fit(X)"
    if ending is None:
        what = f"the table in {source}" if source else "your table"
        return ["import groupfs", f"X = ...  # {' '.join(what.split())}", fit]
    prepared = "  # then prepared as the notes say" if notes else ""
    read = f"X = pandas.read_{READERS[ending]}({str(source)!r}){prepared}"
    return ["import groupfs, pandas", read, fit]


def _plain(value: Any) -> Any:
    """Return a parameter as json can write it; a long one is cut."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    text = " ".join(str(value.tolist() if isinstance(value, np.ndarray) else value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def _written(name: str, value: Any) -> str:
    """Write a parameter as Python; what is too long for a line, by its name."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    is_plain = isinstance(value, bool | int | float | str | list | tuple | dict)
    text = repr(value if is_plain else str(value))
    is_generator = name == "random_state" and not is_plain
    return name if is_generator or len(text) > LONGEST else text
