"""Scores of people: beside a selection, of another file, kept with ids, turned, as csv to sav."""

import io
import re

import numpy as np
import pandas as pd
import pytest

from groupfs import persistence
from groupfs.files import ColumnPreparer, read_table
from tests.support.command import run

QUESTIONS = {f"{kind}{i}": f"Question {kind} {i}?" for kind in "ab" for i in range(1, 6)}


def answers(n=300, seed=3):
    """Answers in words and numbers to two scales of five questions, with ids, ages and gaps."""
    rng = np.random.default_rng(seed)
    scale = np.repeat(rng.standard_normal((n, 2)), 5, axis=1) + 0.7 * rng.standard_normal((n, 10))
    steps = np.clip(np.round(3 + scale), 1, 5)
    steps[:, [2, 8]] = 6 - steps[:, [2, 8]]
    steps[rng.random(steps.shape) < 0.1] = np.nan
    table = pd.DataFrame(steps, columns=list(QUESTIONS))
    words = dict(enumerate(["never", "rarely", "sometimes", "often", "always"], start=1))
    table["a1"] = table["a1"].map(words)
    table.insert(0, "id", [f"p{i:03d}" for i in range(n)])
    return table.assign(age=rng.integers(18, 80, n))


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scores")
    answers().to_csv(folder / "survey.csv", index=False)
    pd.Series(QUESTIONS).rename("question").rename_axis("item").to_csv(folder / "codebook.csv")
    options = ("--scores", "--keep", "id,age", "--labels", folder / "codebook.csv")
    result = run("select", folder / "survey.csv", *options, "-o", folder / "out")
    assert result.exit_code == 0, result.output
    return folder, result


def words(text):
    return " ".join(text.split())


def test_select_writes_scores_with_ids_and_says_what_a_score_is(survey):
    folder, result = survey
    scores = pd.read_csv(folder / "out/scores.csv")
    assert scores.columns[:2].tolist() == ["id", "age"] and scores.shape == (300, 4)
    assert "scores.csv" in result.stdout
    assert "A score is the mean of the standardised values that a row has" in words(result.stderr)
    # what is kept beside is no feature
    assert "age" not in set(pd.read_csv(folder / "out/groups.csv")["feature"])


def test_python_select_and_scores_give_the_same_numbers(survey):
    folder, _ = survey
    written = pd.read_csv(folder / "out/scores.csv")
    result = run("scores", folder / "out", folder / "survey.csv", "--keep", "id,age", "-q")
    assert result.exit_code == 0 and result.stdout == (folder / "out/scores.csv").read_text()
    frame = answers().drop(columns=["id", "age"])
    prepared = ColumnPreparer().fit(frame).transform(frame)
    in_python = persistence.load(folder / "out/model.skops").scores_frame(prepared)
    pd.testing.assert_frame_equal(written.iloc[:, 2:], in_python, rtol=1e-12)


@pytest.mark.parametrize("name", ["s.csv", "s.tsv", "s.parquet", "s.xlsx", "s.sav", "s.csv.gz"])
def test_scores_are_written_as_the_ending_says(name, survey, tmp_path):
    folder, _ = survey
    out = tmp_path / name
    done = run("scores", folder / "out", folder / "survey.csv", "--keep", "id", "-o", out, "-q")
    assert done.exit_code == 0, done.output
    expected = pd.read_csv(folder / "out/scores.csv").drop(columns="age")
    read = read_table(out)
    pd.testing.assert_frame_equal(read.values, expected, check_dtype=False, rtol=1e-12)
    if name.endswith("sav"):
        assert read.labels[read.names[1]].startswith("Group 1: ")


def test_all_levels_stand_side_by_side(survey):
    folder, _ = survey
    done = run("scores", folder / "out", folder / "survey.csv", "--level", "all", "-q")
    selector = persistence.load(folder / "out/model.skops")
    n_groups = [one.n_groups for one in selector.levels_]
    columns = pd.read_csv(io.StringIO(done.stdout)).columns
    begin = [f"level{k}_" if len(n_groups) > 1 else "" for k in range(1, len(n_groups) + 1)]
    assert [sum(name.startswith(of) for name in columns) for of in begin] == n_groups


def test_a_direction_turns_one_score_and_says_so_in_its_name(survey):
    folder, _ = survey
    scores = pd.read_csv(folder / "out/scores.csv").iloc[:, 2:]
    groups = pd.read_csv(folder / "out/groups.csv")
    turned_item = groups["feature"][groups["centrality"] < 0].iloc[0]
    place = int(groups["group"][groups["feature"] == turned_item].iloc[0]) - 1
    done = run("scores", folder / "out", folder / "survey.csv", "--direction", turned_item, "-q")
    turned = pd.read_csv(io.StringIO(done.stdout))
    np.testing.assert_allclose(turned.iloc[:, place], -scores.iloc[:, place])
    assert turned.columns[1 - place] == scores.columns[1 - place]
    assert turned.columns[place] != scores.columns[place]


def test_rows_without_a_score_are_counted_and_named_by_what_tells_them_apart(survey):
    folder, result = survey
    scores = pd.read_csv(folder / "out/scores.csv")
    gaps = scores.iloc[:, 2:].isna()
    assert gaps.any(axis=None)
    first = scores["id"][gaps.any(axis=1)].head(2).str.cat(sep=", ")
    n_scores, n_rows = gaps.sum().sum(), gaps.any(axis=1).sum()
    said = words(result.stderr)
    verb = "score is" if n_scores == 1 else "scores are"
    assert re.search(rf"{n_scores} {verb} missing in {n_rows} rows? \({first}", said)
    done = run("scores", folder / "out", folder / "survey.csv", "--keep", "age")
    row = gaps.index[gaps.any(axis=1)][0] + 1
    assert f"(row {row}" in words(done.stderr)


