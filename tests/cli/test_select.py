"""``groupfs select`` and ``demo``: what they find, write and print."""

import html
import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from groupfs.cli.prepare import prepare
from groupfs.cli.request import Request, command_line
from groupfs.cli.result_folder import FILES
from groupfs.report.csv_rows import GROUPS_COLUMNS, SELECTED_COLUMNS
from groupfs.tables import read_table
from tests.support.command import CHOSEN, everything, people, run, run_process


def test_select_writes_all_its_files_and_nothing_else(selected, folder):
    _, out = selected
    assert everything(out) == sorted(FILES)
    assert not [name for name in os.listdir(folder) if name.startswith(".")]


def test_select_finds_the_groups_and_has_a_reason_for_every_feature(selected):
    _, out = selected
    assert set(pd.read_csv(out / "selected.csv")["feature"]) == set(CHOSEN)
    groups = pd.read_csv(out / "groups.csv")
    assert tuple(groups.columns) == GROUPS_COLUMNS
    assert len(groups) == 15 and groups["reason"].str.len().min() > 10
    assert groups["kept"].sum() == 8


def test_every_decision_on_columns_is_printed_and_stored(selected):
    result, out = selected
    notes = json.loads((out / "result.json").read_text())["table"]["notes"]
    printed = " ".join(result.stderr.split())
    assert len(notes) == 4 and all(note in printed for note in notes)
    for word in ("(--use NAME keeps one): person_id", "sex (2 values), job (3 values)"):
        assert any(word in note for note in notes)
    assert any("Set outcome aside" in note for note in notes)


def test_a_table_is_prepared_with_gaps_and_categories_as_they_are(folder):
    frame = people()
    frame.loc[3, "u0"] = np.nan
    frame.loc[5, "job"] = None
    frame.to_csv(folder / "as_it_is.csv", index=False)
    prepared = prepare(read_table(folder / "as_it_is.csv"), Request(folder, label="outcome"))
    expected = frame.drop(columns=["person_id", "outcome"])
    expected = expected.astype({"sex": "category", "job": "category"})
    pd.testing.assert_frame_equal(prepared.X, expected, rtol=1e-12)
    assert any("Found gaps in 2 columns" in note for note in prepared.notes)
    assert any(note.endswith(": u0 (1), job (1).") for note in prepared.notes)


def test_constant_columns_are_noted_once(tmp_path):
    people()[[*CHOSEN, "w0"]].assign(same=4).to_csv(tmp_path / "t.csv", index=False)
    result = run("select", tmp_path / "t.csv", "--groups", 3, "-o", tmp_path / "out")
    notes = json.loads((tmp_path / "out" / "result.json").read_text())["table"]["notes"]
    (note,) = (note for note in notes if "constant" in note)
    assert note.startswith("1 constant column") and note in " ".join(result.stderr.split())


def test_the_table_fits_80_columns_and_goes_to_stdout(selected):
    result, _ = selected
    lines = result.stdout.splitlines()
    assert max(len(line) for line in lines if "/" not in line) <= 80  # paths stay in one piece
    rows = [line for line in lines if re.match(r"\s+\d+\s+(yes|no)\s", line)]
    assert len(rows) >= 2 and "yes" in rows[0] and "no" in rows[-1]
    assert "Reading" not in result.stdout and "Reading" in result.stderr


def test_agreement_with_the_labels_there_are_is_reported(folder):
    gaps = people()
    gaps["outcome"] = gaps["outcome"].astype(object)
    gaps.loc[::3, "outcome"] = None
    gaps.to_csv(folder / "gaps.csv", index=False)
    out = folder / "gaps"
    result = run("select", folder / "gaps.csv", "--label", "outcome", "--groups", 6, "-o", out)
    agreement = json.loads((out / "result.json").read_text())["agreement"]
    assert agreement["name"] == "outcome" and agreement["n_classes"] == 2
    n_labelled = int(gaps["outcome"].notna().sum())
    sentence = f"Agreement of k-means with outcome (2 classes, {n_labelled} samples)"
    assert sentence in " ".join(result.stdout.split())


def test_the_label_plays_no_part_in_the_selection(selected, folder):
    """Groups and scores are the same whatever the label says."""
    shuffled = people()
    shuffled["outcome"] = shuffled["outcome"].sample(frac=1, random_state=1).to_numpy()
    shuffled.to_csv(folder / "shuffled.csv", index=False)
    out = folder / "other"
    arguments = ("--label", "outcome", "--groups", 6, "-o", out, "-q")
    assert run("select", folder / "shuffled.csv", *arguments).exit_code == 0
    assert (out / "groups.csv").read_text() == (selected[1] / "groups.csv").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("quiet", [True, False])
def test_json_alone_is_on_stdout_also_of_csv_from_a_pipe(quiet, table, tmp_path):
    out = tmp_path / "out"
    arguments = ("select", "-", "--budget", 3, "--groups", 6, "--json", "-o", out)
    done = run_process(*arguments, *["-q"] * quiet, input=table.read_bytes())
    assert done.returncode == 0 and (b"Reading standard input" in done.stderr) != quiet
    printed = json.loads(done.stdout)
    assert printed["source"] == "standard input" and printed["out"] == str(out)
    assert len(printed["selected"]) == 3 and (done.stderr == b"") == quiet
    assert {name for group in printed["groups"] for name in group["features"]} > {"u0", "w4"}


