import re

import pytest

from groupfs.data import memory
from groupfs.data.memory import FEWEST_SAMPLE_ROWS, PER_FEATURE, fits_in_memory, plan_rows


@pytest.mark.parametrize(
    ("value", "n_bytes"),
    [("4GB", 4e9), ("1.5 gb", 1.5e9), ("512MiB", 2**29), ("2k", 2000), (3e9, 3e9), (".5T", 5e11)],
)
def test_amounts_are_read_as_people_write_them(value, n_bytes):
    assert memory.parse_memory(value) == n_bytes


@pytest.mark.parametrize("value", ["", "four", "4 XB", "GB", "-1GB", 0, -5, float("nan")])
def test_what_is_no_amount_is_refused(value):
    with pytest.raises(ValueError, match="is not an amount of memory.*4GB"):
        memory.parse_memory(value)


def test_what_the_process_holds_counts():
    free = memory.memory_budget("100GB")
    assert 90e9 < free < 100e9 - 1e8


@pytest.mark.parametrize(
    ("folder", "limit", "used"),
    [(".", "max", "current"), ("memory", "limit_in_bytes", "usage_in_bytes")],
)
def test_a_container_with_less_memory_than_the_machine_counts(tmp_path, folder, limit, used):
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / f"memory.{limit}").write_text("3000")
    (tmp_path / folder / f"memory.{used}").write_text("1700")
    (tmp_path / folder / "memory.stat").write_text("anon 900")
    assert memory.free_memory(tmp_path) == 1300
    stat = "anon 900\ninactive_file 400\nactive_file 300"
    (tmp_path / folder / "memory.stat").write_text(stat)
    assert memory.free_memory(tmp_path) == 2000
    (tmp_path / folder / f"memory.{limit}").write_text("max")
    assert memory.free_memory(tmp_path) > 10**6


def test_tables_are_counted_by_numbers_or_entries_and_by_features():
    assert fits_in_memory((10**6, 1000), None, 33 * 10**9)
    assert not fits_in_memory((10**6, 1000), None, 31 * 10**9)
    assert fits_in_memory((10**6, 1000), 1000, 34 * 10**6)
    assert not fits_in_memory((300, 10**5), None, 3 * 10**9)  # measured: 3.5 GB with libraries
    assert not fits_in_memory((10**6, 10**5), 1000, 10**12)


@pytest.mark.parametrize("n_features", [10, 2000, 30_000, 10**6])
def test_the_parts_of_a_plan_stay_within_the_budget(n_features):
    budget = 80 * 10**9
    plan = plan_rows(10**6, n_features, budget, None)
    per_row = 4 * n_features
    graph = memory.PER_PRODUCT * plan.block_entries
    graph += memory.PER_BLOCK_ROW * per_row * plan.block_rows
    always = 4 * per_row * plan.sample_rows + PER_FEATURE * n_features
    assert always + graph <= budget
    assert plan.sample_rows >= FEWEST_SAMPLE_ROWS


@pytest.mark.parametrize("max_memory", ["1GB", None])
def test_refusal_says_what_would_do(max_memory):
    with pytest.raises(ValueError, match="1,000,000 features needs about .* GB") as refusal:
        plan_rows(1000, 10**6, 10**9, max_memory)
    enough = re.search(r"set max_memory to ([\d.]+ GB)", str(refusal.value))[1]
    budget = memory.memory_budget(enough)
    assert plan_rows(1000, 10**6, budget, enough).sample_rows >= FEWEST_SAMPLE_ROWS
