"""How commands end: a sentence, a code that means something, and nothing left half done."""

import io
import os
import pickle
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from groupfs.cli import app
from groupfs.cli.errors import exit_codes, translate
from groupfs.utils.errors import ParameterError
from groupfs.utils.warn import SelectionWarning
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
        ("missing=[-9,99] takes them for gaps.", "--missing -9,99 takes them for gaps."),
        ("or keep_unrelated=True to look.", "or --keep-unrelated to look."),
        ("both level='broad' and n_groups=3.", "both --level broad and --groups 3."),
        ("and n_groups_to_select='significant'.", "and --from-groups kept."),
    ],
)
def test_parameters_become_options(sentence, translated):
    assert translate(sentence) == translated


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("missing.csv",), 3, "There is no file missing.csv"),
        (("words.csv",), 4, "0 usable columns left"),
        (("line.csv",), 4, "has only one row"),
        (("good.csv", "--label", "c"), 4, "--label c: there is no column of that name"),
        (("good.csv", "--label", "same"), 4, "the column has one value only, yes."),
        (("good.csv", "--groups", "9"), 4, "--groups 9 but the table has 3 features"),
        (("good.csv", "--budget", "9"), 4, "--budget 9 but the table has 3 features"),
        (("good.csv", "--device", "abacus"), 4, "--device abacus is not known"),
        (("good.csv", "-o", "good.csv"), 5, "good.csv is a file; name a folder"),
        (("good.csv", "-o", "good.csv/out"), 5, "good.csv/out cannot be written (file exists)"),
        (("good.csv", "--path"), 2, "No such option: --path"),
        (("good.csv", "--similarity", "odd"), 2, "Invalid value for '--similarity'"),
        (("good.csv", "--budget", "many"), 2, "many is no number of features, e.g. 50, nor"),
        (("good.csv", "--explain", "90"), 2, "90 is no share above 0 and at most 1, e.g. 0.9"),
        (("good.csv", "--level", "deep"), 2, "deep is no number of groups, e.g. 5, nor auto or"),
        (("good.csv", "--from-groups", "0"), 2, "0 is no number of groups, e.g. 5, nor kept."),
        (("good.csv", "--level", "broad", "--groups", "2"), 4, "both --groups 2 and --level broad"),
        (("good.csv", "--explain", "0.9", "--budget", "2"), 4, "so leave --budget out."),
        (("good.csv", "--explain", "0.9", "--representatives"), 4, "leave --per-group out."),
        (("good.csv", "--layer", "log", "--use-raw"), 4, "are two choices"),
        (("good.csv", "--order", "low,high"), 4, "--order low,high: no column has these answers"),
        (("good.csv", "--missing", "9,,8"), 4, "has an empty value; give what stands for"),
    ],
)
def test_mistakes_end_with_one_sentence_a_code_and_no_output(
    arguments, code, says, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("line.csv").write_text("a,b\n1.5,2\n")
    Path("words.csv").write_text("a,b\n" + "".join(f"p{i},q{i}\n" for i in range(9)))
    values = np.random.default_rng(0).standard_normal((9, 3))
    good = pd.DataFrame(values, columns=list("pqr")).assign(same=[None, *["yes"] * 8])
    good.to_csv("good.csv", index=False)
    before = everything(tmp_path)
    result = run("select", *arguments, "-q")
    assert result.exit_code == code
    assert says in " ".join(result.stderr.replace("│", " ").split())
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


def test_help_teaches_with_examples_and_exit_codes():
    result = run("select", "--help")
    text = " ".join(result.stdout.split())
    assert "groupfs select data.csv" in text and "4 its table does not fit" in text
    assert max(map(len, result.stdout.splitlines())) <= 80


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_a_polite_kill_leave_nothing_behind(number, tmp_path):
    people(2000).to_csv(tmp_path / "t.csv", index=False)
    command = [*COMMAND, "select", "t.csv", "-o", "p/out"]
    running = subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE)
    assert any(line.startswith(b"Looking for groups") for line in running.stderr)
    running.send_signal(number)
    rest = running.stderr.read()
    assert running.wait(60) == 130
    assert rest == b"groupfs: Interrupted; no unfinished result was left behind.\n"
    assert everything(tmp_path) == ["t.csv"]


@pytest.mark.slow
def test_a_reader_that_stops_early_ends_the_command_without_a_word(selected, table):
    reader, writer = os.pipe()
    os.close(reader)
    done = run_process("apply", selected[1] / "model.skops", table, "-q", stdout=writer)
    os.close(writer)
    assert done.returncode == 141 and done.stderr == b""


def test_letters_that_a_terminal_has_not_are_written_in_others(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUPFS_DATA", str(tmp_path / "α"))
    screen = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr("sys.stdout", screen)
    app(["doctor"], standalone_mode=False)
    assert rb"\u03b1" in screen.buffer.getvalue()


def test_doctor_reports_versions_device_and_extras():
    lines = dict(line.split(maxsplit=1) for line in run("doctor").stdout.splitlines())
    assert lines["numpy"].strip() == np.__version__
    assert lines["device"].startswith(("cpu", "cuda")) and "groupfs[excel]" in lines


def test_an_error_keeps_its_parameter_on_the_way_between_processes():
    again = pickle.loads(pickle.dumps(ParameterError("device='x' is not known.", "device")))
    assert again.parameter == "device" and str(again) == "device='x' is not known."


def test_no_warning_of_another_package_is_printed_and_ours_are_sentences(capsys):
    with exit_codes():
        warnings.simplefilter("always")
        warnings.warn("Number of distinct clusters (4)", ConvergenceWarning, stacklevel=1)
        warnings.warn("give n_groups=3 another time", SelectionWarning, stacklevel=1)
    assert capsys.readouterr().err == "- give --groups 3 another time\n"
