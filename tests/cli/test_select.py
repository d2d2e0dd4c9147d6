"""``groupfs select`` and ``demo``: what they find, write and print."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from groupfs.cli.options import SelectRequest, command_line
from groupfs.cli.prepare import prepare
from groupfs.cli.result_folder import CONDITIONS, FILES
from groupfs.files import read_table
from groupfs.report.csv_rows import GROUPS_COLUMNS, SELECTED_COLUMNS
from tests.support.command import CHOSEN, KEPT_OF_TWO, everything, people, run, run_process
from tests.support.report_tables import nested_table


def summary_of(out):
    return json.loads((out / "result.json").read_text())


def test_select_finds_the_groups_and_writes_all_its_files_and_nothing_else(selected, folder):
    _, out = selected
    assert everything(out) == sorted(FILES)
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    assert set(pd.read_csv(out / "selected.csv")["feature"]) == set(CHOSEN)
    groups = pd.read_csv(out / "groups.csv")
    assert tuple(groups.columns)[: len(GROUPS_COLUMNS)] == GROUPS_COLUMNS and len(groups) == 15


def test_every_decision_on_columns_is_stored_and_goes_to_stderr(selected):
    result, out = selected
    notes = summary_of(out)["table"]["notes"]
    printed = " ".join(result.stderr.split())
    assert len(notes) == 3 and all(note in printed for note in notes)
    for word in ("taken for ids: person_id", "sex (2 values), job (3 values)"):
        assert any(word in note for note in notes)
    assert any("Set outcome aside" in note for note in notes)


def test_the_label_plays_no_part_in_the_selection(selected, folder):
    """Groups and scores are the same whatever the label says."""
    shuffled = people()
    shuffled["outcome"] = shuffled["outcome"].sample(frac=1, random_state=1).to_numpy()
    shuffled.to_csv(folder / "shuffled.csv", index=False)
    out = folder / "other"
    arguments = ("--label", "outcome", *KEPT_OF_TWO, "-o", out, "-q")
    assert run("select", folder / "shuffled.csv", *arguments).exit_code == 0
    assert (out / "groups.csv").read_text() == (selected[1] / "groups.csv").read_text()


@pytest.mark.parametrize(
    ("values", "halves"),
    [
        (np.arange(60) % 20, {"above 9.5", "up to 9.5"}),
        (np.minimum(np.arange(60), 25), {"above 24", "up to 24"}),
        ([None, *range(1, 60)], {None, "above 30", "up to 30"}),
    ],
)
def test_numbers_as_label_are_cut_in_two(values, halves, folder):
    people().assign(outcome=values).to_csv(folder / "graded.csv", index=False)
    request = SelectRequest("graded.csv", label="outcome")
    prepared = prepare(read_table(folder / "graded.csv"), request)
    assert set(prepared.labels) == halves
    assert "outcome" not in prepared.preparation.names


@pytest.mark.parametrize("n_classes", [20, 40])
def test_codes_of_many_classes_are_classes(n_classes, folder):
    codes = np.arange(200) % n_classes
    frame = pd.DataFrame({"a": np.arange(200) / 7, "b": np.arange(200) % 9, "code": codes})
    frame.to_csv(folder / "coded.csv", index=False)
    prepared = prepare(read_table(folder / "coded.csv"), SelectRequest("coded.csv", label="code"))
    assert list(prepared.labels) == list(codes)


def test_years_of_age_are_no_classes(folder):
    ages = 18 + np.arange(400) % 40
    frame = pd.DataFrame({"a": np.arange(400) / 7, "b": np.arange(400) % 9, "age": ages})
    frame.to_csv(folder / "aged.csv", index=False)
    prepared = prepare(read_table(folder / "aged.csv"), SelectRequest("aged.csv", label="age"))
    assert set(prepared.labels) == {"up to 37.5", "above 37.5"}


@pytest.mark.slow
def test_json_alone_is_on_stdout_also_of_csv_from_a_pipe(table, tmp_path):
    arguments = ("select", "-", "--budget", 3, "--groups", 2, "--json", "-o", tmp_path / "out")
    done = run_process(*arguments, input=table.read_bytes())
    assert done.returncode == 0 and b"Reading standard input" in done.stderr
    printed = json.loads(done.stdout)
    assert printed["source"] == "standard input" and len(printed["selected"]) == 3


def test_a_sparse_table_has_its_labels_beside_it_its_own_names_and_no_answers(tmp_path):
    anndata = pytest.importorskip("anndata")
    frame = people()
    numbers = np.maximum(frame.filter(regex="^[uvw]"), 0).astype(np.float32)
    cells = anndata.AnnData(numbers.set_index(frame["person_id"]))
    cells.obs["outcome"] = frame["outcome"].to_numpy()
    cells.X = sp.csr_matrix(cells.X)
    file, out = tmp_path / "cells.h5ad", tmp_path / "out"
    cells.write_h5ad(file)
    columns = ("--label", "outcome", "--drop", "w0", "--by", "w1")
    result = run("select", file, *columns, "--groups", 4, "-o", out)
    assert result.exit_code == 0, result.output
    assert summary_of(out)["table"]["n_features"] == 11
    assert set(pd.read_csv(out / CONDITIONS)["representative"]) <= set(numbers) - {"w0", "w1"}
    small = run("apply", out / "model.skops", file, "--keep", "outcome", "-q")
    written = pd.read_csv(io.StringIO(small.stdout))
    assert written["outcome"].tolist() == frame["outcome"].tolist()
    np.testing.assert_allclose(written.iloc[:, 1:], numbers[written.columns[1:]], rtol=1e-6)
    result = run("select", file, "--missing", 9, "-o", tmp_path / "other")
    assert result.exit_code == 4 and "--missing 9:" in result.stderr


@pytest.mark.slow
def test_demo_proposes_no_command_for_a_file_that_is_not_there(tmp_path):
    told = run("demo", "-o", tmp_path / "demo").output
    assert "report.html in a browser" in told and "groupfs apply" not in told


def test_demo_finds_the_moons_and_writes_a_report(tmp_path):
    out = tmp_path / "demo"
    result = run("demo", "-o", out, "--json", "-q")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    groups = [[f"x{axis}_{copy}" for copy in range(1, 6)] for axis in (1, 2)]
    assert [group["features"] for group in printed["groups"]] == groups
    assert set(printed["selected"]) < set(sum(groups, [])) and printed["explained"]["share"] > 0.95
    assert printed["levels"] == [{"n_groups": 2, "agreement": 1.0, "parent": [-1, -1]}]
    assert (out / "report.html").stat().st_size > 10_000
    assert summary_of(out)["code"] == [f"groupfs demo --out {out}"]


@pytest.mark.slow
def test_odd_names_of_files_folders_and_columns_are_taken_as_they_are(folder):
    name, out = "t\udcff.csv", folder / "r[/final] :smile: [bold]"
    try:
        people()[CHOSEN].rename(columns={"v0": "α"}).to_csv(folder / name, index=False)
    except (OSError, UnicodeError):
        pytest.skip("this file system has no such names")
    result = run("select", folder / name, *KEPT_OF_TWO, "-o", out)
    assert f"Open {out / 'report.html'} in a browser." in result.stdout
    assert summary_of(out)["table"]["source"].endswith(r"t\xff.csv")
    assert "α" in run("apply", out, folder / name, "-q").stdout_bytes.decode()


@pytest.mark.parametrize(
    ("table", "asked", "words"),
    [
        ("-", {"force": True, "quiet": True, "device": "cpu"}, ""),
        ("t.csv", {"drop": ["a b", "c"], "no_header": True}, "--drop 'a b' --drop c --no-header"),
        ("t.csv", {"missing": ["-9"], "order": ["low,high"]}, "--missing -9 --order low,high"),
        ("t.h5ad", {"by": "day", "use_raw": True}, "--by day --use-raw"),
        ("t.csv", {"budget": 5, "seed": 7, "out": Path("a b")}, "--budget 5 --seed 7 --out 'a b'"),
        ("t.csv", {"explain": 0.9, "similarity": "rank"}, "--explain 0.9 --similarity rank"),
        ("t.csv", {"level": 2, "from_groups": "kept"}, "--level 2 --from-groups kept"),
    ],
)
def test_the_command_has_every_option_that_bears_on_the_result(table, asked, words):
    written = command_line(SelectRequest(table, **asked), table)
    assert written == f"groupfs select {table} {words}".strip()


@pytest.mark.parametrize("name", ["-", "data/t.csv", "t.csv.gz", "t.h5ad"])
def test_the_folder_of_results_is_named_after_the_file(name):
    assert str(SelectRequest(name).folder) == ("groupfs-stdin" if name == "-" else "groupfs-t")


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (("--signed", "--keep-unrelated"), {"signed": True, "keep_unrelated": True}),
        (("--similarity", "distance"), {"similarity": "distance", "output": "features"}),
        (("--budget", "50%"), {"n_features_to_select": 0.5, "explain": "auto"}),
        (("--explain", "90%"), {"explain": 0.9, "n_features_to_select": None}),
        (("--from-groups", "kept"), {"n_groups_to_select": "significant"}),
        (("--from-groups", "2"), {"n_groups_to_select": 2}),
        (("--representatives", "--seed", "3"), {"n_per_group": 1, "random_state": 3}),
    ],
)
def test_options_set_what_they_say(options, settings, table, tmp_path):
    result = run("select", table, "--groups", 3, "-q", "-o", tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    assert settings.items() <= summary_of(tmp_path / "out")["settings"].items()


def test_levels_come_first_and_another_one_is_an_option_away(tmp_path):
    table, out = tmp_path / "nested.csv", tmp_path / "out"
    names = [f"item{i}" for i in range(24)]
    pd.DataFrame(nested_table(), columns=names).to_csv(table, index=False)
    printed = run("select", table, "-o", out).stdout.strip()
    first = " ".join(printed.splitlines()[:2])
    assert first.startswith("Groups at 2 levels: 2 and 6 (halves of the rows agree by")
    assert "shown are 6. --level 2 shows the others." in " ".join(printed.split())
    assert " ".join(printed.split()).count("Groups at 2 levels") == 1
    result = run("select", table, "--level", "broad", "-o", tmp_path / "broad")
    assert "shown are 2. --level 6 shows the others." in " ".join(result.stdout.split())
    narrow, broad = (
        pd.read_csv(of / "groups.csv").set_index("feature") for of in (out, tmp_path / "broad")
    )
    assert (narrow["level_2"] == narrow["group"]).all() and narrow["group"].nunique() == 6
    assert (broad["level_1"] == broad["group"]).all() and broad["group"].nunique() == 2
    levels = ["level_1", "level_2"]
    pd.testing.assert_frame_equal(narrow.loc[names, levels], broad.loc[names, levels])
    assert set(narrow["verdict"]) == {"member"} and (narrow["stability"] > 0.5).all()
    for _, row in narrow.iterrows():
        assert row["place"].startswith(f"In group {row['group']}, where ")
        assert row["second_group"] != row["group"]
    result = run("select", table, "--level", 5, "-o", tmp_path / "none", "-q")
    assert result.exit_code == 4 and result.stderr.startswith("groupfs: --level 5, but the table")
    assert "levels of 2 and 6 groups" in result.stderr and "--groups 5 cuts" in result.stderr


def test_a_table_without_groups_ends_well_with_a_sentence_and_all_files(tmp_path):
    noise = np.random.default_rng(0).standard_normal((60, 8))
    table, out = tmp_path / "noise.csv", tmp_path / "out"
    pd.DataFrame(noise, columns=list("abcdefgh")).to_csv(table, index=False)
    result = run("select", table, "-o", out)
    assert result.exit_code == 0, result.output
    sentence = "no feature is related to another beyond chance, so there are no groups"
    assert " ".join(result.stdout.split()).count(sentence) == 1
    assert "groupfs apply" not in result.stdout
    advice = "Set --budget for a budget all the same, or --keep-unrelated to"
    assert advice in " ".join(result.stderr.split())
    assert everything(out) == sorted(FILES)
    assert (out / "selected.csv").read_text() == ",".join(SELECTED_COLUMNS) + "\n"
    applied = run("apply", out, table, "-q")
    assert applied.exit_code == 4 and "selects no feature" in applied.stderr


def test_lists_of_members_that_are_cut_are_said_to_be_whole_elsewhere(tmp_path):
    rng = np.random.default_rng(0)
    common = rng.standard_normal((100, 1)) + rng.standard_normal((100, 12))
    told = []
    for name in ("short", "a_name_that_takes_room_"):
        pd.DataFrame(common).add_prefix(name).to_csv(tmp_path / "t.csv", index=False)
        result = run("select", tmp_path / "t.csv", "-o", tmp_path / name)
        told.append("groups.csv has all members." in result.stdout)
        assert told[-1] == (result.stdout.count("…") > 0)
    assert told[-1]
