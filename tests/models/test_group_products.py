"""The sample term of rows seen through their groups is that of the rows."""

import numpy as np
import pytest
import torch

from groupfs.models.group_products import GroupProducts
from groupfs.models.losses import grouped_smoothness
from tests import reference


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("detached", [False, True])
def test_value_and_gradient_are_the_literal_ones(rng, steps, detached):
    X = torch.from_numpy(rng.standard_normal((14, 9)))
    labels = np.array([0, 2, 1, 1, 0, 2, 2, 0, 1])
    gates = torch.from_numpy(rng.uniform(0.2, 1, size=(3, 3)))
    products = GroupProducts.of(X, labels, 3)
    value, gradient = grouped_smoothness(products, gates.square(), 4, steps, not detached)
    for r in range(3):
        z = gates[r].clone().requires_grad_()
        expected = reference.sample_loss(X, z[torch.from_numpy(labels)], 4, steps, detached)
        (by_gate,) = torch.autograd.grad(expected, z)
        assert value[r].item() == pytest.approx(expected.item(), rel=1e-9)
        torch.testing.assert_close(2 * gates[r] * gradient[r], by_gate, rtol=1e-7, atol=1e-10)
