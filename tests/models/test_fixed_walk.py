"""On a graph that is known the sample term and its gradient equal the literal equations."""

import numpy as np
import pytest
import torch

from groupfs.models.fixed_walk import FixedWalk
from groupfs.models.losses import sample_term
from groupfs.models.objective import Objective
from tests import reference

OBJECTIVE = Objective(n_neighbors=3, steps=2, gate_noise=0.5, through_bandwidth=True)


@pytest.mark.parametrize("R", [1, 4])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_value_and_gradient(R, steps, rng):
    X = torch.from_numpy(rng.standard_normal((9, 5)))
    P = reference.random_walk(reference.self_tuning_affinity(X, 3))
    weights = torch.from_numpy(rng.standard_normal((R, 5)))
    batch = FixedWalk.of(X, torch.linalg.matrix_power(P, steps) @ X)
    value, gradient = sample_term(OBJECTIVE, batch, weights**2)
    for r in range(R):
        leaf = weights[r].clone().requires_grad_()
        literal = reference.fixed_walk_loss(X, leaf, P, steps)
        (expected,) = torch.autograd.grad(literal, leaf)
        assert value[r].item() == pytest.approx(literal.item(), rel=1e-12)
        # the gradient is with respect to squared weights
        np.testing.assert_allclose(2 * weights[r] * gradient[r], expected, rtol=1e-9)


def test_a_batch_can_be_overwritten_by_another(rng):
    one, other = (FixedWalk(torch.from_numpy(rng.standard_normal(4)), 9) for _ in range(2))
    place = one.clone()
    place.copy_(other)
    assert torch.equal(place.products, other.products)
    assert not torch.equal(one.products, other.products)
