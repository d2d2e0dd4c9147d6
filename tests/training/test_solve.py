from dataclasses import replace

import numpy as np
import pytest
import torch

from groupfs.data.rows import DenseRows
from groupfs.datasets import load_two_moons
from groupfs.training.solve import Task, solve
from tests.support.problems import CPU, prepared


class RowsWithoutMps(DenseRows):
    """Rows that cannot be had on the GPU of a Mac."""

    def to(self, device, dtype):
        if device.type == "mps":
            raise NotImplementedError("aten::kthvalue")
        super().to(device, dtype)


@pytest.fixture(scope="module")
def task():
    """Three groups at a relative sparsity of 0.7, on a device that is still to be chosen."""
    problem = prepared(load_two_moons(150, random_state=0).data, n_groups=3, max_epochs=5)
    table = replace(problem.table, rows=RowsWithoutMps(problem.table.rows.Z))
    return Task(table, problem.settings, [0], [CPU], lambda w: np.array([0.7 * w]), [3])


def test_an_operation_that_mps_lacks_sends_the_fit_to_the_cpu(task):
    on_cpu = solve(task)
    with pytest.warns(UserWarning, match=r"lacks an operation \(aten::kthvalue\); the CPU was"):
        found = solve(replace(task, devices=[torch.device("mps")]))
    assert found.problem.device == CPU
    np.testing.assert_array_equal(found.trained.gates, on_cpu.trained.gates)


def test_the_number_of_groups_with_the_largest_gain_is_kept(task):
    found = solve(replace(task, numbers_of_groups=[2, 3, 5]))
    assert set(found.gains) == {2, 3, 5}
    assert found.gains[found.problem.n_groups] == max(found.gains.values())
    assert found.trained.gain.max() == max(found.gains.values())
    assert not found.interrupted
