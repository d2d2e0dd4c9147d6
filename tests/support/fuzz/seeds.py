"""Small whole files of every kind that is read, made in code; mutants grow from them."""

import bz2
import functools
import gzip
import io
import json
import lzma
import re
import struct
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp


def table(n_rows=6, n_columns=3):
    rng = np.random.default_rng(0)
    names = [chr(97 + place) for place in range(n_columns)]
    return pd.DataFrame(rng.standard_normal((n_rows, n_columns)).round(3), columns=names)


def mixed():
    """A column of every type that people keep in tables."""
    return pd.DataFrame(
        {
            "whole": np.arange(6),
            "small": np.arange(6, dtype=np.int8),
            "real": [0.5, np.nan, 2.5, 3.5, 4.5, 5.5],
            "word": ["u", "v", None, "u", "w", "ü"],
            "truth": [True, False] * 3,
            "kind": pd.Categorical(list("pqpqpq")),
            "when": pd.date_range("2020-01-01", periods=6),
            "span": pd.to_timedelta(range(6), unit="h"),
            "nullable": pd.array([1, None, 3, 4, 5, 6], dtype="Int64"),
        }
    )


def csv():
    people = mixed().astype({"when": str, "span": str})
    return [
        table().to_csv(index=False).encode(),
        people.to_csv(index=False).encode(),
        people.to_csv(index=False, sep=";", decimal=",").encode("cp1252"),
        people.to_csv(index=False).encode("utf-16"),
        table().to_csv(sep="\t").encode("utf-8-sig"),
        table().to_csv(index=False, sep=" ", header=False).encode(),
        b'name;"a; b"\r\n"x ""y""";1\r\n"line\r\nbreak";2\r\n',
        b"a|b|c|\n1|2|3|\n4|?|NA|\n",
    ]


def packed():
    data = csv()[1]
    archive = zipped({"people.csv": data, "__MACOSX/people.csv": b"x"})
    array = gzip.compress(npy()[0], mtime=0)
    return [
        gzip.compress(data, mtime=0),
        bz2.compress(data),
        lzma.compress(data),
        archive,
        array,
    ]


def npy():
    columns = table().to_numpy()
    arrays = [
        columns,
        np.asfortranarray(columns.astype(np.float32)),
        columns.astype(">i2"),
        columns > 0,
        columns.astype("<f2"),
        columns.astype(str),
        columns.astype("S5"),
        np.arange(6),
        columns.astype(complex),
        np.zeros(3, dtype=[("u", "<i4"), ("v", "S3")]),
    ]
    return [_saved(np.save, array) for array in arrays]


def npz():
    columns = table().to_numpy()
    sparse = sp.random_array((8, 5), density=0.3, rng=0)
    return [
        _saved(np.savez, X=columns, y=np.arange(6), names=np.array(list("abc"))),
        _saved(np.savez_compressed, data=columns, columns=np.array([b"a", b"b", b"c"])),
        *(_saved(sp.save_npz, sparse.asformat(form)) for form in ("csr", "csc", "coo")),
        _saved(sp.save_npz, sp.bsr_array(sparse.toarray(), blocksize=(2, 1))),
        _saved(sp.save_npz, sp.dia_array(sparse), compressed=False),
    ]


def mat():
    columns = table().to_numpy()
    nested = {"deep": {"X": columns, "cell": np.array([columns, "text", {"u": 1}], dtype=object)}}
    variables = {"X": columns, "Y": np.arange(6), "columns": np.array(["a", "b", "c"])}
    kinds = {"X": columns.astype(np.int16), "flag": columns > 0, "complex": columns * 1j}
    sparse = {"X": sp.csc_array(columns), "Y": np.arange(6.0)}
    made = [
        _saved(scipy.io.savemat, {**variables, **nested}),
        _saved(scipy.io.savemat, {**variables, **nested}, do_compression=True),
        _saved(scipy.io.savemat, kinds, do_compression=True),
        _saved(scipy.io.savemat, sparse),
        _saved(scipy.io.savemat, {"X": columns, "t": "text"}, format="4"),
        _saved(scipy.io.savemat, sparse, format="4"),
    ]
    return [_timeless(data) for data in made]


def parquet():
    every = mixed()
    nested = pd.DataFrame({"list": [[1, 2], [], None], "a": [1, 2, 3]})
    return [
        _saved_frame(table(), "to_parquet"),
        _saved_frame(every, "to_parquet"),
        _saved_frame(every, "to_parquet", compression="gzip"),
        _saved_frame(every.set_index(["word", "whole"]), "to_parquet", compression="zstd"),
        _saved_frame(nested, "to_parquet", compression=None),
        _saved_frame(every, "to_parquet", use_dictionary=False, data_page_version="2.0"),
    ]


def feather():
    every = mixed()
    return [
        _saved_frame(table(), "to_feather", compression="uncompressed"),
        _saved_frame(every, "to_feather", compression="uncompressed"),
        _saved_frame(every, "to_feather", compression="lz4"),
        _saved_frame(every, "to_feather", compression="zstd"),
        _saved_frame(pd.DataFrame({"list": [[1, 2], [], None]}), "to_feather"),
    ]


def h5ad():
    import anndata

    columns = table().to_numpy()
    about = mixed().drop(columns=["when", "span"]).fillna({"word": "none"})
    about.index = [f"cell {place}" for place in range(6)]
    genes = pd.DataFrame({"length": [1, 2, 3]}, index=["a", "b", "c"])
    matrices = (columns, sp.csr_matrix(columns), sp.csc_matrix(columns))
    made = []
    with tempfile.TemporaryDirectory() as folder:
        for place, matrix in enumerate(matrices):
            path = Path(folder, f"{place}.h5ad")
            settings = {"compression": "gzip"} if place == 1 else {}
            anndata.AnnData(matrix, obs=about, var=genes).write_h5ad(path, **settings)
            made.append(path.read_bytes())
    return made