def test_a_column_that_is_called_like_a_score_is_refused(survey, tmp_path):
    folder, _ = survey
    scores = pd.read_csv(folder / "out/scores.csv")
    answers().assign(**{scores.columns[2]: 1}).to_csv(tmp_path / "again.csv", index=False)
    keep = ("--keep", f"id,{scores.columns[2]}")
    says = f"--keep {scores.columns[2]}: scores are called so; rename the column"
    for command in (
        ("scores", folder / "out", tmp_path / "again.csv", *keep),
        ("select", tmp_path / "again.csv", "--scores", *keep, "-o", tmp_path / "out"),
    ):
        done = run(*command)
        assert done.exit_code == 4 and says in words(done.stderr), done.output
        assert "Looking for groups" not in done.stderr


def test_a_file_of_next_year_is_scored_by_what_is_there(survey, tmp_path):
    folder, _ = survey
    new = answers(50, seed=9).rename(columns={"b2": "mood_2"}).drop(columns=["a4"])
    new[new.columns[::-1]].assign(extra=1).to_csv(tmp_path / "new.csv", index=False)
    book = pd.DataFrame({"this year": ["mood_2", "b1"], "last year": ["b2", "b1"]})
    book.to_csv(tmp_path / "book.csv", index=False)
    done = run("scores", folder / "out", tmp_path / "new.csv", "--labels", tmp_path / "book.csv")
    assert done.exit_code == 0, done.output
    assert "the table lacks 1 column of the groups (a4)" in words(done.stderr)
    assert "took 1 column by name (this year)" in words(done.stderr)
    whole = answers(50, seed=9).assign(a4=np.nan)
    whole.to_csv(tmp_path / "whole.csv", index=False)
    expected = run("scores", folder / "out", tmp_path / "whole.csv", "-q").stdout
    got, wanted = (pd.read_csv(io.StringIO(text)) for text in (done.stdout, expected))
    pd.testing.assert_frame_equal(got, wanted, rtol=1e-12)


def test_wording_is_in_every_table_and_on_the_page(survey):
    folder, _ = survey
    for name in ("groups.csv", "selected.csv"):
        table = pd.read_csv(folder / "out" / name)
        assert (table["wording"] == table["feature"].map(QUESTIONS)).all()
    scales = pd.read_csv(folder / "out/scales.csv")
    assert (scales["wording"] == scales["representative"].map(QUESTIONS)).all()
    page = (folder / "out/report.html").read_text(encoding="utf-8")
    assert all(question in page for question in QUESTIONS.values())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--keep", "nobody"), "--keep nobody: there is no column of that name"),
        (("--direction", "a11"), "--direction a11: there is no column of that name"),
        (("--level", "7"), "--level 7"),
        (("--out", "scores.doc"), "a table of scores is written as csv,"),
        (("--least", "2"), "2 is no share"),
    ],
)
def test_what_cannot_be_scored_is_one_sentence(options, says, survey, tmp_path, monkeypatch):
    folder, _ = survey
    monkeypatch.chdir(tmp_path)
    done = run("scores", folder / "out", folder / "survey.csv", *options)
    told = words(done.stderr.replace("│", " "))
    assert done.exit_code in (2, 4, 5) and says in told and not done.stdout


def test_keep_without_scores_is_refused(survey):
    folder, _ = survey
    done = run("select", folder / "survey.csv", "--keep", "id", "-o", folder / "never")
    assert done.exit_code == 4 and "add --scores" in words(done.stderr)
    assert not (folder / "never").exists()


def test_some_columns_alone(survey):
    folder, _ = survey
    done = run("select", folder / "survey.csv", "--columns", "a1:a5", "-o", folder / "some")
    assert done.exit_code == 0, done.output
    assert set(pd.read_csv(folder / "some/groups.csv")["feature"]) == set(list(QUESTIONS)[:5])


def test_a_short_form_tells_how_well_it_keeps_the_score(survey):
    folder, _ = survey
    done = run("select", folder / "survey.csv", "--per-group", "3", "-o", folder / "short")
    assert "Short form of group 1: " in done.stdout and "with the full score" in words(done.stdout)
    selected = pd.read_csv(folder / "short/selected.csv")
    assert selected["group"].tolist() == [1, 1, 1, 2, 2, 2]
    scales = pd.read_csv(folder / "short/scales.csv")
    scores = pd.read_csv(folder / "out/scores.csv").iloc[:, 2:]
    assert (scales["short_r"] > 0.9).all() and (scales["short_alpha"] < scales["alpha"]).all()
    # r by hand, from people who answered everything
    model, frame = persistence.load(folder / "out/model.skops"), answers()
    prepared = ColumnPreparer().fit(frame).transform(frame)
    items = selected["feature"][selected["group"] == 1]
    others = prepared.columns.difference(items)
    short = model.scores_frame(prepared.assign(**dict.fromkeys(others, np.nan)), least=0.1)
    whole = prepared[model.feature_names_in_[model.groups_[0]]].notna().all(axis=1)
    by_hand = short.iloc[:, 0][whole].corr(scores.iloc[:, 0][whole])
    assert scales["short_r"][0] == pytest.approx(by_hand, abs=0.02)
