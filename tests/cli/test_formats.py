"""Every kind of file, of a real questionnaire and real cells; others are refused in a sentence."""

import bz2
import gzip
import io
import json
import lzma
import os
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io

from groupfs.cli import prepare as cli_prepare
from groupfs.cli.prepare import prepare, read_file
from groupfs.cli.request import Request
from groupfs.tables.foreign_files import DISGUISED, FOREIGN
from groupfs.tables.h5ad import parse_h5ad
from groupfs.utils.errors import ParameterError
from tests.support.command import CHOSEN, everything, people, run

SHARED = Path(os.environ.get("GROUPFS_DATA") or Path(__file__).parents[3] / "shared" / "data")
CELLS = SHARED / "single-cell" / "10x_pbmc68k_reduced.h5ad"


def questionnaire():
    path = SHARED / "known-groups" / "bfi.npz"
    if not path.exists():
        pytest.skip("needs bfi.npz in GROUPFS_DATA")
    with np.load(path) as stored:
        return pd.DataFrame(stored["X"][:200].astype(float), columns=stored["names"].astype(str))


def packed(name, opener):
    def write(frame, path):
        path.with_name(name).write_bytes(opener(frame.to_csv(index=False).encode()))

    return name, write


def zipped(text):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("t.csv", text)
    return buffer.getvalue()


def write_npz(frame, path):
    np.savez(path, X=frame.to_numpy(), names=np.array(list(frame.columns)))


def write_sav(frame, path):
    pyreadstat = pytest.importorskip("pyreadstat")
    # 7 is an answer that SPSS takes for missing, 8 one that a label does
    frame = frame.astype(float).replace({np.nan: 7.0})
    labels = {name: {1.0: "very inaccurate", 8.0: "No answer"} for name in frame.columns}
    missing = {name: [7.0] for name in frame.columns}
    pyreadstat.write_sav(frame, path, missing_ranges=missing, variable_value_labels=labels)


def write_xlsx(frame, path):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"about": ["a questionnaire"]}).to_excel(book, sheet_name="notes", index=False)
        frame.to_excel(book, sheet_name="answers", index=False)


def write_h5ad(frame, path):
    pytest.importorskip("anndata").AnnData(frame.set_axis(frame.index.astype(str))).write_h5ad(path)


READ = [
    ("t.csv", lambda f, p: f.to_csv(p, index=False)),
    ("t.tsv", lambda f, p: f.to_csv(p, index=False, sep="\t")),
    ("t.txt", lambda f, p: f.to_csv(p, index=False, sep=";", decimal=",")),
    ("t.data", lambda f, p: f.to_csv(p, index=False, sep="|")),
    packed("t.csv.gz", gzip.compress),
    packed("t.csv.bz2", bz2.compress),
    packed("t.csv.xz", lzma.compress),
    packed("t.csv.zip", zipped),
    ("t.xlsx", write_xlsx),
    ("t.sav", write_sav),
    ("t.zsav", write_sav),
    ("t.parquet", lambda f, p: f.to_parquet(p)),
    ("t.feather", lambda f, p: f.to_feather(p)),
    ("t.npy", lambda f, p: np.save(p, f.to_numpy())),
    ("t.npz", write_npz),
    ("t.mat", lambda f, p: scipy.io.savemat(p, {"X": f.to_numpy()})),
    ("t.h5ad", write_h5ad),
]
WITHOUT_NAMES = ("t.npy", "t.mat")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "write"), READ, ids=[name for name, _ in READ])
def test_every_kind_of_file_gives_the_same_features(name, write, tmp_path):
    frame = questionnaire()
    if name not in ("t.npy", "t.mat", "t.npz", "t.h5ad"):
        frame.iloc[3, 4] = np.nan
    write(frame, tmp_path / name)
    table, learned = read_file(str(tmp_path / name), Request(tmp_path), lambda: str(tmp_path))
    prepared = prepare(table, Request(tmp_path), learned)
    np.testing.assert_allclose(np.asarray(prepared.X, dtype=float), frame, rtol=1e-6)
    if name not in WITHOUT_NAMES:
        assert prepared.preparation.names == list(frame.columns)
    if name == "t.xlsx":
        assert "The table is the sheet answers; sheet notes was not read." in prepared.notes


@pytest.mark.parametrize("ending", sorted(FOREIGN))
def test_files_of_other_programs_are_refused_with_what_to_do(ending, tmp_path):
    path = tmp_path / f"survey{ending}"
    path.write_bytes(b"anything")
    refused(run("select", path, "-o", tmp_path / "out"), 3, "is not read here; ")


@pytest.mark.parametrize("start", sorted(DISGUISED), ids=repr)
def test_other_files_by_the_name_of_a_csv_are_refused_as_what_they_are(start, tmp_path):
    (tmp_path / "survey.csv").write_bytes(start + bytes(100))
    refused(run("select", tmp_path / "survey.csv", "-o", tmp_path / "out"), 3, "by its first bytes")


BROKEN = ("sav", "parquet", "feather", "npy", "npz", "mat", "h5ad")