def rda():
    """R's own format, older and newer, with a matrix that has names."""
    values, rows, columns = table().to_numpy(), "uvwxyz", "abc"

    def word(text):
        return struct.pack(">ii", 0x00040009, len(text)) + text.encode()

    def words(texts):
        return struct.pack(">ii", 16, len(texts)) + b"".join(map(word, texts))

    def entry(tag, value):
        return struct.pack(">ii", 0x402, 1) + word(tag) + value

    end = struct.pack(">i", 254)
    dim = struct.pack(">4i", 13, 2, *values.shape)
    names = struct.pack(">ii", 19, 2) + words(rows) + words(columns)
    matrix = struct.pack(">ii", 0x20E, values.size) + values.T.astype(">f8").tobytes()
    matrix += entry("dim", dim) + entry("dimnames", names) + end
    counts = entry("counts", struct.pack(">ii3i", 13, 3, 1, 2, 3))
    body = entry("lung", matrix) + counts + end
    older = b"RDX2\nX\n" + struct.pack(">3i", 2, 0x030500, 0x020300) + body
    newer = b"RDX3\nX\n" + struct.pack(">4i", 3, 0x030500, 0x030500, 5) + b"UTF-8" + body
    return [older, newer, gzip.compress(older, mtime=0), bz2.compress(older), lzma.compress(newer)]


def idx():
    images = np.arange(24, dtype=np.uint8).tobytes()
    return [struct.pack(">BBBB3I", 0, 0, 8, 3, 2, 3, 4) + images]


def amat():
    return [
        "\n".join(" ".join(map(str, row)) for row in table().to_numpy()).encode(),
        b"# remark\n1 2 3\n4 5 6e3\n",
    ]


def datasets_mat():
    columns = table().to_numpy()
    variables = {"X": columns, "Y": np.arange(6)}
    packed = _saved(scipy.io.savemat, variables, do_compression=True)
    return [_timeless(data) for data in (_saved(scipy.io.savemat, variables), packed)] + mat()


def skops():
    """Models, with the numbers of objects counted from 1 instead of taken from their addresses."""
    return [_numbered(data) for data in _models()[0]]


def result():
    return [json.dumps(summary).encode() for summary in _models()[1]]


def options():
    """Words of the command line, one per line; t.csv and the like are there to be read."""
    commands = [
        "select t.csv --label kind --drop s*,a --use word --image 2x3 --budget 3 --groups 2",
        "select t.csv --sparsity 0.5 --seed 7 --device cpu -o out --json --quiet",
        "select - --no-header --significant --path",
        "apply m.skops t.csv --keep word --as-is --out small.parquet --force",
        "report r.json --out page.html -q",
        "demo --seed 3 --json",
        "--version",
        "select --help",
    ]
    return [command.replace(" ", "\n").encode() for command in commands]


def zipped(members, **settings):
    """A zip archive without times."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **settings) as archive:
        pairs = members.items() if isinstance(members, dict) else members
        for name, data in pairs:
            archive.writestr(zipfile.ZipInfo(name), data, settings.get("compression"))
    return buffer.getvalue()


def unzipped(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def _saved(save, *arguments, **settings):
    buffer = io.BytesIO()
    save(buffer, *arguments, **settings)
    return buffer.getvalue()


def _saved_frame(frame, writer, **settings):
    buffer = io.BytesIO()
    getattr(frame, writer)(buffer, **settings)
    return buffer.getvalue()


def _timeless(data):
    """The first 116 bytes of the newer kind of mat file say when it was written."""
    return b" " * 116 + data[116:] if data.startswith(b"MATLAB") else data


@functools.cache
def _models():
    """Model files and summaries of their results; the fits take a second or two."""
    from groupfs import GroupFS, GroupFSPath, persistence
    from groupfs.datasets import load_two_moons
    from groupfs.report import summarize
    from groupfs.tables.columns import learn_columns

    X = load_two_moons(40, random_state=0).data[:, [0, 1, 5, 6, 10, 11]].round(3)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    quick = {"n_groups": 2, "max_epochs": 3, "n_init": 1, "random_state": 0}
    plain = GroupFS(**quick).fit(X)
    path = GroupFSPath(n_resamples=2, **quick).fit(frame)
    models = []
    with tempfile.TemporaryDirectory() as folder:
        for selector, preparation in ((plain, None), (path, learn_columns(frame))):
            persistence.save(selector, Path(folder, "m"), preparation=preparation)
            models.append(Path(folder, "m").read_bytes())
    labels = np.arange(40) % 2
    summaries = [
        summarize(plain, X, image_shape=(2, 3)),
        summarize(path, frame, labels=labels, label_name="half", source="t.csv"),
    ]
    for summary in summaries:
        summary["created"] = "2020-01-01"
    return models, summaries


def _numbered(model):
    members = dict(unzipped(model))
    schema = members.pop("schema.json").decode()
    places = {}
    for found in re.findall(r"\b\d{9,}\b", schema):
        places.setdefault(found, str(len(places) + 1))
    schema = re.sub(r"\b\d{9,}\b", lambda found: places[found[0]], schema)
    arrays = [(f"{places[name.split('.')[0]]}.npy", data) for name, data in members.items()]
    return zipped([*sorted(arrays), ("schema.json", schema)], compression=zipfile.ZIP_DEFLATED)
