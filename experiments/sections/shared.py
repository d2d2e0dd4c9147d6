"""What all sections need: where their numbers come from, and tables in one order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.store import Store


def origin(name: str, results: Path) -> str:
    """Name the command, the machines and the versions that the records of fits name."""
    records = [record for record in Store(results / f"{name}.npz") if "settings" in record]
    devices = Counter(record["machine"]["device"] for record in records)
    versions: dict[str, set[str]] = {}
    for record in records:
        for package, number in record["machine"].items():
            if package != "device":
                versions.setdefault(package, set()).add(number)
    on_gpu = any("NVIDIA" in device for device in devices)
    machines = ", ".join(f"{device} ({n} fits)" for device, n in devices.items())
    numbers = ", ".join(f"{p} {' and '.join(sorted(v))}" for p, v in versions.items())
    command = f"python -m experiments.{name}{' --device cuda' if on_gpu else ''}"
    return f"`{command}` on {machines}; {numbers}."


def in_order(found: dict[str, Any], tables: Sequence[str]) -> dict[str, Any]:
    """Sort what was found by table, tables in the order given."""
    return {table: found[table] for table in tables if table in found}
