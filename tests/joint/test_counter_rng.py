import numpy as np
import torch
from scipy import stats

from groupfs.joint.relaxations import CounterNoise

CPU = torch.device("cpu")


def draws(seeds, n, n_steps):
    noise = CounterNoise(seeds, CPU)
    return np.stack([noise.uniform(n, torch.float64).numpy() for _ in range(n_steps)])


def test_numbers_are_uniform():
    values = draws([0], 5000, 20).ravel()
    assert stats.kstest(values, "uniform").pvalue > 1e-3
    assert values.min() > 0 and values.max() < 1


def test_largest_and_smallest_survive_single_precision():
    values = CounterNoise([3], CPU).uniform(2_000_000, torch.float32)
    assert torch.isfinite(values.log().neg().log()).all()


def test_places_steps_and_seeds_are_uncorrelated():
    values = draws([0, 1], 300, 300)
    first = values[:, 0]
    for a, b in (
        (first[:, 1:], first[:, :-1]),  # neighbouring places
        (first[1:], first[:-1]),  # successive steps
        (values[:, 0], values[:, 1]),  # neighbouring seeds
        (first[1:, :-1], first[:-1, 1:]),  # the diagonal: a shifted counter would repeat itself
    ):
        r = np.corrcoef(a.ravel(), b.ravel())[0, 1]
        assert abs(r) < 4 / np.sqrt(a.size)


def test_a_stream_does_not_depend_on_the_others_beside_it():
    alone, beside = draws([5], 50, 3), draws([2, 5], 50, 3)
    np.testing.assert_array_equal(alone[:, 0], beside[:, 1])


def test_numbers_drawn_ahead_do_not_depend_on_what_else_is_drawn():
    plain, mixed = CounterNoise([3, 8], CPU), CounterNoise([3, 8], CPU)
    for step in range(6):
        expected = plain.uniform(5, torch.float64)
        if step % 3 == 1:
            mixed.uniform(7, torch.float64)  # what was drawn ahead is of no use
        else:
            assert torch.equal(mixed.uniform(5, torch.float64), expected)
