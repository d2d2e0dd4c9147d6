"""What is fuzzed: the kinds of input, how a mutant of each is made, and what reads it.

What a reader gave is looked at in ``checks``.
"""

import contextlib
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.support.fuzz import checks, containers, models, mutate, seeds, structure

#: Made once, and handed on to every worker, since models take seconds.
SEEDS = {}


@dataclass(frozen=True)
class Kind:
    """A kind of input."""

    seeds: Callable[[], list[bytes]]
    names: tuple[str, ...]  #: of the file that is read; one is drawn
    mutators: tuple[Callable, ...]
    read: Callable[[Path], None]
    refusals: Callable[[], type | tuple[type, ...]]  #: the room's errors
    weight: int  #: how many of the inputs are of this kind


def seeds_of(kind):
    if kind not in SEEDS:
        SEEDS[kind] = EVERY[kind].seeds()
    return SEEDS[kind]


def drawn(seed, index, kinds=None):
    """The kind of input number ``index``, and what draws the rest of it."""
    draw = random.Random(f"{seed}/{index}")
    names = list(kinds or KINDS)
    return draw, draw.choices(names, [EVERY[name].weight for name in names])[0]


def make_input(seed, index, kinds=None):
    """Input number ``index``: its kind, the name of its file and its bytes; always the same."""
    draw, kind = drawn(seed, index, kinds)
    name, data = draw.choice(EVERY[kind].names), draw.choice(seeds_of(kind))
    fate = draw.random()
    if kind in TRAPS or fate < 0.01:
        return kind, name, data
    if fate < 0.03:
        others = [other for other in kinds or KINDS if other != "options"] or [kind]
        return kind, name, draw.choice(seeds_of(draw.choice(others)))
    if fate < 0.06:
        return kind, name, mutate.spliced(data, draw.choice(seeds_of(kind)), draw)
    mutator = draw.choice(EVERY[kind].mutators)
    try:
        return kind, name, mutator(data, draw)
    except Exception:  # an edit that its library does not take: plain damage serves as well
        return kind, name, mutate.damaged(data, draw)


def outcome(kind, path):
    """``accepted`` or ``refused``; every other exception is a finding."""
    try:
        EVERY[kind].read(path)
    except EVERY[kind].refusals() as refusal:
        checks.check_sentence(refusal)
        return "refused"
    return "accepted"


def _table_error():
    from groupfs.tables import TableError

    return TableError


def _model_error():
    from groupfs.persistence import ModelError

    return ModelError


def _value_error():
    return ValueError


TEXT = (mutate.rewritten, mutate.rewritten, mutate.rewritten, mutate.damaged)
TABLE = {"read": checks.table, "refusals": _table_error}
DATASET = {"refusals": _value_error}
KINDS = {
    "csv": Kind(seeds.csv, ("t.csv", "t.tsv", "t.txt", "t.data"), TEXT, weight=24, **TABLE),
    "packed": Kind(
        seeds.packed,
        ("t.csv.gz", "t.csv.zip", "t.csv", "t.csv.bz2", "t.csv.xz", "t.npy.gz", "t.h5ad.gz"),
        (structure.repacked, structure.repacked, mutate.damaged),
        weight=8,
        **TABLE,
    ),
    "npy": Kind(seeds.npy, ("t.npy",), (structure.array, mutate.damaged), weight=10, **TABLE),
    "npz": Kind(
        seeds.npz,
        ("t.npz",),
        (structure.arrays, structure.arrays, mutate.damaged),
        weight=12,
        **TABLE,
    ),
    "mat": Kind(
        seeds.mat,
        ("t.mat",),
        (containers.matlab, containers.matlab, mutate.damaged),
        weight=12,
        **TABLE,
    ),
    "parquet": Kind(
        seeds.parquet, ("t.parquet",), (containers.arrow, mutate.damaged), weight=8, **TABLE
    ),
    "feather": Kind(
        seeds.feather, ("t.feather",), (containers.arrow, mutate.damaged), weight=8, **TABLE
    ),
    "h5ad": Kind(
        seeds.h5ad,
        ("t.h5ad",),
        (containers.cells, containers.cells, mutate.damaged),
        weight=7,
        **TABLE,
    ),
    "skops": Kind(
        seeds.skops,
        ("m.skops",),
        (models.model, models.model, models.model, mutate.damaged),
        checks.model,
        _model_error,
        weight=7,
    ),
    "result": Kind(
        seeds.result,
        ("r.json",),
        (structure.changed_json, *TEXT[-2:]),
        checks.result,
        _value_error,
        weight=5,
    ),
    "options": Kind(
        seeds.options, ("words",), TEXT[:1], checks.options, lambda: checks.Refused, weight=4
    ),
    "data mat": Kind(
        seeds.datasets_mat,
        ("t.mat",),
        (containers.matlab, mutate.damaged),
        checks.with_reader("read_mat"),
        weight=4,
        **DATASET,
    ),
    "data rda": Kind(
        seeds.rda,
        ("t.rda",),
        (structure.repacked, mutate.damaged),
        checks.with_reader("read_rda", "lung"),
        weight=4,
        **DATASET,
    ),
    "data csv": Kind(
        lambda: seeds.csv()[:1],
        ("t.csv",),
        TEXT,
        checks.with_reader("read_csv", 3),
        weight=3,
        **DATASET,
    ),
    "data idx": Kind(
        seeds.idx, ("t",), (mutate.damaged,), checks.with_reader("read_idx", 3), weight=1, **DATASET
    ),
    "data amat": Kind(
        seeds.amat, ("t.amat",), TEXT, checks.with_reader("read_amat", 3), weight=2, **DATASET
    ),
}


def _trap(act):
    return Kind(lambda: [b""], ("t",), (), act, lambda: checks.Refused, weight=1)


#: Readers that do what none may, to show that it is noticed; never drawn unless asked for.
TRAPS = {
    "fails": _trap(lambda path: 1 / 0),
    "hangs": _trap(lambda path: time.sleep(60)),
    "dies": _trap(lambda path: os.abort()),
    "runs": _trap(lambda path: os.system("true")),
    "grows": _trap(lambda path: bytes(10**10)),
}
EVERY = {**KINDS, **TRAPS}


def prepare_folder(folder, kinds):
    """Files that commands find in their folder, and the seeds read once so that all is imported."""
    if "options" in kinds:
        (folder / "t.csv").write_bytes(seeds_of("csv")[1])
        (folder / "m.skops").write_bytes(seeds_of("skops")[0])
        (folder / "r.json").write_bytes(seeds_of("result")[0])
    for kind in kinds:
        for data in seeds_of(kind):
            path = folder / f"warm-{KINDS[kind].names[0]}"
            path.write_bytes(data)
            with contextlib.suppress(Exception):  # it will be found again, with its number
                outcome(kind, path)
