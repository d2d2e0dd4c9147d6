"""Questionnaires on the command line: answers in words, codes for no answer, the same applied."""

import io
import json

import pandas as pd
import pytest

from tests.support.command import CHOSEN, people, run


@pytest.fixture(scope="module")
def questionnaire(tmp_path_factory):
    """Answers of two scales in words, one of them German, some of them none."""
    steps = people(200)[CHOSEN].rank(pct=True).mul(4.999).astype(int)
    german = ["nie", "selten", "manchmal", "oft", "immer"]
    words = {"u": ["Never", "rarely", "sometimes", "often", "always"], "v": german}
    frame = pd.DataFrame({name: [words[name[0]][i] for i in steps[name]] for name in CHOSEN})
    frame.loc[::20, :] = "keine Angabe"
    path = tmp_path_factory.mktemp("words") / "t.csv"
    frame.to_csv(path, index=False)
    return path, steps + 1


def test_answers_in_words_are_numbers_here_and_when_applied(questionnaire, tmp_path):
    path, steps = questionnaire
    order = "nie,selten,manchmal,oft,immer"
    options = ("--order", order, "--missing", "keine Angabe", "--groups", 2)
    result = run("select", path, *options, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    said = " ".join(result.stderr.split())
    assert "for numbers from 1 to 5, nie < selten < manchmal < oft < immer: v0, v1" in said
    assert "never < rarely < sometimes < often < always: u0, u1" in said
    assert "Took keine Angabe for gaps in 8 columns, as asked (how many): u0 (10)" in said
    (command,) = json.loads((tmp_path / "out" / "result.json").read_text())["code"]
    assert f"--missing 'keine Angabe' --order {order}" in command
    written = pd.read_csv(io.StringIO(run("apply", tmp_path / "out", path, "-q").stdout))
    expected = steps.astype("Int64")
    expected.loc[::20, :] = pd.NA
    pd.testing.assert_frame_equal(written.astype("Int64"), expected[written.columns])


def test_representatives_are_one_feature_of_each_group_printed_and_written(table, tmp_path):
    out = tmp_path / "out"
    options = ("--representatives", "--drop", "w*,sex,job,outcome")
    result = run("select", table, *options, "-q", "-o", out)
    assert result.exit_code == 0, result.output
    selected = pd.read_csv(out / "selected.csv")
    assert selected["group"].tolist() == [1, 2] and selected["rank"].tolist() == [1, 1]
    first, second = selected["feature"]
    assert f"Selected representatives: {first}, {second}." in result.stdout
    in_file = ",".join(sorted(selected["feature"], key=list(pd.read_csv(table)).index))
    assert run("apply", out, table, "-q").stdout.startswith(f"{in_file}\n")
