"""The command: what it writes and prints, how it ends, and that nothing is left half done."""

import csv
import html
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("skops")
pytest.importorskip("jinja2")

from typer.testing import CliRunner

from groupfs import GroupFS, persistence
from groupfs.cli import app
from groupfs.cli.printing import closed_gates_hint, print_outcome
from groupfs.cli.result_folder import FILES
from groupfs.cli.select import Outcome, Request, command_line, prepare
from groupfs.tables import read_table

SOURCE = Path(__file__).parents[2] / "src"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1", "COLUMNS": "80"}

#: What is to be found in the table below.
CHOSEN = [f"{kind}{i}" for kind in "uv" for i in range(4)]


def run(*arguments, **more):
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "80"}, **more)


def process(*arguments, **more):
    command = [sys.executable, "-m", "groupfs", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, env=ENVIRONMENT, timeout=120, **more)


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def people(n=60, seed=0):
    """Two groups of four features, five of noise, an id, text and a label that says the first."""
    rng = np.random.default_rng(seed)
    first, second = rng.standard_normal((2, n))
    columns = {"person_id": [f"p{i:03d}" for i in range(n)]}
    columns |= {f"u{i}": first + 0.3 * rng.standard_normal(n) for i in range(4)}
    columns |= {f"v{i}": second + 0.3 * rng.standard_normal(n) for i in range(4)}
    columns |= {f"w{i}": rng.standard_normal(n) for i in range(5)}
    columns["sex"] = rng.choice(["f", "m"], n)
    columns["job"] = rng.choice(["baker", "cook", "smith"], n)
    columns["outcome"] = np.where(first > 0, "well", "ill")
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="module")
def table(folder):
    path = folder / "people.csv"
    people().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def selected(folder, table):
    """One run that many tests look at."""
    out = folder / "results"
    result = run("select", table, "--label", "outcome", "--groups", 6, "-o", out)
    assert result.exit_code == 0, result.output
    return result, out


def test_select_writes_all_its_files_and_nothing_else(selected, folder):
    _, out = selected
    assert everything(out) == sorted(FILES)
    assert not [name for name in os.listdir(folder) if name.startswith(".")]


def test_select_finds_the_groups(selected):
    _, out = selected
    names = pd.read_csv(out / "selected.csv")["feature"]
    assert set(names) == set(CHOSEN)


def test_groups_csv_has_every_feature_with_a_reason(selected):
    _, out = selected
    groups = pd.read_csv(out / "groups.csv")
    assert list(groups.columns) == [
        *("feature", "group", "rank", "score", "p_value", "centrality", "kept", "reason")
    ]
    assert len(groups) == 17 and groups["reason"].str.len().min() > 10
    assert groups["kept"].sum() == 8


def test_every_decision_on_columns_is_said_and_kept(selected):
    result, out = selected
    notes = json.loads((out / "result.json").read_text())["table"]["notes"]
    said = " ".join(result.stderr.split())
    assert len(notes) == 4 and all(note in said for note in notes)
    for word in ("person_id", "sex (f = 0, m = 1)", "job (3 values)", "Set outcome aside"):
        assert any(word in note for note in notes)


def test_the_table_fits_80_columns_and_goes_to_stdout(selected):
    result, _ = selected
    lines = result.stdout.splitlines()
    assert max(len(line) for line in lines if "/" not in line) <= 80  # paths stay in one piece
    rows = [line for line in lines if re.match(r"\s+\d+\s+(yes|no)\s", line)]
    assert len(rows) >= 2 and "yes" in rows[0] and "no" in rows[-1]
    assert "Reading" not in result.stdout and "Reading" in result.stderr


def test_agreement_with_the_label_is_reported(selected):
    result, out = selected
    agreement = json.loads((out / "result.json").read_text())["agreement"]
    assert agreement["name"] == "outcome" and agreement["n_classes"] == 2
    assert "Agreement of k-means with outcome" in result.stdout


