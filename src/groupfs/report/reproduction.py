"""Gather what it takes to do it again: settings, versions, seed and three lines of code."""

import inspect
import platform
from typing import Any

import numpy as np

from groupfs.report.schema import Json, tidy
from groupfs.utils.packages import installed_version

#: Numbers that a fit chooses; all but the first are of the joint method.
LEARNED = (
    *("n_groups_", "critical_sparsity_weight_", "sparsity_weight_", "smoothness_weight_"),
    *("n_iter_", "loss_", "gain_"),
)
#: Longest text of a parameter that is written out.
LONGEST = 200


def reproduction(selector: Any, source: str | None) -> Json:
    """Gather what someone needs who wants to do it again."""
    seed = selector.random_state
    packages = ("groupfs", "numpy", "scipy", "scikit-learn", "torch")
    return {
        "estimator": type(selector).__name__,
        "settings": {
            name: _plain(value) for name, value in selector.get_params(deep=False).items()
        },
        "changed": sorted(_changed(selector)),
        "learned": {
            name: tidy(getattr(selector, name), 5) for name in LEARNED if hasattr(selector, name)
        },
        "seed": int(seed) if isinstance(seed, int | np.integer) else None,
        "versions": {
            "python": platform.python_version(),
            **{name: installed_version(name) or "unknown" for name in packages},
        },
        "code": _code(selector, source),
    }


def _changed(selector: Any) -> Json:
    """Return the parameters that are not at their defaults."""
    defaults = inspect.signature(type(selector).__init__).parameters
    given = selector.get_params(deep=False).items()
    return {name: v for name, v in given if repr(v) != repr(defaults[name].default)}


def _code(selector: Any, source: str | None) -> list[str]:
    """Write three lines that do it again; how the table is read is left to its owner."""
    arguments = ", ".join(f"{name}={_written(name, v)}" for name, v in _changed(selector).items())
    fit = f"selector = groupfs.{type(selector).__name__}({arguments}).fit(X)"
    what = f"the table in {source}" if source else "your table"
    return ["import groupfs", f"X = ...  # {' '.join(what.split())}", fit]


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
