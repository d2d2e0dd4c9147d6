"""The experiment behind two defaults: what it records and what it makes of it."""

import numpy as np
import pytest

from experiments import defaults
from groupfs.selection.describe import GroupResult


def result(gates, p_values):
    groups = [np.arange(5), np.arange(5, 8), np.arange(8, 10)]
    return GroupResult(
        groups=groups,
        membership=np.zeros((10, 3)),
        centrality=np.linspace(1, 0, 10),
        signs=np.ones(10, int),
        reliability=None,
        replicates=None,
        scores=np.array([0.4, 0.2, 0.1]),
        p_values=np.array(p_values),
        gates=np.array(gates),
        order=np.arange(3),
        sparsity_weight=1.0,
        loss=0.0,
        gain=0.0,
        history=[],
    )


def test_its_own_choice_is_what_is_open_and_stands_out():
    found = defaults.selections(result([1.0, 0.0, 1.0], [1e-9, 1e-9, 1.0]), [4])
    assert found["own", None].tolist() == [0, 1, 2, 3, 4]
    assert ("own", None) not in defaults.selections(result([0.0] * 3, [1e-9] * 3), [4])


def test_budgets_are_spread_over_groups_that_stand_out():
    found = defaults.selections(result([0.0] * 3, [1e-9, 1e-9, 1.0]), [4])
    assert found["whole", 4].tolist() == [0, 1, 2, 3]
    assert sorted(found["by score", 4]) == [0, 1, 2, 5]
    assert sorted(found["equally", 4]) == [0, 1, 5, 6]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_cell_records_every_sparsity_and_way():
    record = defaults.compute({"table": "wine", "seed": 0}, "cpu")
    ways = {(entry["way"], entry["budget"]) for entry in record["entries"]}
    assert {"whole", "by score", "by root of score", "equally"} <= {way for way, _ in ways}
    assert {entry["sparsity"] for entry in record["entries"]} == set(defaults.SPARSITIES)
    for entry in record["entries"]:
        assert entry["budget"] in (None, len(entry["selected"]))