def test_the_number_of_samples_with_a_label_is_told(folder):
    some = people()
    some["outcome"] = some["outcome"].astype(object)
    some.loc[::3, "outcome"] = None
    some.to_csv(folder / "some.csv", index=False)
    arguments = ("--label", "outcome", "--groups", 6, "-o", folder / "some")
    result = run("select", folder / "some.csv", *arguments)
    n_labelled = int(some["outcome"].notna().sum())
    assert f"(2 classes, {n_labelled} samples)" in " ".join(result.stdout.split())


def test_a_label_of_one_value_is_refused_by_that_value(folder):
    alone = people().assign(outcome="yes")
    alone.loc[0, "outcome"] = None
    alone.to_csv(folder / "alone.csv", index=False)
    result = run("select", folder / "alone.csv", "--label", "outcome", "-o", folder / "alone")
    assert result.exit_code == 4 and "one value only, yes." in " ".join(result.stderr.split())


def test_the_label_plays_no_part_in_the_selection(selected, folder, table):
    """The same groups and scores come out whatever the label says."""
    shuffled = people()
    shuffled["outcome"] = shuffled["outcome"].sample(frac=1, random_state=1).to_numpy()
    shuffled.to_csv(folder / "shuffled.csv", index=False)
    out = folder / "other"
    arguments = ("--label", "outcome", "--groups", 6, "-o", out, "-q")
    assert run("select", folder / "shuffled.csv", *arguments).exit_code == 0
    assert (out / "groups.csv").read_text() == (selected[1] / "groups.csv").read_text()


def test_json_alone_is_on_stdout_and_quiet_means_quiet(folder, table):
    out = folder / "machine"
    result = run("select", table, "--budget", 3, "--groups", 6, "--json", "-q", "-o", out)
    assert result.exit_code == 0 and result.stderr == ""
    printed = json.loads(result.stdout)
    assert len(printed["selected"]) == 3 and printed["out"] == str(out)
    assert {name for group in printed["groups"] for name in group["features"]} > {"u0", "w4"}


def test_numbers_as_label_are_cut_in_two(folder):
    frame = people().assign(outcome=np.arange(60) % 20)
    frame.to_csv(folder / "graded.csv", index=False)
    prepared = prepare(read_table(folder / "graded.csv"), Request(folder, label="outcome"))
    assert sorted(set(prepared.labels)) == ["above 9.5", "up to 9.5"]
    assert "outcome" not in prepared.preparation.names


def test_a_path_of_sparsities_an_h5ad_and_its_labels(folder):
    anndata = pytest.importorskip("anndata")
    frame = people()
    numbers = frame.filter(regex="^[uvw]").to_numpy(dtype=np.float32)
    cells = anndata.AnnData(
        np.maximum(numbers, 0), obs=frame[["outcome"]].set_index(frame["person_id"])
    )
    import scipy.sparse as sp

    cells.X = sp.csr_matrix(cells.X)
    cells.write_h5ad(folder / "cells.h5ad")
    kept = ("--checkpoint", folder / "kept")
    arguments = ("--label", "outcome", "--path", *kept, "--groups", 4, "-o", folder / "cells")
    result = run("select", folder / "cells.h5ad", *arguments)
    assert result.exit_code == 0, result.output
    summary = json.loads((folder / "cells" / "result.json").read_text())
    assert summary["estimator"] == "GroupFSPath" and len(summary["path"]["sparsities"]) == 24
    assert summary["settings"]["checkpoint"] is None and not list((folder / "kept").iterdir())
    small = run("apply", folder / "cells" / "model.skops", folder / "cells.h5ad", "-q")
    assert len(small.stdout.splitlines()) == 61


def test_apply_selects_the_same_columns_of_another_table(selected, folder):
    new = people(20, seed=5).drop(columns=["outcome", "job", "w0"])
    new.to_csv(folder / "new.csv", index=False)
    result = run("apply", selected[1] / "model.skops", folder / "new.csv", "--keep", "person_id")
    assert result.exit_code == 0, result.output
    written = pd.read_csv(io.StringIO(result.stdout))
    pd.testing.assert_frame_equal(written, new[["person_id", *CHOSEN]])