def test_numbers_as_label_are_cut_in_two(folder):
    frame = people().assign(outcome=np.arange(60) % 20)
    frame.to_csv(folder / "graded.csv", index=False)
    prepared = prepare(read_table(folder / "graded.csv"), Request(folder, label="outcome"))
    assert sorted(set(prepared.labels)) == ["above 9.5", "up to 9.5"]
    assert "outcome" not in prepared.preparation.names


@pytest.mark.slow
def test_a_path_of_sparsities_of_a_sparse_table_with_labels_beside_it(folder):
    anndata = pytest.importorskip("anndata")
    import scipy.sparse as sp

    frame = people()
    numbers = np.maximum(frame.filter(regex="^[uvw]"), 0).astype(np.float32)
    cells = anndata.AnnData(numbers.set_index(frame["person_id"]))
    cells.obs["outcome"] = frame["outcome"].to_numpy()
    cells.X = sp.csr_matrix(cells.X)
    cells.write_h5ad(folder / "cells.h5ad")
    out = folder / "cells"
    arguments = ("--path", "--checkpoint", folder / "kept", "--groups", 4, "-o", out)
    columns = ("--label", "outcome", "--drop", "w0,w1")
    result = run("select", folder / "cells.h5ad", *columns, *arguments)
    assert result.exit_code == 0, result.output
    summary = json.loads((out / "result.json").read_text())
    assert summary["estimator"] == "GroupFSPath" and len(summary["path"]["sparsities"]) == 24
    assert summary["settings"]["checkpoint"] is None and not list((folder / "kept").iterdir())
    assert summary["table"]["n_features"] == 11
    assert "Left out 2 columns, as asked: w0, w1." in summary["table"]["notes"]
    small = run("apply", out / "model.skops", folder / "cells.h5ad", "--keep", "outcome", "-q")
    written = pd.read_csv(io.StringIO(small.stdout))
    assert written["outcome"].tolist() == frame["outcome"].tolist()
    np.testing.assert_allclose(written.iloc[:, 1:], numbers[written.columns[1:]], rtol=1e-6)


@pytest.mark.slow
def test_demo_finds_the_moons_and_writes_a_report(tmp_path):
    result = run("demo", "-o", tmp_path / "demo", "--json", "-q")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["selected"] == [f"x{axis}_{copy}" for axis in (1, 2) for copy in range(1, 6)]
    assert (tmp_path / "demo" / "report.html").stat().st_size > 10_000


@pytest.mark.slow
def test_odd_names_of_files_folders_and_columns_are_taken_as_they_are(folder):
    name, out = "t\udcff.csv", folder / "r[/final] :smile: [bold]"
    try:
        people()[CHOSEN].rename(columns={"v0": "α"}).to_csv(folder / name, index=False)
    except (OSError, UnicodeError):
        pytest.skip("this file system has no such names")
    result = run("select", folder / name, "--groups", 3, "-o", out)
    assert f"Open {out / 'report.html'} in a browser." in result.stdout
    assert json.loads((out / "result.json").read_text())["table"]["source"].endswith(r"t\xff.csv")
    assert "α" in run("apply", out, folder / name, "-q").stdout_bytes.decode()
    printed = run("select", folder / name, "--groups", 3, "-o", out, "--force", "--json").stdout
    assert printed.isascii() and "α" in json.loads(printed)["selected"]


def test_the_report_names_the_command_that_does_it_again(selected):
    _, out = selected
    (command,) = json.loads((out / "result.json").read_text())["code"]
    assert command.startswith("groupfs select ") and "--label outcome" in command
    assert command in html.unescape((out / "report.html").read_text())


def test_the_command_has_every_option_that_bears_on_the_result():
    numbers = {"n_features_to_select": 5, "random_state": 7}
    settings = {"n_groups_to_select": "significant", **numbers}
    columns = {"drop": ["a b"], "use": ["id"], "header": False, "image_shape": (4, 3)}
    request = Request(out=Path("a b"), along_path=True, settings=settings, **columns)
    assert command_line("t.csv", request) == (
        "groupfs select t.csv --drop 'a b' --use id --no-header --image 4x3 --path --significant "
        "--budget 5 --seed 7 -o 'a b'"
    )
    answers = {"missing": ["99", "-9"], "order": ["low,high"], "layer": "log", "use_raw": True}
    settings = {"output": "representatives", "max_memory": "2GB"}
    assert command_line("t.csv", Request(out=Path("groupfs-t"), **answers, settings=settings)) == (
        "groupfs select t.csv --missing 99 --missing -9 --order low,high --layer log --use-raw "
        "--representatives --max-memory 2GB"
    )
    piped = Request(out=Path("groupfs-stdin"))
    assert command_line("standard input", piped) == "groupfs select -"
    flags = {"n_groups_to_select": "open", "signed": True, "keep_unrelated": True}
    assert command_line("t.csv", Request(out=Path("groupfs-t"), settings=flags)) == (
        "groupfs select t.csv --open-gates --signed --keep-unrelated"
    )
    asked = Request(
        out=Path("groupfs-t"), settings={"explain": 0.9, "similarity": "mutual_information"}
    )
    assert command_line("t.csv", asked) == (
        "groupfs select t.csv --similarity mutual-information --explain 0.9"
    )


