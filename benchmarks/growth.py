"""How whole default fits grow with a table: seconds, peak memory, and a picture of both.

Tables have planted groups among noise, as wide ones (``benchmarks.wide``), and are mapped into
memory from a file; those that ``--max-memory`` does not take are streamed. Every fit is a process
of its own, so that its peak memory is its own.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.group_competitors import fitted, timed_fit
from benchmarks.machine import Rates, in_a_process, peak_memory, rates
from benchmarks.questionnaires import items, signed_loadings
from benchmarks.records import written
from benchmarks.stages import watched_stages
from benchmarks.wide import LOADINGS, planted_groups
from groupfs.data.memory import fits_in_memory, memory_budget

#: The least rows and features, and how many of the others there are meanwhile.
LEAST, OTHERS = {"rows": 1000, "features": 100}, {"rows": 300, "features": 200}
#: Numbers that are made at a time; decades at the end that exponents are fitted to.
AT_ONCE, DECADES = 2**24, 2
#: How a table is worked on, and the inside of its points in the picture.
WAYS = {"in memory": None, "streamed": "white"}
SHOWN = ("rows", "features", "seconds", "limit", "peak memory, GB", "table, GB", "groups")


def write_table(file: Path, n: int, d: int) -> None:
    """Write a table to a file, in blocks of rows."""
    rng = np.random.default_rng([n, d])
    groups = planted_groups(rng, d)
    loadings = signed_loadings(rng, d, *LOADINGS)
    table = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=(n, d))
    for rows in np.array_split(np.arange(n), -(-n * d // AT_ONCE)):
        factors = rng.standard_normal((len(rows), groups.max() + 1))
        table[rows[0] : rows[-1] + 1] = items(rng, factors, groups, loadings)
    table.flush()


def fit(file: Path, device: str, max_memory: str) -> dict[str, Any]:
    """Fit the table in a file; say how long it took and how much it held."""
    fitted(np.random.default_rng(0).standard_normal((60, 20)), 0, device=device)  # warms up
    X = np.load(file, mmap_mode="r")
    whole = fits_in_memory(X.shape, None, memory_budget(max_memory))
    with watched_stages() as clock:
        selector, seconds = timed_fit(X, 0, device=device, max_memory=max_memory)
    found = {"way": list(WAYS)[not whole], "seconds": seconds, "peak memory, GB": peak_memory()}
    return found | {"groups": int(selector.n_groups_), "shuffled": clock.n_shuffled}


def measure(n: int, d: int, options: argparse.Namespace, measured: Rates) -> dict[str, Any]:
    """Fit a table in a process of its own, and print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "table.npy")
        write_table(file, n, d)
        record = in_a_process(fit, file, options.device, options.max_memory)
    record |= {"rows": n, "features": d, "table, GB": 4 * n * d / 1e9}
    record["limit"] = measured.limit(n, d, record["shuffled"], 4 * n * d)
    print("".join(f"{written(record[key]):>16s}" for key in SHOWN), flush=True)
    return record


def ways(records: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Divide tables by whether they were worked on in memory or streamed; powers are of each."""
    return {way: some for way in WAYS if (some := [r for r in records if r["way"] == way])}


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
        for way, records in ways(grown[axis]).items():
            powers = (exponent(records, axis, key) for key in ("seconds", "peak memory, GB"))
            words = "seconds ~ {0}^{1:.2f}, memory ~ {0}^{2:.2f}".format(axis, *powers)
            print(f"{way}: {words}", flush=True)
    draw(grown, options.out)


def draw(grown: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """Draw seconds above their limit, and memory above the size of the table."""
    import matplotlib
    from matplotlib.figure import Figure

    from groupfs.plotting.style import ACCENT, COLUMN_STYLE, COLUMN_WIDTH, KEPT

    kinds = [("seconds", "limit"), ("peak memory, GB", "table, GB")]
    with matplotlib.rc_context(COLUMN_STYLE):
        figure = Figure(figsize=(2 * COLUMN_WIDTH, 4.2), layout="constrained")
        axes = figure.subplots(2, 2, sharex="col", sharey="row")
        for column, (axis, records) in zip(axes.T, grown.items(), strict=True):
            other = "features" if axis == "rows" else "rows"
            for ax, (key, least) in zip(column, kinds, strict=True):
                look = {"ls": "--", "lw": 1, "color": ACCENT, "label": least}
                ax.loglog([r[axis] for r in records], [r[least] for r in records], **look)
                for way, some in ways(records).items():
                    look = {"color": KEPT, "mfc": WAYS[way], "ms": 4, "lw": 1}
                    look["label"] = f"{way}, power {exponent(some, axis, key):.2f}"
                    ax.loglog([r[axis] for r in some], [r[key] for r in some], "o-", **look)
                ax.spines[["top", "right"]].set_visible(False)
                ax.legend(frameon=False, loc="upper left")
            column[0].set_title(f"{OTHERS[other]} {other}")
            column[1].set_xlabel(axis)
        for ax, (key, _) in zip(axes[:, 0], kinds, strict=True):
            ax.set_ylabel(key)
            ax.set_ylim(top=100 * ax.get_ylim()[1])  # room for the legend
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
