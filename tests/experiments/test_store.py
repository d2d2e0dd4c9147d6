"""The store of finished cells: nothing finished is lost or computed again."""

import csv
import multiprocessing
import os
import signal
import time

import numpy as np
import pytest

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


def unfinished(folder, n_cells):
    """Return the files of a run that was stopped before its journal was packed."""
    begun = store.Store(folder / "squares.npz")
    for i in range(n_cells):
        begun.add({"key": {"cell": i}, **square({"cell": i})})
    return begun.path, begun.journal


def test_a_run_that_ends_leaves_one_packed_file(tmp_path):
    path, journal = unfinished(tmp_path, 2)
    assert journal.exists() and not path.exists()
    finished = store.run("squares", [{"cell": i} for i in range(3)], square, tmp_path)
    assert path.exists() and not journal.exists()
    assert [record["value"] for record in finished] == [0, 1, 4]
    before = path.stat().st_mtime_ns
    store.run("squares", [{"cell": 1}], square, tmp_path)
    assert path.stat().st_mtime_ns == before  # nothing new, nothing written


def test_a_run_killed_between_packing_and_removing_the_journal_loses_nothing(tmp_path):
    path, journal = unfinished(tmp_path, 2)
    content = journal.read_bytes()
    store.Store(path).pack()
    journal.write_bytes(content)
    assert [record["value"] for record in store.Store(path)] == [0, 1]


def test_cells_that_another_run_has_finished_meanwhile_are_packed_too(tmp_path):
    first, second = (store.Store(tmp_path / "squares.npz") for _ in range(2))
    first.add({"key": {"cell": 1}, "value": 1})
    second.add({"key": {"cell": 2}, "value": 4})
    first.pack()
    second.add({"key": {"cell": 3}, "value": 9})
    second.pack()
    assert [record["value"] for record in second] == [1, 4, 9]


def test_cells_without_a_wanted_value_are_computed_again(tmp_path):
    store.run("squares", [{"cell": 1}, {"cell": 2}], square, tmp_path)

    def compute(key):
        return {**square(key), "cube": key["cell"] ** 3}

    store.run("squares", [{"cell": 2}], compute, tmp_path, fields=["value"])
    finished = store.run("squares", [{"cell": 2}], compute, tmp_path, fields=["value", "cube"])
    assert [record.get("cube") for record in finished] == [None, 8]


def test_a_line_that_was_cut_short_is_computed_again(tmp_path):
    path, journal = unfinished(tmp_path, 2)
    journal.write_bytes(journal.read_bytes()[:-20])
    with pytest.warns(UserWarning, match="squares.jsonl, line 2, is damaged or was cut short"):
        assert [record["value"] for record in store.Store(path)] == [0]
    with pytest.warns(UserWarning, match="line 2"):
        finished = store.run("squares", [{"cell": 0}, {"cell": 1}], square, tmp_path)
    assert [record["value"] for record in finished] == [0, 1]
    assert len(store.Store(path).records) == 2


@pytest.mark.parametrize("length", range(1, 40, 6))
def test_a_line_is_taken_whole_or_not_at_all(tmp_path, length):
    path, journal = unfinished(tmp_path, 1)
    journal.write_bytes(journal.read_bytes()[:-length])
    with pytest.warns(UserWarning, match="line 1"):
        assert not store.Store(path).records


@pytest.mark.parametrize("seed", range(8))
def test_a_line_in_which_a_bit_has_changed_is_ignored(tmp_path, seed):
    path, journal = unfinished(tmp_path, 3)
    first, second, third = journal.read_bytes().splitlines(keepends=True)
    rng, damaged = np.random.default_rng(seed), bytearray(second[:-1])
    damaged[rng.integers(len(damaged))] ^= 1 << int(rng.integers(8))
    journal.write_bytes(first + damaged + b"\n" + third)
    with pytest.warns(UserWarning, match="ignored; its cell is computed again"):
        found = [record["value"] for record in store.Store(path)]
    assert found == [0, 4]


def test_stored_results_are_read_and_left_as_they_are():
    paths = sorted(store.RESULTS.glob("*.npz"))
    assert paths
    for path in paths:
        before = path.read_bytes()
        assert store.Store(path).records
        assert path.read_bytes() == before


@pytest.mark.slow
def test_a_run_that_is_killed_loses_only_the_cell_in_work(tmp_path):
    context = multiprocessing.get_context("forkserver")
    process = context.Process(target=endless, args=(tmp_path,))
    process.start()
    path = tmp_path / "squares.jsonl"
    while not path.exists() or path.read_bytes().count(b"\n") < 3:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    done = path.read_bytes().count(b"\n")
    found = store.Store(tmp_path / "squares.npz")
    assert [record["value"] for record in found][:done] == [i**2 for i in range(done)]


def endless(folder):
    store.run("squares", ({"cell": i} for i in range(10**5)), square, folder)


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
