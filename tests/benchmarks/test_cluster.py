"""The array that is fitted on workers has its groups in every block, and fits of it agree."""

import numpy as np
import pytest

pytest.importorskip("distributed")
from benchmarks import cluster


def test_an_array_is_made_the_same_again_with_groups_in_every_block(monkeypatch):
    monkeypatch.setattr(cluster, "AT_ONCE", 700)
    groups = np.repeat([0, 1, -1], [6, 6, 8])
    X = cluster.planted_array(1400, groups)
    assert X.chunks == ((700, 700), (20,)) and X.dtype == np.float64
    whole = X.compute()
    np.testing.assert_array_equal(whole, X.compute())
    related = (groups[:, None] == groups) & (groups >= 0)
    for block in np.split(whole, 2):
        r = np.abs(np.corrcoef(block.T))
        assert r[related].min() > 0.1 > 0.05 > r[~related & ~np.eye(20, dtype=bool)].mean()
    assert (whole[:700] != whole[700:]).all()
    np.testing.assert_allclose(whole.std(axis=0), 1, atol=0.1)


@pytest.mark.slow
@pytest.mark.cluster
def test_a_worker_that_is_killed_changes_no_result(capsys):
    cluster.main(["--gb", "0.02", "--fits", "two workers", "one of two killed"])
    *_, two, killed = capsys.readouterr().out.splitlines()
    assert two.endswith("1  labels, order, support") and two.split()[7] == "0"
    assert killed.endswith("1  labels, order, support") and killed.split()[9] == "1"
