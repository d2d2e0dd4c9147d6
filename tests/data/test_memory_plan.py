import re

import pytest

from groupfs.data import memory_plan as _memory


@pytest.mark.parametrize(
    ("value", "n_bytes"),
    [("4GB", 4e9), ("1.5 gb", 1.5e9), ("512MiB", 2**29), ("2k", 2000), (3e9, 3e9), (".5T", 5e11)],
)
def test_amounts_are_read_as_people_write_them(value, n_bytes):
    assert _memory.parse_memory(value) == n_bytes


@pytest.mark.parametrize("value", ["", "four", "4 XB", "GB", "-1GB", 0, -5, float("nan")])
def test_what_is_no_amount_is_refused(value):
    with pytest.raises(ValueError, match="is not an amount of memory.*4GB"):
        _memory.parse_memory(value)


def test_what_the_process_holds_counts():
    free = _memory.memory_budget("100GB")
    assert 90e9 < free < 100e9 - 1e8


def test_without_a_limit_part_of_the_free_memory_is_used(monkeypatch):
    monkeypatch.setattr(_memory, "_free_memory", lambda: 8 * 10**9)
    assert _memory.memory_budget(None) == 6 * 10**9


def test_a_container_with_less_memory_than_the_machine_counts(monkeypatch, tmp_path):
    limits = {"memory.max": "3000", "memory.current": "1700"}
    limits["memory.stat"] = "anon 900\ninactive_file 400\nactive_file 300"

    class FakePath(type(tmp_path)):
        def read_text(self):
            if self.name in limits:
                return limits[self.name]
            raise OSError

    monkeypatch.setattr(_memory, "Path", FakePath)
    monkeypatch.setattr(_memory, "_available", lambda: 10**9)
    assert _memory._free_memory() == 2000


def test_dense_tables_are_counted_by_numbers_and_sparse_ones_by_entries():
    assert _memory.fits_in_memory((1000, 1000), None, 33 * 10**6)
    assert not _memory.fits_in_memory((1000, 1000), None, 31 * 10**6)
    assert _memory.fits_in_memory((1000, 1000), 1000, 10**5)
    assert not _memory.fits_in_memory((10**6, 10**5), 1000, 10**12)


@pytest.mark.parametrize("n_features", [10, 2000, 30_000, 10**6])
@pytest.mark.parametrize("n_models", [1, 2, 8])
def test_the_parts_of_a_plan_stay_within_the_budget(n_features, n_models):
    budget = 40 * 10**9
    plan = _memory.plan_rows(10**6, n_features, n_models, budget, None)
    per_row = 4 * n_features
    graph = 10 * per_row * plan.block_rows + plan.slab_bytes
    training = per_row * (2 * plan.buffer_rows + (2 * n_models + 4) * plan.batch_rows)
    training += plan.model_bytes
    always = 4 * per_row * plan.sample_rows + _memory.PER_FEATURE * n_features
    assert always + max(graph, training) <= budget
    assert min(plan.buffer_rows, plan.batch_rows, plan.sample_rows) >= _memory.FEWEST_ROWS


@pytest.mark.parametrize("max_memory", ["1GB", None])
def test_refusal_says_what_would_do(max_memory):
    with pytest.raises(ValueError, match="1,000,000 features needs about .* GB") as refusal:
        _memory.plan_rows(1000, 10**6, 2, 10**9, max_memory)
    enough = re.search(r"set max_memory to ([\d.]+ GB)", str(refusal.value))[1]
    budget = _memory.memory_budget(enough)
    assert _memory.plan_rows(1000, 10**6, 2, budget, enough).batch_rows >= _memory.FEWEST_ROWS


def test_amounts_are_shown_in_fitting_units():
    assert [_memory.shown(n) for n in (5, 2500, 3.2e6, 4.56e9)] == [
        "5 bytes",
        "2.5 kB",
        "3.2 MB",
        "4.6 GB",
    ]