def test_apply_names_the_columns_that_are_missing(selected, folder):
    people(20).drop(columns=["u1", "v3"]).to_csv(folder / "poor.csv", index=False)
    result = run("apply", selected[1] / "model.skops", folder / "poor.csv")
    assert result.exit_code == 4 and result.stdout == ""
    assert "2 of the 8 columns that are needed are missing: u1, v3." in result.stderr


@pytest.mark.parametrize("name", ["small.parquet", "small.npy", "small.csv.gz", "small.feather"])
def test_apply_writes_the_kind_its_name_says(name, selected, folder, table):
    out = folder / name
    assert run("apply", selected[1] / "model.skops", table, "-o", out).exit_code == 0
    again = run("apply", selected[1] / "model.skops", table, "-o", out)
    assert again.exit_code == 5 and "exists; add --force" in again.stderr
    np.testing.assert_allclose(read_table(out).values, people()[CHOSEN], rtol=1e-12)


def test_apply_encodes_as_the_model_did(folder, table):
    out = folder / "text"
    assert run("select", table, "--groups", 6, "-q", "-o", out).exit_code == 0
    other = people().head(4).assign(outcome=["well", "ill", "", "odd"])
    other.to_csv(folder / "other.csv", index=False)
    result = run("apply", out / "model.skops", folder / "other.csv")
    most = float((people()["outcome"] == "well").sum() > 30)
    written = pd.read_csv(io.StringIO(result.stdout))
    assert written["outcome"].tolist() == [1, 0, most, most]
    assert written["outcome"].dtype == np.int64
    assert "Replaced missing or unknown values (how many): outcome (2)." in result.stderr
    as_is = run("apply", out / "model.skops", folder / "other.csv", "--as-is", "-q")
    assert "odd" in as_is.stdout


def test_columns_without_names_must_be_as_many_as_the_model_saw(folder):
    numbers = people()[[*CHOSEN, "w0", "w1"]].to_numpy()
    selector = GroupFS(n_groups=4, max_epochs=5, random_state=0).fit(numbers)
    persistence.save(selector, folder / "python.skops")
    np.save(folder / "same.npy", numbers)
    np.save(folder / "fewer.npy", numbers[:, :9])
    result = run("apply", folder / "python.skops", folder / "same.npy", "-q")
    assert result.stdout.startswith("x") and result.stdout.count("\n") == 61
    result = run("apply", folder / "python.skops", folder / "fewer.npy", "-q")
    assert result.exit_code == 4 and "has 9 columns without names" in result.stderr


def test_report_is_written_again_from_the_result(selected, folder):
    result = run("report", selected[1] / "result.json", "-o", folder / "again.html")
    assert result.exit_code == 0, result.output
    assert (folder / "again.html").read_text() == (selected[1] / "report.html").read_text()


def test_demo_finds_the_moons_and_writes_a_report(tmp_path):
    result = run("demo", "-o", tmp_path / "demo", "--json", "-q")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["selected"] == [f"x{axis}_{copy}" for axis in (1, 2) for copy in range(1, 6)]
    assert (tmp_path / "demo" / "report.html").stat().st_size > 10_000


