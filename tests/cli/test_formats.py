"""Every kind of file, of a questionnaire and of real cells; others are refused in a sentence."""

import io
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io

from groupfs.cli import prepare as cli_prepare
from groupfs.cli.options import SelectRequest
from groupfs.cli.prepare import prepare, read_file
from groupfs.files import read_table
from tests.support.command import CHOSEN, KEPT_OF_TWO, everything, people, run

SHARED = Path(os.environ.get("GROUPFS_DATA") or Path(__file__).parents[3] / "shared" / "data")
CELLS = SHARED / "single-cell" / "10x_pbmc68k_reduced.h5ad"


def write_csv(frame, path):
    frame.to_csv(path, index=False)  # packed as its name says


def write_sav(frame, path):
    """Write one gap as 7, which SPSS takes for missing, and one as 8, which a label does."""
    frame = frame.fillna({"q3": 7.0, "q5": 8.0})
    labels = {name: {1.0: "very inaccurate", 8.0: "No answer"} for name in frame.columns}
    labels["kind"] = {1.0: "u", 2.0: "v", 3.0: "w"}
    pytest.importorskip("pyreadstat").write_sav(
        frame.assign(kind=np.arange(len(frame)) % 3 + 1.0),
        path,
        missing_ranges={name: [7.0] for name in frame.columns},
        variable_value_labels=labels,
        variable_measure={"kind": "nominal"},
    )


def write_xlsx(frame, path):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"about": ["a questionnaire"]}).to_excel(book, sheet_name="notes", index=False)
        frame.to_excel(book, sheet_name="answers", index=False, na_rep="#REF!")


def write_h5ad(frame, path):
    pytest.importorskip("anndata").AnnData(frame.set_axis(frame.index.astype(str))).write_h5ad(path)


READ = {
    **dict.fromkeys(["t.csv", "t.csv.gz", "t.csv.bz2", "t.csv.xz", "t.csv.zip"], write_csv),
    "t.tsv": lambda f, p: f.to_csv(p, index=False, sep="\t"),
    "t.txt": lambda f, p: f.to_csv(p, index=False, sep=";", decimal=","),
    "t.data": lambda f, p: f.to_csv(p, index=False, sep="|"),
    "t.xlsx": write_xlsx,
    "t.sav": write_sav,
    "t.zsav": write_sav,
    "t.parquet": lambda f, p: f.to_parquet(p),
    "t.feather": lambda f, p: f.to_feather(p),
    "t.npy": lambda f, p: np.save(p, f.to_numpy()),
    "t.npz": lambda f, p: np.savez(p, X=f.to_numpy(), names=np.array(list(f.columns))),
    "t.mat": lambda f, p: scipy.io.savemat(p, {"X": f.to_numpy()}),
    "t.h5ad": write_h5ad,
}
SAID = {
    "t.xlsx": "The table is the sheet answers; sheet notes was not read.",
    "t.sav": "Took values that are labelled No answer for gaps (how many): q5 (1).",
    "t.zsav": "Took user-missing values of SPSS for gaps in 1 column (how many): q3 (1).",
}


@pytest.mark.parametrize("name", READ)
def test_every_kind_of_file_gives_the_same_features(name, rng, tmp_path):
    names = [f"q{i}" for i in range(12)]
    frame = pd.DataFrame(rng.integers(1, 7, (200, 12)).astype(float), columns=names)
    frame.iloc[3, 3] = frame.iloc[8, 5] = np.nan
    READ[name](frame, tmp_path / name)
    request = SelectRequest(str(tmp_path / name))
    table = read_file(request)
    prepared = prepare(table, request)
    X = pd.DataFrame(prepared.X)
    if name.endswith("sav"):
        assert set(X.pop("kind")) == set("uvw")
    np.testing.assert_allclose(X.astype(float), frame, rtol=1e-6)
    assert table.named == (name not in ("t.npy", "t.mat"))
    assert list(X.columns) == (names if table.named else [f"x{i}" for i in range(12)])
    assert name not in SAID or SAID[name] in prepared.notes


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
    request = SelectRequest(str(CELLS), label="bulk_labels")
    prepared = prepare(read_file(request), request)
    np.testing.assert_allclose(prepared.X, cells.X, rtol=1e-6)
    assert prepared.preparation.names == list(cells.var_names)
    assert list(prepared.labels) == list(cells.obs["bulk_labels"])
    assert any("765 variables, from before scaling, and --use-raw" in n for n in prepared.notes)
    raw = read_table(CELLS, use_raw=True)
    np.testing.assert_allclose(raw.values.toarray(), cells.raw.X.toarray(), rtol=1e-6)
    assert raw.notes == []


@pytest.mark.slow
def test_a_layer_is_selected_from_and_applied(tmp_path):
    frame = people()[[*CHOSEN, "w0"]]
    layers = {"log": frame.to_numpy()}
    cells = pytest.importorskip("anndata").AnnData(np.zeros(frame.shape), layers=layers)
    cells.var_names = [*frame.columns[:-1], "u0"]  # as of a gene with two probes
    path, out = str(tmp_path / "t.h5ad"), tmp_path / "out"
    cells.write_h5ad(path)
    result = run("select", path, "--layer", "log", "--groups", 3, "-o", out)
    assert result.exit_code == 0, result.output
    assert "occur again were numbered: u0-1." in result.stderr
    assert "--layer log" in json.loads((out / "result.json").read_text())["code"][0]
    written = pd.read_csv(io.StringIO(run("apply", out, path, "-q").stdout))
    np.testing.assert_allclose(written, frame[written.columns], rtol=1e-6)
    refused(run("select", path, "--layer", "x", "-o", tmp_path / "x"), 4, "its layers are log.")
    refused(run("select", path, "--use-raw", "-o", tmp_path / "x"), 4, "has no raw values")


@pytest.mark.parametrize("option", [("--layer", "log"), ("--use-raw",)])
def test_options_for_cells_are_refused_for_other_files(option, table, tmp_path):
    says = f"{' '.join(option)}: only h5ad files have layers and raw values"
    refused(run("select", table, *option, "-o", tmp_path / "out"), 4, says)


@pytest.mark.slow
def test_a_large_csv_is_selected_from_by_a_sample_of_rows(tmp_path, monkeypatch):
    people(3000).to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.setattr(cli_prepare, "is_too_large", lambda *_: True)
    monkeypatch.setattr("groupfs.files.large_text.MOST_BYTES", 10**6)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    options = (*KEPT_OF_TWO, "--label", "outcome", "--by", "sex", "--max-memory", "3GB")
    result = run("select", tmp_path / "t.csv", *options, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "t.csv"]
    assert set(pd.read_csv(tmp_path / "out" / "selected.csv")["feature"]) == set(CHOSEN)
    summary = json.loads((tmp_path / "out" / "result.json").read_text())
    assert "--max-memory 3GB" in summary["code"][0] and "of 3,000 rows" in result.stderr
    assert summary["conditions"] and summary["agreement"]["adjusted_rand_all"] > 0.1


@pytest.mark.parametrize(
    ("memory", "says"),
    [("1MB", "leaves 0 bytes; set --max-memory to "), ("much", "much is not an amount of")],
)
def test_too_little_memory_is_refused_with_how_much_there_must_be(memory, says, table, tmp_path):
    result = run("select", table, "--max-memory", memory, "-o", tmp_path / "out")
    refused(result, 4, f"--max-memory {says}")
    assert everything(tmp_path) == []
