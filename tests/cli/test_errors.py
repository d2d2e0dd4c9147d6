"""How commands end: a sentence, a code that means something, and nothing left half done."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from groupfs.cli import app
from groupfs.cli.errors import translate
from tests.support.command import COMMAND, ENVIRONMENT, everything, people, run, run_process


@pytest.mark.parametrize(
    ("sentence", "translated"),
    [
        ("device='abacus' is not known.", "--device abacus is not known."),
        ("n_features_to_select=9, but lower n_groups.", "--budget 9, but lower --groups."),
        ("explain=0.9 is given; features explain.", "--explain 0.9 is given; features explain."),
        ("drop='a b': no column (X, Y).", "--drop a b: no column (X, Y)."),
        ("Use a device (use=[NAME] keeps one).", "Use a device (--use NAME keeps one)."),
        ("a column of X:\n  X contains NaN.", "a column of the table: the table contains NaN."),
        ("n_groups_to_select=3 groups.", "n_groups_to_select=3 groups."),
        ("missing=[-9,99] takes them for gaps.", "--missing -9,99 takes them for gaps."),
        ("raw values, and use_raw=True selects.", "raw values, and --use-raw selects."),
        ("or keep_unrelated=True to look.", "or --keep-unrelated to look."),
    ],
)
def test_parameters_become_options(sentence, translated):
    assert translate(sentence) == translated


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("missing.csv",), 3, "There is no file missing.csv"),
        (("header.csv",), 3, "not one row"),
        (("twice.csv",), 3, "more than once: a (2 times)"),
        (("words.csv",), 4, "0 usable columns left"),
        (("one.csv",), 4, "1 usable column left, and a choice needs at least 2"),
        (("line.csv",), 4, "has only one row"),
        (("good.csv", "--label", "c"), 4, "--label c: there is no column of that name"),
        (("good.csv", "--label", "same"), 4, "the column has one value only, yes."),
        (("good.csv", "--drop", "z*"), 4, "--drop z*: there is no column"),
        (("good.csv", "--groups", "9"), 4, "--groups 9 but the table has 3 features"),
        (("good.csv", "--budget", "9"), 4, "--budget 9 but the table has 3 features"),
        (("good.csv", "--device", "abacus"), 4, "--device abacus is not known"),
        (("good.csv", "--image", "4x4"), 4, "that is 16 pixels, but the table has 3"),
        (("good.csv", "-o", "good.csv"), 5, "good.csv is a file; name a folder"),
        (("good.csv", "-o", "good.csv/out"), 5, "good.csv is no folder you may write to"),
        (("good.csv", "--image", "big"), 2, "--image big"),
        (("good.csv", "--path", "--sparsity", "1"), 2, "leave out --sparsity"),
        (("good.csv", "--checkpoint", "kept"), 2, "add --path"),
        (("good.csv", "--significant", "--open-gates"), 2, "choose one"),
        (("good.csv", "--budget", "many"), 2, "--budget many: give a number of features"),
        (("good.csv", "--budget", "0"), 2, "--budget 0: give a number of features"),
        (("good.csv", "--budget", "1.5"), 2, "--budget 1.5: give a number"),
        (("good.csv", "--explain", "90"), 2, "--explain 90: give a share above 0"),
        (("good.csv", "--explain", "0.9", "--budget", "2"), 2, "leave out --budget"),
        (("good.csv", "--explain", "0.9", "--significant"), 2, "leave out --significant"),
        (("good.csv", "--explain", "0.9", "--representatives"), 2, "leave out --representatives"),
        (("good.csv", "--layer", "log", "--use-raw"), 2, "are two choices"),
        (("good.csv", "--order", "low"), 4, "--order low has 1 answer; give at least 2"),
        (("good.csv", "--order", "low,high"), 4, "--order low,high: no column has these answers"),
        (("good.csv", "--missing", "9,,8"), 4, "has an empty value; give what stands for"),
        (
            ("good.csv", "--path", "--keep-unrelated", "--checkpoint", "good.csv"),
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
    Path("line.csv").write_text("a,b\n1.5,2\n")
    Path("one.csv").write_text("a\n1.5\n2\n")
    Path("twice.csv").write_text("a,b,a\n1,2,3\n2,3,4\n")
    Path("words.csv").write_text("a,b\n" + "".join(f"p{i},q{i}\n" for i in range(9)))
    values = np.random.default_rng(0).standard_normal((9, 3))
    good = pd.DataFrame(values, columns=list("pqr")).assign(same=[None, *["yes"] * 8])
    good.to_csv("good.csv", index=False)
    before = everything(tmp_path)
    result = run("select", *arguments, "-q")
    assert result.exit_code == code
    assert says in " ".join(result.stderr.split()) and "Traceback" not in result.stderr
    if code != 2:
        assert result.stderr.startswith("groupfs: ") and result.stderr.count("\n") == 1
    assert result.stdout == "" and everything(tmp_path) == before


def test_results_are_replaced_only_with_force_and_files_of_others_never(table, tmp_path):
    arguments = ("select", table, "--groups", 3, "-q", "-o", tmp_path)
    (tmp_path / "thesis.tex").write_text("years of work")
    (tmp_path / "model.skops").write_text("old")
    result = run(*arguments)
    assert result.exit_code == 5 and "exists; add --force" in result.stderr
    assert (tmp_path / "model.skops").read_text() == "old"
    assert run(*arguments, "--force").exit_code == 0
    assert (tmp_path / "model.skops").stat().st_size > 1000
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_fault_of_ours_is_reported_without_a_traceback(table, tmp_path, monkeypatch):
    def break_down(*args, **kwargs):
        raise RuntimeError("screw loose")

    monkeypatch.setattr("groupfs.cli.prepare.read_table", break_down)
    result = run("select", table, "-o", tmp_path / "out")
    assert result.exit_code == 1 and "RuntimeError: screw loose" in result.stderr
    monkeypatch.setenv("GROUPFS_TRACEBACK", "1")
    assert isinstance(run("select", table, "-o", tmp_path / "out").exception, RuntimeError)


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


@pytest.mark.slow
def test_a_disk_that_is_full_leaves_nothing_behind(table, tmp_path):
    """Files of a few bytes are all that this process may write, as on a disk without room."""
    resource = pytest.importorskip("resource")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    arguments = ("select", table, "--groups", 6, "-q", "-o", tmp_path / "out")
    done = run_process(*arguments, preexec_fn=limit)
    assert done.returncode == 5 and done.stderr.count(b"\n") == 1
    assert b"cannot be written" in done.stderr and everything(tmp_path) == []


@pytest.mark.slow
def test_ctrl_c_in_the_middle_of_training_leaves_nothing_behind(tmp_path):
    people(2000).to_csv(tmp_path / "t.csv", index=False)
    command = [*COMMAND, "select", "t.csv", "--path", "-o", "p/out"]
    running = subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE)
    for line in running.stderr:
        if line.startswith(b"Training 24 sparsities"):
            break
    time.sleep(1)  # in the middle of it
    running.send_signal(signal.SIGINT)
    rest = running.stderr.read()
    assert running.wait(60) == 130
    assert rest == b"groupfs: Interrupted; no unfinished result was left behind.\n"
    assert everything(tmp_path) == ["t.csv"]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["apply", "datasets"])
def test_a_reader_that_stops_early_ends_the_command_without_a_word(command, selected, table):
    reader, writer = os.pipe()
    os.close(reader)
    arguments = [selected[1] / "model.skops", table, "-q"] if command == "apply" else []
    done = run_process(command, *arguments, stdout=writer)
    os.close(writer)
    assert done.returncode == 141 and done.stderr == b""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_standard_output_without_room_is_an_output_that_cannot_be_written():
    with open("/dev/full", "w") as full:
        done = run_process("datasets", stdout=full)
    assert done.returncode == 5
    assert done.stderr == b"groupfs: standard output cannot be written: no space left on device.\n"


def test_a_terminal_without_greek_letters_is_no_error(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUPFS_DATA", str(tmp_path / "α"))
    screen = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr("sys.stdout", screen)
    app(["datasets"], standalone_mode=False)
    assert rb"\u03b1." in screen.buffer.getvalue()


def test_datasets_says_what_is_at_hand(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUPFS_DATA", str(tmp_path))
    (tmp_path / "Yale.mat").write_bytes(b"there")
    found = json.loads(run("datasets", "--json").stdout)
    assert [d["name"] for d in found["datasets"] if d["at_hand"]] == ["yale"]
    assert "by hand" in run("datasets").stdout


def test_doctor_reports_versions_device_and_extras():
    found = json.loads(run("doctor", "--json").stdout)
    assert found["packages"]["numpy"] == np.__version__
    assert found["device"]["used"] in ("cpu", "cuda")
    assert "torch" in run("doctor").stdout