def test_datasets_says_what_is_at_hand(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUPFS_DATA", str(tmp_path))
    (tmp_path / "Yale.mat").write_bytes(b"there")
    found = json.loads(run("datasets", "--json").stdout)
    assert [d["name"] for d in found["datasets"] if d["at_hand"]] == ["yale"]
    assert "by hand" in run("datasets").stdout


def test_doctor_tells_versions_device_and_extras():
    found = json.loads(run("doctor", "--json").stdout)
    assert found["packages"]["numpy"] == np.__version__
    assert found["device"]["used"] in ("cpu", "cuda")
    assert "torch" in run("doctor").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("missing.csv",), 3, "There is no file missing.csv"),
        (("header.csv",), 3, "not one row"),
        (("twice.csv",), 3, "more than once: a (2 times)"),
        (("words.csv",), 4, "0 usable columns left"),
        (("one.csv",), 4, "1 usable column left, and a choice needs at least 2"),
        (("good.csv", "--label", "c"), 4, "--label c: there is no column of that name"),
        (("good.csv", "--drop", "z*"), 4, "--drop z*: there is no column"),
        (("good.csv", "--groups", "9"), 4, "--groups 9 but the table has 3 features"),
        (("good.csv", "--budget", "9"), 4, "--budget 9 but the table has 3 features"),
        (("good.csv", "--device", "abacus"), 4, "--device abacus is not known"),
        (("good.csv", "--image", "4x4"), 4, "that is 16 pixels, but the table has 3"),
        (("good.csv", "-o", "good.csv"), 5, "good.csv is a file; name a folder"),
        (("good.csv", "--image", "big"), 2, "--image big"),
        (("good.csv", "--path", "--sparsity", "1"), 2, "leave out --sparsity"),
        (("good.csv", "--checkpoint", "kept"), 2, "add --path"),
        (
            ("good.csv", "--path", "--checkpoint", "good.csv"),
            5,
            "--checkpoint good.csv: the folder",
        ),
        (("good.csv", "--sparsity", "-1"), 2, "0.01"),
    ],
)
def test_mistakes_end_with_one_sentence_a_code_and_no_output(
    arguments, code, says, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("header.csv").write_text("a,b\n")
    Path("one.csv").write_text("a\n1.5\n2\n")
    Path("twice.csv").write_text("a,b,a\n1,2,3\n2,3,4\n")
    Path("words.csv").write_text("a,b\n" + "".join(f"p{i},q{i}\n" for i in range(9)))
    values = np.random.default_rng(0).standard_normal((9, 3))
    pd.DataFrame(values, columns=list("pqr")).to_csv("good.csv", index=False)
    before = everything(tmp_path)
    result = run("select", *arguments, "-q")
    assert result.exit_code == code
    assert says in " ".join(result.stderr.split()) and "Traceback" not in result.stderr
    if code != 2:
        assert result.stderr.startswith("groupfs: ") and result.stderr.count("\n") == 1
    assert result.stdout == "" and everything(tmp_path) == before


def test_nothing_is_overwritten_without_force(selected, table):
    stamp = (selected[1] / "model.skops").stat().st_mtime_ns
    result = run("select", table, "-o", selected[1])
    assert result.exit_code == 5 and "exists; add --force" in result.stderr
    assert (selected[1] / "model.skops").stat().st_mtime_ns == stamp


def test_a_fault_of_ours_is_said_without_a_traceback(table, tmp_path, monkeypatch):
    def break_down(*args, **kwargs):
        raise RuntimeError("screw loose")

    monkeypatch.setattr("groupfs.cli.select.read_table", break_down)
    result = run("select", table, "-o", tmp_path / "out")
    assert result.exit_code == 1 and "RuntimeError: screw loose" in result.stderr


def test_a_missing_package_is_named_with_its_extra(table, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    result = run("select", table, "--groups", 3, "-o", tmp_path / "out")
    assert result.exit_code == 6 and 'pip install "groupfs[io]"' in result.stderr
    assert everything(tmp_path) == []


def test_without_its_packages_the_command_names_the_extra():
    code = "import sys; sys.modules['typer'] = None; from groupfs.cli import app; app()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=ENVIRONMENT)
    assert done.returncode == 6 and b'pip install "groupfs[cli]"' in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_help_teaches_with_examples_and_exit_codes():
    result = run("select", "--help")
    text = " ".join(result.stdout.split())
    assert "groupfs select data.csv" in text and "4 its table does not fit" in text
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_the_command_itself_imports_neither_torch_nor_pandas():
    """Beyond what the package does; --help is to be quick."""
    code = (
        "import sys, groupfs; before = set(sys.modules); import groupfs.cli; "
        "print(sorted({'torch', 'pandas', 'sklearn', 'scipy'} & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=ENVIRONMENT)
    assert done.stdout.strip() == b"[]"


def test_csv_from_a_pipe_in_a_process_of_its_own(table, tmp_path):
    done = process(
        *("select", "-", "--groups", 6, "--json", "-o", tmp_path / "out"),
        input=table.read_bytes(),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["source"] == "standard input"
    assert b"Reading standard input" in done.stderr


def test_a_disk_that_is_full_leaves_nothing_behind(table, tmp_path):
    """Files of a few bytes are all that this process may write, as on a disk without room."""
    resource = pytest.importorskip("resource")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    done = process("select", table, "--groups", 6, "-q", "-o", tmp_path / "out", preexec_fn=limit)
    assert done.returncode == 5 and done.stderr.count(b"\n") == 1
    assert b"cannot be written" in done.stderr and everything(tmp_path) == []


def test_ctrl_c_in_the_middle_of_training_leaves_nothing_behind(tmp_path):
    people(2000).to_csv(tmp_path / "t.csv", index=False)
    command = [sys.executable, "-m", "groupfs", "select", "t.csv", "--path", "-o", "p/out"]
    running = subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE)
    for line in running.stderr:
        if line.startswith(b"Looking for groups"):
            break
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    rest = running.stderr.read()
    assert running.wait(60) == 130
    assert rest == b"groupfs: Interrupted; no unfinished result was left behind.\n"
    assert everything(tmp_path) == ["t.csv"]


@pytest.mark.parametrize("command", ["apply", "datasets"])
def test_a_reader_that_stops_early_ends_the_command_without_a_word(command, selected, table):
    reader, writer = os.pipe()
    os.close(reader)
    arguments = ["apply", selected[1] / "model.skops", table, "-q"]
    command = arguments if command == "apply" else ["datasets"]
    command = [sys.executable, "-m", "groupfs", *map(str, command)]
    done = subprocess.run(
        command, stdout=writer, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=60
    )
    os.close(writer)
    assert done.returncode == 141 and done.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_standard_output_without_room_is_an_output_that_cannot_be_written():
    command = [sys.executable, "-m", "groupfs", "datasets"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT)
    assert done.returncode == 5
    assert done.stderr == b"groupfs: standard output cannot be written: no space left on device.\n"


def test_a_terminal_without_greek_letters_is_no_error(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUPFS_DATA", str(tmp_path / "α"))
    monkeypatch.setenv("COLUMNS", "200")
    screen = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr("sys.stdout", screen)
    app(["datasets"], standalone_mode=False)
    assert rb"\u03b1." in screen.buffer.getvalue()


@pytest.fixture(scope="module")
def odd(folder):
    """A run with odd names: of the file, of the folder of results and of a column."""
    name, out = "t\udcff.csv", folder / "r[/final] :smile: [bold]"
    frame = people()[[*CHOSEN, "w0", "w1"]].rename(columns={"u0": "u\r0", "v0": "α"})
    try:
        frame.to_csv(folder / name, index=False, quoting=csv.QUOTE_NONNUMERIC)
    except (OSError, UnicodeError):
        pytest.skip("this file system has no such names")
    result = run("select", folder / name, "--groups", 4, "-o", out)
    assert result.exit_code == 0, result.output
    return result, folder / name, out, list(frame.columns)


def test_odd_paths_are_printed_as_they_are(odd):
    result, _, out, _ = odd
    assert f"Open {out / 'report.html'} in a browser." in result.stdout
    assert json.loads((out / "result.json").read_text())["table"]["source"].endswith(r"t\xff.csv")


def test_a_carriage_return_in_a_name_breaks_no_csv(odd):
    _, table, out, names = odd
    with open(out / "groups.csv", newline="", encoding="utf-8") as file:
        assert {row["feature"] for row in csv.DictReader(file)} == set(names)
    small = run("apply", out / "model.skops", table, "-q").stdout_bytes
    rows = list(csv.reader(io.StringIO(small.decode(), newline="")))
    assert {"u\r0", "α"} <= set(rows[0]) and len(rows) == 61


def test_json_for_machines_is_ascii(odd, capsys):
    print_outcome(Outcome(json.loads((odd[2] / "result.json").read_text()), odd[2], 1), True)
    printed = capsys.readouterr().out
    assert printed.isascii() and "α" in json.loads(printed)["selected"]


@pytest.fixture(scope="module")
def headless(folder):
    """A table whose first line is data although it has text, and a model of its numbers."""
    frame = people()[["sex", *CHOSEN]].round(6)
    frame.to_csv(folder / "headless.csv", index=False, header=False)
    table = read_table(folder / "headless.csv", header=False)
    prepared = prepare(table, Request(folder, header=False))
    selector = GroupFS(n_groups=3, n_features_to_select=1, max_epochs=5, random_state=0)
    selector.fit(prepared.X)
    persistence.save(selector, folder / "headless.skops", preparation=prepared.preparation)
    (chosen,) = selector.get_feature_names_out()
    return folder / "headless.skops", folder / "headless.csv", chosen, prepared.X[chosen]


def test_a_file_without_header_is_applied_as_it_was_selected_from(headless):
    model, table, _, values = headless
    for option in ((), ("--no-header",)):
        result = run("apply", model, table, "-q", *option)
        assert result.exit_code == 0, result.output
        read = pd.read_csv(io.StringIO(result.stdout)).iloc[:, 0]
        np.testing.assert_allclose(read, values)


def test_apply_needs_no_more_than_the_one_selected_column(headless, folder):
    model, _, chosen, values = headless
    values.to_frame().to_parquet(folder / "one.parquet")
    result = run("apply", model, folder / "one.parquet", "-q")
    assert result.exit_code == 0 and result.stdout.splitlines()[0] == chosen


def real_file(name):
    places = [os.environ.get("GROUPFS_DATA", ""), SOURCE.parents[2] / "shared" / "data"]
    for place in filter(None, places):
        if (Path(place) / name).is_file():
            return Path(place) / name
    pytest.skip(f"{name} is not at hand; set GROUPFS_DATA to the folder of the paper's tables")


def test_text_columns_of_the_student_table_are_encoded():
    table = read_table(real_file("student-mat.csv"))
    prepared = prepare(table, Request(Path("out"), label="G3"))
    assert prepared.X.shape == (395, 45) and "G3" not in prepared.preparation.names
    assert "Mjob=teacher" in prepared.preparation.names and prepared.X["sex"].isin([0, 1]).all()
    assert sorted(set(prepared.labels)) == ["above 11", "up to 11"]


def test_gaps_of_the_heart_table_are_filled_and_said():
    table = read_table(real_file("processed.cleveland.data"))
    prepared = prepare(table, Request(Path("out"), label="x13"))
    assert prepared.X.shape == (303, 13) and not prepared.X.isna().any(axis=None)
    assert any("x11 (4 rows), x12 (2 rows)" in note for note in prepared.notes)


def test_the_report_names_the_command_that_does_it_again(selected):
    _, out = selected
    (command,) = json.loads((out / "result.json").read_text())["code"]
    assert command.startswith("groupfs select ") and "--label outcome" in command
    assert command in html.unescape((out / "report.html").read_text())


def test_the_command_has_every_option_that_bears_on_the_result():
    request = Request(
        out=Path("r"),
        drop=["a b"],
        use=["id"],
        header=False,
        image_shape=(4, 3),
        along_path=True,
        settings={
            "n_features_to_select": 5,
            "n_groups_to_select": "significant",
            "random_state": 7,
        },
    )
    assert command_line("t.csv", request) == (
        "groupfs select t.csv --drop 'a b' --use id --no-header --image 4x3 --path --significant "
        "--budget 5 --seed 7"
    )


def test_groups_that_stand_out_behind_closed_gates_are_named_with_the_way_to_keep_them():
    groups = [
        {"rank": 1, "stands_out": True, "kept": True},
        {"rank": 2, "stands_out": True, "kept": False},
        {"rank": 3, "stands_out": False, "kept": False},
    ]
    summary = {"groups": groups, "settings": dict.fromkeys(["n_features_to_select"], None)}
    summary["settings"]["n_groups_to_select"] = None
    assert closed_gates_hint(summary).startswith("Group 2 stands out from chance too")
    summary["settings"]["n_features_to_select"] = 5
    assert closed_gates_hint(summary) is None


def test_the_folder_of_results_stands_for_the_model_and_the_result_in_it(selected, tmp_path):
    _, out = selected
    new = tmp_path / "new.csv"
    people(20, seed=5).to_csv(new, index=False)
    assert run("apply", out, new).stdout == run("apply", out / "model.skops", new).stdout
    page = tmp_path / "again.html"
    assert run("report", out, "--out", page).exit_code == 0 and page.exists()
