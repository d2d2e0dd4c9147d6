"""The store of finished cells: nothing finished is lost or computed again."""

import csv

from experiments import store


def square(key):
    return {"value": key["cell"] ** 2, "selected": [1, 2], "machine": {"device": "x"}}


def test_finished_cells_are_not_computed_again(tmp_path):
    done = []

    def compute(key):
        done.append(key["cell"])
        return square(key)

    store.run("squares", [{"cell": 1}, {"cell": 2}], compute, tmp_path)
    finished = store.run("squares", [{"cell": 2}, {"cell": 3}], compute, tmp_path)
    assert done == [1, 2, 3]
    assert [record["value"] for record in finished] == [1, 4, 9]


def test_a_line_that_was_cut_short_is_computed_again(tmp_path):
    store.run("squares", [{"cell": 1}, {"cell": 2}], square, tmp_path)
    path = tmp_path / "squares.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert [record["value"] for record in store.Store(path)] == [1]
    finished = store.run("squares", [{"cell": 1}, {"cell": 2}], square, tmp_path)
    assert [record["value"] for record in finished] == [1, 4]
    assert len(path.read_text().splitlines()) == 2


def test_cells_spread_over_processes_are_stored_alike(tmp_path):
    cells = [{"cell": i} for i in range(4)]
    finished = store.run("squares", cells, square, tmp_path, n_jobs=2)
    assert sorted(record["value"] for record in finished) == [0, 1, 4, 9]


def test_the_csv_has_a_row_per_cell_and_no_long_lists(tmp_path):
    finished = store.run("squares", [{"cell": 1}, {"cell": 2}], square, tmp_path)
    store.write_csv(finished, tmp_path / "squares.csv")
    with (tmp_path / "squares.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["value"] for row in rows] == ["1", "4"]
    assert "selected" not in rows[0] and "machine" not in rows[0]
