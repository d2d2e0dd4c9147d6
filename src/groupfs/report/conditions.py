"""Groups by condition in a report: the part of the summary, the rows of conditions.csv, lines.

Reads what :mod:`groupfs.conditions` found, and imports nothing of it: a page is rendered without
scipy.
"""

import math
from collections.abc import Sequence
from typing import Any

from groupfs.report.schema import Json, tidy, tidy_list
from groupfs.utils.text import count

#: What is said of every group and condition, with an interval.
QUANTITIES = ("cohesion", "correlation", "mean")
#: What is said of every group.
CHANGES = ("mean", "cohesion")
CONDITIONS_COLUMNS = (
    *("group", "representative", "condition", "n_samples"),
    *(f"{name}{end}" for name in QUANTITIES for end in ("", "_low", "_high")),
    *(f"{name}_{what}" for name in CHANGES for what in ("p_value", "q_value", "changes")),
)


def summarize_conditions(compared: Any) -> Json:
    """Summarise a ``Comparison`` or ``Curves`` into a dict that json can write."""
    is_number = hasattr(compared, "places")
    conditions = tidy_list(compared.places, 5) if is_number else list(map(str, compared.conditions))
    changes, groups = {name: getattr(compared, f"{name}_change") for name in CHANGES}, []
    for j, group in enumerate(compared.groups):
        record: Json = {"group": group, "representative": compared.representatives[j]}
        for name in QUANTITIES:
            for end, values in (("", "value"), ("_low", "low"), ("_high", "high")):
                record[f"{name}{end}"] = tidy_list(getattr(getattr(compared, name), values)[j], 4)
        for name, change in changes.items():
            record[f"{name}_p_value"] = tidy(change.p_values[j], 4)
            record[f"{name}_q_value"] = tidy(change.q_values[j], 4)
            record[f"{name}_changes"] = bool(change.found(compared.alpha)[j])
        groups.append(record)
    return {
        "name": compared.name,
        "is_number": is_number,
        "conditions": conditions,
        "n_samples": tidy_list(compared.n_samples, 4) if is_number else compared.n_samples.tolist(),
        "bandwidth": tidy(compared.bandwidth, 3) if is_number else None,
        "confidence": compared.confidence,
        "alpha": compared.alpha,
        "sentence": _sentence(compared.name, groups, compared.alpha),
        "groups": groups,
    }


def conditions_table(summary: Json) -> list[Json]:
    """List every group in every condition, or at every place along a number."""
    part, rows = summary["conditions"], []
    for group in part["groups"]:
        for k, condition in enumerate(part["conditions"]):
            of = {**group, "condition": condition, "n_samples": part["n_samples"][k]}
            row = {name: of.get(name) for name in CONDITIONS_COLUMNS}
            rows.append({name: v[k] if isinstance(v, list) else v for name, v in row.items()})
    return rows


def strongest(groups: Sequence[Json], name: str, share: float = 1.0) -> float:
    """Return the absolute value of a quantity that so large a share of all values does not exceed.

    Of many cells a few extreme ones would pale the rest, if colours ended at the largest.
    """
    values = sorted(abs(value) for group in groups for value in group[name] if value is not None)
    return max(values[math.ceil(share * (len(values) - 1))] if values else 0.0, 1e-9)


def line_points(values: Sequence[float | None], low: float, high: float) -> str:
    """Write values as points of a line in a box of 200 by 40, as svg has it."""
    step, span = 200 / max(len(values) - 1, 1), (high - low) or 1.0
    known = [(i * step, value) for i, value in enumerate(values) if value is not None]
    return " ".join(f"{x:.1f},{40 - 40 * (value - low) / span:.1f}" for x, value in known)


def _sentence(name: str, groups: Sequence[Json], alpha: float) -> str:
    told = []
    for what in CHANGES:
        changing = [str(group["group"]) for group in groups if group[f"{what}_changes"]]
        plural = "group" if len(changing) == 1 else "groups"
        few = f" ({plural} {', '.join(changing)})" if 0 < len(changing) <= 5 else ""
        told.append(f"{len(changing) or 'none'} in {what}{few}")
    every = f"Groups that change with {name}, of {count(len(groups), 'group')}"
    return f"{every}: {told[0]}, {told[1]} (false discovery rate {100 * alpha:g} %)."
