"""Stages of a fit add up to the whole, and the benchmark of speed says what it takes."""

import time

import numpy as np
import pytest

from benchmarks import speed, stages
from benchmarks.machine import Rates
from benchmarks.simulated_cells import sparse_counts


def test_a_stage_within_another_counts_once_and_one_that_is_gone_is_an_error(monkeypatch):
    clock = stages.Clock()
    inner = clock.watched("graph", lambda: time.sleep(0.2))
    clock.watched("tree", lambda: (inner(), time.sleep(0.01)))()
    assert clock.seconds["graph"] >= 0.2 > clock.seconds["tree"] >= 0.01
    monkeypatch.setitem(stages.STAGES, "groupfs.discovery.discover.gone", "tree")
    with pytest.raises(AttributeError, match="gone"):
        stages.watched_stages().__enter__()


@pytest.mark.parametrize("name", ["60x40", "counts:1000x300"])
def test_a_planted_table_has_a_line_with_all_stages_a_limit_and_dashes(name):
    words = speed.line(name, "cpu", 1, Rates(1e9, 1e9)).split()[1:]
    shown = dict(zip(speed.HEADINGS, words, strict=True))
    spent = [float(word) for word in words[: len(stages.NAMES) + 1]]
    assert min(spent) > 0 and sum(spent) == pytest.approx(float(shown["total"]), rel=0.02)
    assert float(shown["limit"]) > 0 and (shown["Ward"] == "-") == name.startswith("counts")


def test_sparse_counts_are_small_numbers_of_which_one_in_twenty_is_not_zero():
    X = sparse_counts(300, 500, 0)
    assert X.dtype == np.uint8 and 0.04 < X.nnz / np.prod(X.shape) < 0.06


def test_growth_is_drawn(tmp_path, capsys):
    sizes = ["--rows=1000", "--features=100", f"--out={tmp_path / 'growth.png'}"]
    speed.main(["--part=growth", *sizes])
    assert "memory ~ rows" in capsys.readouterr().out and (tmp_path / "growth.png").exists()