@pytest.mark.slow
@pytest.mark.parametrize("ending", BROKEN)
def test_broken_files_are_refused(ending, tmp_path):
    (tmp_path / f"t.{ending}").write_bytes(b"nothing" * 99)
    result = run("select", tmp_path / f"t.{ending}", "-o", tmp_path / "out")
    refused(result, 3, f"is broken or no {ending} file")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "package", "extra"), [("xlsx", "openpyxl", "excel"), ("sav", "pyreadstat", "spss")]
)
def test_a_file_whose_package_is_missing_names_the_extra(
    ending, package, extra, tmp_path, monkeypatch
):
    (tmp_path / f"{package}.py").write_text(f"raise ModuleNotFoundError(name='{package}')\n")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / f"t.{ending}").write_bytes(b"anything")
    result = run("select", tmp_path / f"t.{ending}", "-o", tmp_path / "out")
    refused(result, 6, f'needs {package}; install it with pip install "groupfs[{extra}]".')


def refused(result, code, says):
    last = result.stderr.splitlines()[-1]
    assert result.exit_code == code, result.output
    assert says in last and last.startswith("groupfs: ") and last.endswith(".")
    assert "Traceback" not in result.output


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:::anndata")
def test_cells_of_an_old_layout_are_read_with_a_remark_on_raw(tmp_path):
    if not CELLS.exists():
        pytest.skip("needs single-cell/10x_pbmc68k_reduced.h5ad in GROUPFS_DATA")
    cells = pytest.importorskip("anndata").read_h5ad(CELLS)
    request = Request(tmp_path, label="bulk_labels")
    prepared = prepare(read_file(str(CELLS), request, str)[0], request)
    np.testing.assert_allclose(prepared.X, cells.X, rtol=1e-6)
    assert prepared.preparation.names == list(cells.var_names)
    assert list(prepared.labels) == list(cells.obs["bulk_labels"])
    assert any("765 variables, from before scaling, and --use-raw" in n for n in prepared.notes)
    raw = parse_h5ad(str(CELLS), "cells", use_raw=True)
    np.testing.assert_allclose(raw["X"].toarray(), cells.raw.X.toarray(), rtol=1e-6)
    assert raw["notes"].tolist() == []
    with pytest.raises(ParameterError, match="layer='counts': cells has no such layer; it has no"):
        parse_h5ad(str(CELLS), "cells", layer="counts")


@pytest.mark.slow
def test_a_layer_is_selected_from_and_applied(tmp_path):
    frame = people()[[*CHOSEN, "w0"]]
    layers = {"log": frame.to_numpy()}
    cells = pytest.importorskip("anndata").AnnData(np.zeros(frame.shape), layers=layers)
    cells.var_names = [*frame.columns[:-1], "u0"]  # as of a gene with two probes
    path = str(tmp_path / "t.h5ad")
    cells.write_h5ad(path)
    out = tmp_path / "out"
    result = run("select", path, "--layer", "log", "--groups", 3, "-o", out)
    assert result.exit_code == 0, result.output
    assert "occur again were numbered: u0-1." in result.stderr
    assert "--layer log" in json.loads((out / "result.json").read_text())["code"][0]
    written = pd.read_csv(io.StringIO(run("apply", out, path, "-q").stdout))
    np.testing.assert_allclose(written, frame[written.columns], rtol=1e-6)
    refused(run("select", path, "--layer", "x", "-o", tmp_path / "x"), 4, "its layers are log.")
    with pytest.raises(ParameterError, match="use_raw=True: t has no raw values; its layers are"):
        parse_h5ad(path, "t", use_raw=True)


@pytest.mark.parametrize(
    ("option", "code", "says"),
    [
        (("--layer", "log"), 4, "--layer log: only h5ad files have layers and raw values"),
        (("--use-raw",), 4, "--use-raw: only h5ad files have layers and raw values"),
    ],
)
def test_options_for_cells_are_refused_for_other_files(option, code, says, table, tmp_path):
    refused(run("select", table, *option, "-o", tmp_path / "out"), code, says)


@pytest.mark.slow
def test_a_large_csv_is_selected_from_in_parts_and_leaves_nothing(tmp_path, monkeypatch):
    people().to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.setattr(cli_prepare, "is_too_large", lambda *_: True)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    options = ("--groups", 6, "--label", "outcome", "--by", "sex", "--max-memory", "3GB")
    result = run("select", tmp_path / "t.csv", *options, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "t.csv"]
    selected = set(pd.read_csv(tmp_path / "out" / "selected.csv")["feature"])
    assert selected == set(CHOSEN) and (tmp_path / "out" / "conditions.csv").exists()
    summary = json.loads((tmp_path / "out" / "result.json").read_text())
    assert "--max-memory 3GB" in summary["code"][0] and summary["agreement"]["name"] == "outcome"
    applied = run("apply", tmp_path / "out", tmp_path / "t.csv", "-q").stdout
    assert set(applied.splitlines()[0].split(",")) == set(CHOSEN)


def test_too_little_memory_is_refused_with_how_much_there_must_be(table, tmp_path):
    result = run("select", table, "--max-memory", "1MB", "-o", tmp_path / "out")
    refused(result, 4, "--max-memory 1MB leaves nothing for the table; give ")
    result = run("select", table, "--max-memory", "much", "-o", tmp_path / "out")
    refused(result, 4, "--max-memory much is not an amount of memory")
    assert everything(tmp_path) == []


def test_no_temporary_folder_is_made_for_a_table_that_memory_holds(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.TemporaryDirectory", None)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    result = run("select", tmp_path / "t.csv", "-o", tmp_path / "out")
    refused(result, 4, "has only one row")
