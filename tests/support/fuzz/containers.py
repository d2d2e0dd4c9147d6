"""Edits inside mat and h5ad files, and Arrow tables of every type written anew."""

import io
import json
import struct
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from tests.support.fuzz.mutate import INTERESTING, damaged
from tests.support.fuzz.structure import ODD_VALUES, edited

COMPRESSED, MATRIX = 15, 14


def matlab(data, random):
    """A mat file with one variable changed inside and packed again, its length told rightly."""
    if data[124:128] != b"\x00\x01IM":
        return damaged(data, random)
    elements = list(_elements(data[128:]))
    place = random.randrange(len(elements))
    kind, body = elements[place]
    inner = (
        zlib.decompress(body) if kind == COMPRESSED else struct.pack("<II", kind, len(body)) + body
    )
    # dimensions, types and lengths stand at multiples of four, most of them near the start
    inner = bytearray(inner)
    for _ in range(random.choice((1, 1, 2, 3))):
        where = 4 * random.randrange(min(len(inner), random.choice((60, 200, 10**6))) // 4)
        number = random.choice((*INTERESTING, *range(20)))
        struct.pack_into("<I", inner, where, number % 2**32)
    inner = damaged(bytes(inner), random) if random.random() < 0.3 else bytes(inner)
    if random.random() < 0.5:
        elements[place] = (COMPRESSED, zlib.compress(inner))
    else:
        elements[place] = (MATRIX, inner[8:])
    packed = (struct.pack("<II", kind, len(body)) + body for kind, body in elements)
    return data[:128] + b"".join(packed)


def _elements(data):
    while len(data) >= 8:
        kind, size = struct.unpack("<II", data[:8])
        yield kind, data[8 : 8 + size]
        data = data[8 + size :]


ENCODINGS = (
    "csr_matrix",
    "csc_matrix",
    "array",
    "string-array",
    "dataframe",
    "dict",
    "categorical",
)
ENCODINGS += ("nullable-integer", "null", "string", "numeric-scalar", "rec-array", "anndata", "odd")
ENCODINGS += ("awkward-array", "nullable-boolean", "nullable-string-array", "raw")


def cells(data, random):
    """An h5ad file with its datasets, attributes or links changed through h5py."""
    import h5py

    buffer = io.BytesIO(data)
    with h5py.File(buffer, "r+") as file:
        for _ in range(random.choice((1, 1, 2, 3))):
            nodes = [file]
            file.visititems(lambda name, node, nodes=nodes: nodes.append(node))
            node = random.choice(nodes)
            random.choice((_attribute, _attribute, _values, _values, _replace, _remove))(
                node, random
            )
    return buffer.getvalue()


def _attribute(node, random):
    names = sorted(node.attrs)
    name = random.choice(names) if names else "encoding-type"
    odd = (
        "a",
        3,
        -1,
        2.5,
        [10**9, 10**9],
        [0, 0],
        [-1, 3],
        ["a", "b"],
        [],
        [6, 4],
        [6, 3],
        b"\xff",
    )
    if name == "encoding-type":
        odd = ENCODINGS
    node.attrs[name] = random.choice(odd)
    if random.random() < 0.2:
        del node.attrs[name]


def _values(node, random):
    """Numbers that make no sense as indices, codes or counts."""
    if not hasattr(node, "shape") or node.dtype.kind not in "iuf" or not node.size:
        return _attribute(node, random)
    values = node[()]
    number = random.choice((-1, 0, 1, 2, 3, 5, 99, 127, 10**6, 2**31 - 1))
    if values.dtype.kind in "iu":
        number = min(number, np.iinfo(values.dtype).max)
    np.atleast_1d(values).flat[random.randrange(values.size)] = number
    node[()] = values


def _replace(node, random):
    """A dataset or a group in its place that is of another size, type or kind altogether."""
    import h5py

    if node.name == "/":
        return
    parent, name = node.parent, node.name.rsplit("/", 1)[1]
    attributes = dict(node.attrs)
    del parent[name]
    edit = random.randrange(10)
    if edit == 0:
        parent.create_dataset(name, (10**9, 10**6), "f8", chunks=(1000, 1000))
    elif edit == 1:
        parent.create_dataset(name, (random.choice((0, 5, 7, 10**10)),), "i4", chunks=(100,))
    elif edit == 2:
        parent.create_dataset(name, data=np.array(["u", "ü", "w"], dtype=h5py.string_dtype()))
    elif edit == 3:
        parent[name] = random.choice((1.5, "text", b"bytes", h5py.Empty("f4"), [[1, 2], [3, 4]]))
    elif edit == 4:
        parent.create_group(name)
    elif edit == 5:
        outside = h5py.ExternalLink("other.h5", "/X") if random.random() < 0.5 else None
        parent[name] = outside or h5py.SoftLink(random.choice(("/", "/X", "/nowhere", parent.name)))
    elif edit == 6:
        parent[name] = parent
    elif edit == 7:
        parent.create_dataset(name, (6, 3), "f8", external=[("/etc/hostname", 0, 8)])
    elif edit == 8:
        layout = h5py.VirtualLayout((6, 3), "f8")
        layout[:] = h5py.VirtualSource("other.h5", "X", (6, 3))
        parent.create_virtual_dataset(name, layout)
    else:
        odd = ("c16", "S3", [("a", "f4"), ("b", "S2")], h5py.ref_dtype, bool, "V4", "f2", "u1")
        parent.create_dataset(name, (6, 3), random.choice(odd))
    if edit != 5 and edit != 6 and random.random() < 0.7:
        parent[name].attrs.update(attributes)


def _remove(node, random):
    if node.name != "/":
        del node.parent[node.name.rsplit("/", 1)[1]]


def arrow(data, random):
    """A table of columns of any type, its notes for pandas changed, some of it made unsound."""
    n_rows = random.choice((0, 1, 6, 6, 6, 200))
    # writing unsound columns as parquet, which looks at the values, would crash right here
    kinds = SOUND if data[:4] == b"PAR1" else SOUND + UNSOUND
    columns = [random.choice(kinds)(n_rows, random) for _ in range(random.choice((0, 1, 3, 5)))]
    names = [
        random.choice(("a", "b", "c", "", "ü", "x" * 300, "__index_level_0__")) for _ in columns
    ]
    frame = pa.table(columns, names=names)
    if random.random() < 0.5:
        frame = frame.replace_schema_metadata(_notes(data, random))
    buffer = io.BytesIO()
    if data[:4] == b"PAR1":
        packing = random.choice(("snappy", "none", "gzip", "zstd", "brotli", "lz4"))
        pa.parquet.write_table(frame, buffer, compression=packing)
    else:
        packing = random.choice(("lz4", "zstd", "uncompressed"))
        pa.feather.write_feather(frame, buffer, compression=packing)
    return damaged(buffer.getvalue(), random) if random.random() < 0.3 else buffer.getvalue()


def _notes(data, random):
    reader = pa.parquet.read_schema if data[:4] == b"PAR1" else pa.ipc.open_file
    found = reader(pa.BufferReader(data))
    schema = found if isinstance(found, pa.Schema) else found.schema
    notes = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    return {"pandas": json.dumps(edited(notes, random, ODD_VALUES))}


def _unsound(kind):
    """Columns whose offsets or codes point outside what there is; Arrow does not look."""

    def make(n_rows, random):
        wrong = random.choice((-1, 5, 100, 2**20, 2**30, -(2**31)))
        places = np.arange(n_rows + 1, dtype=np.int32)
        places[random.randrange(n_rows + 1)] = wrong
        text = pa.py_buffer(b"x" * n_rows)
        if kind == "text":
            return pa.Array.from_buffers(pa.string(), n_rows, [None, pa.py_buffer(places), text])
        if kind == "list":
            inner = pa.array(range(n_rows), pa.int8())
            buffers = [None, pa.py_buffer(places)]
            return pa.Array.from_buffers(pa.list_(pa.int8()), n_rows, buffers, children=[inner])
        words = pa.array(["u", "v"])
        codes = pa.array(places[:n_rows] % 2 if random.random() < 0.3 else places[:n_rows])
        return pa.DictionaryArray.from_arrays(codes, words, safe=False)

    return make


def _plain(values, kind=None):
    return lambda n_rows, random: pa.array([random.choice(values) for _ in range(n_rows)], kind)


SOUND = (
    _plain((1.5, None, float("nan"), float("inf"))),
    _plain((1, 2, -(2**63), None), pa.int64()),
    _plain((2**64 - 1, 0), pa.uint64()),
    _plain((True, False, None)),
    _plain(("u", "v", None, "ü" * 50)),
    _plain((b"\xff", b"", None), pa.binary()),
    _plain((b"\xff\xfe", b"ab"), pa.binary(2)),
    _plain((None,), pa.null()),
    _plain(([1, 2], [], None), pa.list_(pa.int8())),
    _plain(({"a": 1}, None), pa.struct({"a": pa.int8()})),
    _plain(([("k", 1)], []), pa.map_(pa.string(), pa.int8())),
    _plain((0, 2**62, -(2**63) + 1, None), pa.timestamp("ns")),
    _plain((0, 2**62, None), pa.timestamp("s", tz="Europe/Berlin")),
    _plain((0, 2**31 - 1, -(2**31)), pa.date32()),
    _plain((0, 86399), pa.time32("s")),
    _plain((0, 2**62), pa.duration("us")),
    _plain((12, None), pa.decimal128(38, 3)),
    _plain((1.5,), pa.float16()),
)
UNSOUND = (_unsound("text"), _unsound("list"), _unsound("codes"))
