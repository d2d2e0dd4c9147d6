"""Edits that keep a container whole, so that mutants get past checksums: archives, arrays, json.

The same for mat, h5ad and Arrow's files is in ``containers``.
"""

import bz2
import gzip
import io
import json
import lzma
import math
import os
import pickle
import zipfile

import numpy as np

from tests.support.fuzz.mutate import INTERESTING, damaged, rewritten
from tests.support.fuzz.seeds import unzipped, zipped

DESCRIPTIONS = ("'<f8'", "'|O'", "'|S0'", "'<U0'", "'|V8'", "'<M8[ns]'", "'<m8[s]'", "'<c16'")
DESCRIPTIONS += ("'<f16'", "[('a', '<f8')]", "('<f8', (1000000,))", "'<U1000000'", "'>U3'", "'S5'")
DESCRIPTIONS += ("'|V0'", "'<i3'", "None", "[]", "'|i1'", "'<U2147483647'", "'|b1'", "'float'")
SHAPES = (
    "()",
    "(6,)",
    "(0, 10000000000)",
    "(10000000000, 0)",
    "(1000000000, 1000000000)",
    "(6, 3)",
)
SHAPES += ("(-1, 3)", "(6, 3.0)", "(True, 3)", str((1,) * 70), "6", "(9223372036854775808, 2)")
SHAPES += (
    "(3, 6)",
    "(1, 18)",
    "(3000000, 100)",
    "(6, 3, 1)",
    "(" * 90 + ")" * 90,
    "None",
    "(2, -9)",
)


class Spy:
    """Would run a command if it were unpickled."""

    def __reduce__(self):
        return os.system, ("true",)


def repacked(data, random):
    """A text that was changed, packed again by any packer."""
    content = rewritten(unpacked(data), random)
    packers = (lambda d: gzip.compress(d, 1, mtime=0), bz2.compress, lzma.compress, _in_zip(random))
    return random.choice(packers)(content)


def unpacked(data):
    if data.startswith(b"PK"):
        return unzipped(data)[0][1]
    openers = {b"\x1f": gzip.decompress, b"B": bz2.decompress, b"\xfd": lzma.decompress}
    return openers.get(data[:1], bytes)(data)


def _in_zip(random):
    names = ("t.csv", "", "/", "../t.csv", "a/b", "ü.csv", "x" * 300, "__MACOSX/t.csv", "a\0b")
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)

    def pack(data):
        members = [("t.csv", data)]
        if random.random() < 0.3:
            members.append((random.choice(names), random.choice((b"", data))))
        return zipped(members, compression=random.choice(methods))

    return pack


def array(data, random):
    """An npy file with another header, or with a pickle in it."""
    start = 10 + int.from_bytes(data[8:10], "little")
    header, body = data[10:start].decode("latin1"), data[start:]
    wanted = random.randrange(8)
    if wanted == 0:
        stored = np.array([[Spy(), 1]], dtype=object)
        return npy(
            "{'descr': '|O', 'fortran_order': False, 'shape': (1, 2), }", pickle.dumps(stored)
        )
    if wanted == 1:
        header = damaged(header.encode(), random).decode("latin1")
    else:
        header = "{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}".format(
            random.choice(DESCRIPTIONS) if wanted != 2 else "'<f8'",
            random.choice(("False", "True", "0", "'x'") if wanted == 3 else ("False", "True")),
            random.choice(SHAPES) if wanted != 4 else "(6, 3)",
        )
    body = random.choice(
        (body, body, damaged(body, random), b"", body * 3, bytes(144), b"\xff" * 300)
    )
    return npy(header, body)


def npy(header, body):
    text = header.encode("latin1", "replace")
    return b"\x93NUMPY\x01\x00" + (len(text) % 65536).to_bytes(2, "little") + text + body


def arrays(data, random):
    """An npz file with one of its arrays changed, renamed, doubled or gone."""
    members = unzipped(data)
    for _ in range(random.choice((1, 1, 2, 3))):
        place = random.randrange(len(members))
        name, content = members[place]
        edit = random.randrange(8)
        if edit < 3:
            members[place] = (name, (array, damaged, hostile_numbers)[edit](content, random))
        elif edit == 3:
            names = (
                "X",
                "data",
                "format.npy",
                "shape.npy",
                "indices.npy",
                "names.npy",
                "a.npy",
                "",
            )
            members[place] = (random.choice(names), content)
        elif edit == 4:
            members.insert(place, random.choice(members))
        elif edit == 5 and len(members) > 1:
            del members[place]
        elif edit == 6:
            members[place] = (name, random.choice(members)[1])
        else:
            members[place] = (name, hostile_numbers(content, random))
    packing = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    return zipped(members, compression=packing)


def hostile_numbers(data, random):
    """A whole npy file of the same shape with a few numbers that make no sense as indices."""
    file = io.BytesIO(data)
    np.lib.format.read_magic(file)
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    if not 0 < dtype.itemsize * math.prod(shape) == len(data) - file.tell():
        return damaged(data, random)
    values = np.load(io.BytesIO(data)).copy()
    if values.dtype.kind in "iu" and values.size:
        limits = np.iinfo(values.dtype)
        for _ in range(random.choice((1, 2, 5))):
            number = random.choice((*INTERESTING, 3, 5, 10**6, -2))
            values.flat[random.randrange(values.size)] = min(max(number, limits.min), limits.max)
    elif values.dtype.kind == "f" and values.size:
        values.flat[random.randrange(values.size)] = random.choice((np.nan, np.inf, 1e308, -0.0))
    else:
        values = np.array(
            random.choice(("csr", "csc", "coo", "bsr", "dia", "dok", "lil", "x", b"\xff"))
        )
    values = values.astype(
        random.choice((values.dtype, values.dtype, "i8", "f8", "u1")), casting="unsafe"
    )
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=False)
    return buffer.getvalue()


#: Values that no part of a summary or a model expects.
ODD_VALUES = (
    None,
    True,
    -1,
    0,
    10**30,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "x",
    [],
    {},
    [[]],
    "\ud800",
)
ODD_VALUES += (
    "<script>",
    [None],
    {"": None},
    2**63,
    "9" * 50,
    [1, [2, [3]]],
    -(10**20),
    "\x1b[2J\n",
)


def changed_json(data, random):
    tree = json.loads(data)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        tree = edited(tree, random, ODD_VALUES)
    text = json.dumps(tree)
    if random.random() < 0.05:
        text = text.replace("0", random.choice(("9" * 5000, "[" * 90_000, "1e999")), 1)
    return damaged(text.encode(), random) if random.random() < 0.1 else text.encode()


def edited(tree, random, values):
    """A tree of dicts and lists with one node replaced, removed, doubled or moved."""
    nodes = list(places(tree))
    if not nodes:
        return random.choice(values)
    owner, key = random.choice(nodes)
    edit = random.randrange(6)
    if edit < 2:
        owner[key] = random.choice(values)
    elif edit == 2:
        del owner[key]
    elif edit == 3:
        other, place = random.choice(nodes)
        owner[key] = json.loads(json.dumps(other.get(place) if isinstance(other, dict) else None))
    elif edit == 4 and isinstance(owner, list):
        owner.insert(key, owner[key])
    elif isinstance(owner, dict):
        owner[random.choice(("", "x", *owner))] = owner.pop(key)
    return tree


def places(tree):
    """Every node by its owner and its key there."""
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield tree, key
            yield from places(tree[key])
