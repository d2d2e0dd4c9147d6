"""The store of finished cells: nothing finished is lost or computed again."""

import pytest

from experiments import store


def square(key):
    return {"value": key["cell"] ** 2, "selected": [1, 2]}


def unfinished(folder):
    """Return the files of a run that was stopped before its journal of two cells was packed."""
    begun = store.Store(folder / "squares.npz")
    for key in ({"cell": 0}, {"cell": 1}):
        begun.add({"key": key, **square(key)})
    return begun.path, begun.journal


def test_finished_cells_are_not_computed_again_and_are_packed_into_one_file(tmp_path):
    done = []

    def compute(key):
        done.append(key["cell"])
        return square(key)

    path, journal = unfinished(tmp_path)
    assert journal.exists() and not path.exists()
    finished = store.run("squares", [{"cell": i} for i in (1, 2, 3)], compute, tmp_path)
    assert done == [2, 3] and [record["value"] for record in finished] == [0, 1, 4, 9]
    assert path.exists() and not journal.exists() and list(store.Store(path)) == list(finished)


@pytest.mark.parametrize("length", [2, 20, 50])
def test_a_line_that_was_cut_short_is_computed_again(tmp_path, length):
    path, journal = unfinished(tmp_path)
    journal.write_bytes(journal.read_bytes()[:-length])
    assert [record["value"] for record in store.Store(path)] == [0]
    store.Store(path).add({"key": {"cell": 2}, "value": 4})
    store.run("squares", [{"cell": 0}, {"cell": 1}], square, tmp_path)
    assert [record["value"] for record in store.Store(path)] == [0, 4, 1]


@pytest.mark.parametrize("path", sorted(store.RESULTS.glob("*.npz")), ids=lambda path: path.stem)
def test_stored_results_are_read(path):
    assert all("key" in record for record in store.Store(path)) and store.Store(path).records
