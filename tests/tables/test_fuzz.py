"""Damaged files of the kinds that we parse ourselves: a result, or one sentence of ours."""

import functools
import io
import json
import random
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from groupfs import GroupFS, persistence
from groupfs.datasets import load_two_moons
from groupfs.persistence import ModelError
from groupfs.tables import TableError, read_table
from groupfs.tables.columns import ColumnsError, learn_columns

N_INPUTS = 150
CSV = (
    "age;sex;größe\n31;f;1,72\n28;m;\n60;f;1,5e2\n",
    'a,b\n"x, y",1\n"z ""q""",2\n',
    "x y\nr1 1 2\nr2 3 4\n",
    "63.0|1.0|6.0\n67.0|1.0|?\n",
)
#: Pieces that mean something to a reader of text or json.
PIECES = [b",", b";", b'"', b"\n", b"\r", b"\0", b"\t", b" ", b"\xff", b"1e999", b"-", b"[", b"{"]
PIECES += [b"null", b"NaN", b"9" * 50, b"\xef\xbb\xbf", b"\\ud800", b'"x"', b"0"]


def damaged(data, draw):
    """Bytes with a few cut, doubled, replaced or put in."""
    data = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 5))):
        start = draw.randrange(len(data) + 1)
        stop = min(len(data), start + draw.choice((1, 1, 4, 30, len(data))))
        new = draw.choice((b"", data[start:stop] * 2, draw.choice(PIECES), draw.randbytes(3)))
        data[start : stop if draw.random() < 0.5 else start] = new
    return bytes(data)


def damaged_archive(data, draw):
    """A zip archive that is damaged itself, or whole with a damaged member."""
    if draw.random() < 0.3:
        return damaged(data, draw)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = draw.choice(sorted(members))
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        for each, member in members.items():
            archive.writestr(each, damaged(member, draw) if each == name else member)
    return changed.getvalue()


def npz():
    dense, sparse = io.BytesIO(), io.BytesIO()
    np.savez(dense, X=np.eye(4, 3), Y=np.arange(4), names=np.array(list("abc")))
    sp.save_npz(sparse, sp.random_array((8, 5), density=0.4, rng=0, format="csc"))
    return [dense.getvalue(), sparse.getvalue()]


@functools.cache
def selector():
    moons = load_two_moons(60, random_state=0)
    table = pd.DataFrame(moons.data, columns=moons.feature_names)
    return GroupFS(n_groups=4, max_epochs=3, n_init=1, random_state=0).fit(table), table


def one_sentence(error):
    assert str(error).isprintable() and 10 < len(str(error)) < 1500, repr(error)


@pytest.mark.parametrize("kind", ["csv", "npz"])
def test_a_damaged_table_is_read_or_refused(kind, tmp_path):
    draw, path, n_refused = random.Random(0), tmp_path / f"t.{kind}", 0
    seeds = [text.encode() for text in CSV] if kind == "csv" else npz()
    damage = damaged if kind == "csv" else damaged_archive
    for i in range(N_INPUTS):
        path.write_bytes(damage(seeds[i % len(seeds)], draw))
        try:
            table = read_table(path)
            assert table.values.shape[1] == len(set(table.names)) and table.n_rows
            if not sp.issparse(table.values):
                learn_columns(table.values).apply(table.values)
        except (TableError, ColumnsError) as error:
            one_sentence(error)
            n_refused += 1
    assert 0 < n_refused < N_INPUTS


@pytest.mark.slow
def test_a_damaged_model_is_loaded_or_refused(tmp_path):
    pytest.importorskip("skops")
    draw, path, n_refused = random.Random(0), tmp_path / "m.skops", 0
    fitted, table = selector()
    persistence.save(fitted, path, preparation=learn_columns(table))
    whole = path.read_bytes()
    for _ in range(N_INPUTS):
        path.write_bytes(damaged_archive(whole, draw))
        try:
            assert isinstance(persistence.load(path), GroupFS)
        except ModelError as error:
            one_sentence(error)
            n_refused += 1
    assert 0 < n_refused < N_INPUTS


def test_a_damaged_result_is_read_or_refused(tmp_path):
    from groupfs.report import read, summarize

    draw, path, n_refused = random.Random(0), tmp_path / "result.json", 0
    whole = json.dumps(summarize(*selector())).encode()
    for _ in range(N_INPUTS):
        path.write_bytes(damaged(whole, draw))
        try:
            assert read(path)["groups"] is not None
        except ValueError as error:
            one_sentence(error)
            n_refused += 1
    assert 0 < n_refused < N_INPUTS