@pytest.fixture(scope="module")
def reversed_table(tmp_path_factory):
    path = tmp_path_factory.mktemp("reversed") / "t.csv"
    frame = people()[[*CHOSEN, "w0"]].assign(u1=lambda f: -f["u1"], v2=lambda f: -f["v2"])
    frame.to_csv(path, index=False)
    return path


def test_reliability_reversed_and_unrelated_features_are_printed(reversed_table, tmp_path):
    result = run("select", reversed_table, "-q", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "reliability" in result.stdout and "100 %" in result.stdout
    assert re.search(r" -u\d", result.stdout) and re.search(r" -v\d", result.stdout)
    assert "-name: the feature runs against the first one of its group." in result.stdout
    assert "1 feature goes with no other beyond chance (unrelated)." in result.stdout
    assert "gate" not in result.stdout  # they do not decide


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "3 of 9 features explain"),
        (("--budget", "0.5"), "4 of 9 features explain"),
        (("--explain", "0.5"), "2 of 9 features explain"),
    ],
)
def test_how_much_is_explained_is_printed_and_written(options, words, reversed_table, tmp_path):
    out = tmp_path / "out"
    printed = " ".join(run("select", reversed_table, *options, "-q", "-o", out).stdout.split())
    summary = json.loads((out / "result.json").read_text())
    sentence = summary["explained"]["sentence"]
    assert sentence.startswith(words) and sentence in printed
    assert sentence.endswith("of what the table's 8 related features say.")
    groups = pd.read_csv(out / "groups.csv").sort_values("order")
    assert groups["order"].tolist() == list(range(1, 10))
    assert groups["explained"].is_monotonic_increasing and groups["explained"].iloc[-1] == 1
    if options:
        n_selected = summary["selection"]["n_features"]
        assert groups["kept"].tolist() == [True] * n_selected + [False] * (9 - n_selected)


def test_json_has_reliability_reversed_and_unrelated_features(reversed_table, tmp_path):
    printed = json.loads(run("select", reversed_table, "--json", "-o", tmp_path / "out").stdout)
    assert printed["in_no_group"] == {"constant": 0, "unrelated": 1, "loose": 0}
    assert all(group["reliability"] > 0.9 and group["reversed"] for group in printed["groups"])
    explained = printed["explained"]
    assert (explained["n_related"], explained["n_enough"], explained["share"]) == (8, 3, 1)


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ((), {"n_groups_to_select": None, "signed": None, "keep_unrelated": None}),
        (("--significant",), {"n_groups_to_select": "significant"}),
        (("--open-gates",), {"n_groups_to_select": "open"}),
        (("--signed", "--keep-unrelated"), {"signed": True, "keep_unrelated": True}),
        (("--similarity", "mutual-information"), {"similarity": "mutual_information"}),
        (("--budget", "5"), {"n_features_to_select": 5, "explain": None}),
        (("--budget", "0.5"), {"n_features_to_select": 0.5}),
        (("--explain", "90%"), {"explain": 0.9, "n_features_to_select": None}),
        (("--representatives",), {"output": "representatives"}),
    ],
)
def test_options_set_what_they_say(options, settings, reversed_table, tmp_path):
    arguments = ("--groups", 3, "-q", "-o", tmp_path / "out")
    result = run("select", reversed_table, *arguments, *options)
    assert result.exit_code == 0, result.output
    summary = json.loads((tmp_path / "out" / "result.json").read_text())
    assert settings.items() <= summary["settings"].items()
    assert ("  gate  " in result.stdout) == (options == ("--open-gates",))


def test_a_table_without_groups_ends_well_with_a_sentence_and_all_files(tmp_path):
    noise = np.random.default_rng(0).standard_normal((60, 8))
    table, out = tmp_path / "noise.csv", tmp_path / "out"
    pd.DataFrame(noise, columns=list("abcdefgh")).to_csv(table, index=False)
    result = run("select", table, "-o", out)
    assert result.exit_code == 0, result.output
    sentence = "no feature goes with another beyond chance: the table shows no groups"
    assert " ".join(result.stdout.split()).count(sentence) == 1
    assert "groupfs apply" not in result.stdout and "most central first" not in result.stdout
    assert "Set --budget for a budget all the same, or --keep-unrelated to" in " ".join(
        result.stderr.split()
    )
    assert everything(out) == sorted(FILES)
    assert (out / "selected.csv").read_text() == ",".join(SELECTED_COLUMNS) + "\n"
    assert json.loads(run("select", table, "--json", "-o", out, "--force").stdout)["groups"] == []
    applied = run("apply", out, table, "-q")
    assert applied.exit_code == 4 and "selects no feature" in applied.stderr
