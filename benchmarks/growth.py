"""How whole default fits grow with a table: seconds, peak memory, and a picture of both.

Tables have planted groups among noise, as wide ones (``benchmarks.wide``), and are mapped into
memory from a file; those that ``--max-memory`` does not take are streamed. Every fit is a process
of its own, so that its peak memory is its own.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.group_competitors import fitted
from benchmarks.machine import Rates, now, peak_memory, rates
from benchmarks.questionnaires import items, signed_loadings
from benchmarks.records import written
from benchmarks.stages import watched_stages
from benchmarks.wide import LOADINGS, NOISE, group_sizes

#: The least rows and features, and how many of the others there are meanwhile.
LEAST, OTHERS = {"rows": 1000, "features": 100}, {"rows": 300, "features": 200}
#: Numbers that are made at a time; decades at the end that exponents are fitted to.
AT_ONCE, DECADES = 2**24, 2
SHOWN = ("rows", "features", "seconds", "limit", "peak memory, GB", "table, GB", "groups")


def write_table(file: Path, n: int, d: int) -> None:
    """Write a table to a file, in blocks of rows."""
    rng = np.random.default_rng([n, d])
    sizes = group_sizes(rng, d - round(NOISE * d))
    groups = np.append(np.repeat(np.arange(len(sizes)), sizes), np.full(round(NOISE * d), -1))
    groups = rng.permutation(groups)
    loadings = signed_loadings(rng, d, *LOADINGS)
    table = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=(n, d))
    for rows in np.array_split(np.arange(n), -(-n * d // AT_ONCE)):
        factors = rng.standard_normal((len(rows), len(sizes)))
        table[rows[0] : rows[-1] + 1] = items(rng, factors, groups, loadings)
    table.flush()


def fit(file: str, device: str, max_memory: str) -> dict[str, Any]:
    """Fit the table in a file; say how long it took and how much it held."""
    fitted(np.random.default_rng(0).standard_normal((60, 20)), 0, device=device)  # warms up
    X = np.load(file, mmap_mode="r")
    with watched_stages() as clock:
        began = now()
        selector = fitted(X, 0, device=device, max_memory=max_memory)
        seconds = now() - began
    found = {"seconds": seconds, "peak memory, GB": peak_memory()}
    return found | {"groups": int(selector.n_groups_), "shuffled": clock.n_shuffled}


def measure(n: int, d: int, options: argparse.Namespace, measured: Rates) -> dict[str, Any]:
    """Fit a table in a process of its own, and print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "table.npy")
        write_table(file, n, d)
        command = [sys.executable, "-m", "benchmarks.growth", file]
        command += [options.device, options.max_memory]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    record = json.loads(done.stdout.splitlines()[-1])
    record |= {"rows": n, "features": d, "table, GB": 4 * n * d / 1e9}
    record["limit"] = measured.limit(n, d, record["shuffled"], 4 * n * d)
    print("".join(f"{written(record[key]):>16s}" for key in SHOWN), flush=True)
    return record


def exponent(records: list[dict[str, Any]], axis: str, key: str) -> float:
    """Fit a power law to the last decades."""
    last = [r for r in records if r[axis] * 10**DECADES >= records[-1][axis]]
    if len(last) < 2:
        return float("nan")
    x, y = (np.log([r[name] for r in last]) for name in (axis, key))
    return float(np.polyfit(x, y, 1)[0])


def show(options: argparse.Namespace) -> None:
    """Fit tables that grow, print exponents of power laws, and draw them."""
    measured = rates(options.device)
    print(measured)
    print("".join(f"{heading:>16s}" for heading in SHOWN), flush=True)
    grown: dict[str, list[dict[str, Any]]] = {}
    for axis, least in LEAST.items():
        most = getattr(options, axis)
        decades = [least * 10**k for k in range(10) if least * 10**k <= most]
        sizes = [({**OTHERS, axis: size}).values() for size in decades]
        grown[axis] = [measure(*size, options, measured) for size in sizes]
        seconds, gb = (exponent(grown[axis], axis, key) for key in ("seconds", "peak memory, GB"))
        print(f"seconds ~ {axis}^{seconds:.2f}, memory ~ {axis}^{gb:.2f}", flush=True)
    draw(grown, options.out)


def draw(grown: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """Draw seconds above their limit, and memory above the size of the table."""
    import matplotlib
    from matplotlib.figure import Figure

    from groupfs.plotting.style import ACCENT, COLUMN_STYLE, COLUMN_WIDTH, KEPT

    kinds = [("seconds", "limit"), ("peak memory, GB", "table, GB")]
    with matplotlib.rc_context(COLUMN_STYLE):
        figure = Figure(figsize=(2 * COLUMN_WIDTH, 3.6), layout="constrained")
        axes = figure.subplots(2, 2, sharex="col", sharey="row")
        for column, (axis, records) in zip(axes.T, grown.items(), strict=True):
            x, other = [r[axis] for r in records], "features" if axis == "rows" else "rows"
            for ax, (key, least) in zip(column, kinds, strict=True):
                power = f"{key}: power {exponent(records, axis, key):.2f}"
                ax.loglog(x, [r[key] for r in records], "o-", ms=3, color=KEPT, label=power)
                ax.loglog(x, [r[least] for r in records], "--", lw=1, color=ACCENT, label=least)
                ax.spines[["top", "right"]].set_visible(False)
                ax.legend(frameon=False, loc="upper left")
            column[0].set_title(f"{OTHERS[other]} {other}")
            column[1].set_xlabel(axis)
        for ax in axes[:, 0]:
            ax.set_ylim(top=30 * ax.get_ylim()[1])  # room for the legend
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


if __name__ == "__main__":
    print(json.dumps(fit(*sys.argv[1:])))
