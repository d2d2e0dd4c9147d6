"""What all scripts share: everything is computed each time, and failures are named."""

import pandas as pd
import pytest

from experiments import readme, running


@pytest.fixture
def given(tmp_path):
    return running.options("experiments/thing.py", "A thing.").parse_args(["--out", str(tmp_path)])


def square(number):
    if number == 3:
        raise ValueError("three is too much")
    return {"square": number**2}


def test_a_run_computes_again_whatever_lies_in_its_folder(given):
    for _ in range(2):
        pd.DataFrame({"number": [1], "square": [99]}).to_csv(given.out / "fits.csv")
        rows = running.compute([{"number": n} for n in (1, 2)], square, given)
        assert rows["square"].tolist() == [1, 4] and (rows["seconds"] >= 0).all()


def test_a_cell_that_fails_is_named_and_the_others_are_written(given, capsys):
    rows = running.compute([{"number": n} for n in (3, 4)], square, given)
    with pytest.raises(SystemExit, match="1 cells failed"):
        running.write(given, rows, ["command, Python 3", "| all |"], "| short |")
    assert "three is too much" in capsys.readouterr().err
    assert pd.read_csv(given.out / "fits.csv")["square"].tolist() == [16]
    assert (given.out / "summary.md").read_text() == "command, Python 3\n\n| all |\n"
    assert (given.out / "short.md").read_text() == "| short |\n\ncommand.\n"


def test_rows_of_other_folders_are_taken_only_where_they_are_named(given, tmp_path, capsys):
    given.out = tmp_path / "one"
    running.write(given, running.compute([{"number": 5}], square, given), ["command"], "")
    given.join, given.out = [tmp_path / "one"], tmp_path / "two"
    rows = running.compute([{"number": 6}], square, given)
    assert rows["square"].tolist() == [25]
    assert "nothing computed" in capsys.readouterr().out


def test_the_readme_shows_the_tables_of_the_results_in_at_most_5000_words():
    text = (readme.FOLDER / "README.md").read_text()
    assert readme.filled(text) == text, "run python -m experiments.readme"
    named = set(readme.MARK.findall(text))
    with_results = {folder.name for folder in (readme.FOLDER / "results").iterdir()}
    assert named | {"figure1"} == with_results  # a drawing
    assert len(text.split()) <= 5000
