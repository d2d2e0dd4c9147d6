"""Groups along a number: weights, curves, what changes, and what is refused."""

import numpy as np
import pytest

from groupfs.conditions import curves
from groupfs.conditions.compare import choose_bandwidth, choose_places
from groupfs.conditions.weighted import effective_samples, kernel_weights, standardized_along
from tests.support.planted_groups import SIZE, in_order, known, planted

QUICK = {"n_permutations": 199, "n_bootstrap": 50}


@pytest.fixture(scope="module")
def table():
    """Group 1 grows together over time, group 2 rises, group 0 stays as it is."""
    rng = np.random.default_rng(0)
    time = rng.uniform(0, 10, 300)
    shared = np.full((300, 3), 0.5)
    shared[:, 1] = 0.07 * time
    X = planted(shared, rng)
    X[:, 2 * SIZE :] += 0.2 * time[:, None]
    return X, time


@pytest.fixture(scope="module")
def selector(table):
    return known(table[0])


@pytest.fixture(scope="module")
def result(selector, table):
    return curves(selector, *table, **QUICK)


def test_groups_that_change_are_found_and_others_are_not(selector, result):
    assert in_order(selector, result.mean_change.found(0.05)).tolist() == [False, False, True]
    assert in_order(selector, result.cohesion_change.found(0.05)).tolist() == [False, True, False]


def test_curves_are_weighted_means_and_correlations(selector, table, result):
    X, time = table
    Z = (X - X.mean(0)) / X.std(0)
    flat = standardized_along(Z, time, result.bandwidth)
    place = result.places[7]
    weight = np.exp(-(((time - place) / result.bandwidth) ** 2) / 2)
    for j, group in enumerate(selector.groups_):
        central = selector.centrality_[group]
        score = (Z[:, group] * selector.group_signs_[group]) @ central / central.sum()
        assert result.mean.value[j, 7] == pytest.approx(np.average(score, weights=weight))
        r = np.cov(flat[:, group].T, aweights=weight)
        r /= np.sqrt(np.outer(np.diag(r), np.diag(r)))
        r *= np.outer(selector.group_signs_[group], selector.group_signs_[group])
        assert result.cohesion.value[j, 7] == pytest.approx(r[np.triu_indices(SIZE, 1)].mean())


def test_every_place_rests_on_enough_samples(table):
    for values in (table[1], table[1] ** 3, np.round(table[1]), table[1][:50]):
        places = choose_places(values)
        bandwidth = choose_bandwidth(values, places)
        enough = min(30, len(values) / 3)
        assert effective_samples(kernel_weights(values, places, bandwidth)).min() >= enough


def test_where_samples_are_many_the_bandwidth_is_silverman_s(rng):
    values = rng.standard_normal(5000)
    quarters = np.quantile(values, [0.25, 0.75])
    rule = 0.9 * min(values.std(ddof=1), np.diff(quarters).item() / 1.34) * 5000**-0.2
    assert choose_bandwidth(values, choose_places(values)) == pytest.approx(rule)


def test_a_rise_of_the_level_alone_is_no_change_of_cohesion():
    p_values = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        time = rng.uniform(0, 10, 150)
        X = planted(np.full((150, 2), 0.5), rng) + 0.5 * time[:, None]
        quick = {"n_permutations": 99, "n_bootstrap": 2}
        p_values.extend(curves(known(X), X, time, **quick).cohesion_change.p_values)
    assert np.mean(np.array(p_values) <= 0.05) <= 0.15  # 24 tests: above 3 once in 30 times
    assert np.median(p_values) > 0.2


def test_donors_sampled_once_exchange_their_times_as_a_whole(rng):
    blocks = np.repeat(np.arange(15), 10)
    levels = rng.standard_normal(15)
    X = planted(np.full((150, 2), 0.5), rng) + levels[blocks, None]
    selector = known(X)
    given = curves(selector, X, blocks / 3.0, blocks=blocks, **QUICK)
    assert given.blocks == "whole"
    ignored = curves(selector, X, blocks / 3.0, **QUICK)
    assert (given.mean_change.p_values > 0.03).all() and (ignored.mean_change.p_values < 0.03).all()


def test_frame_has_a_row_per_group_and_place(result):
    frame = result.to_frame()
    assert len(frame) == 3 * 25 and frame["value"].nunique() == 25
    assert frame["mean_low"].to_numpy().tolist() == result.mean.low.ravel().tolist()
    assert result.changes_frame()["mean_changes"].sum() == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["early", "late"] * 150, "values are no numbers .* use groupfs.conditions.compare"),
        ([np.inf] + [1.0] * 299, "values hold infinite numbers"),
        ([0.0] * 299 + [1.0], "of the values are 0, so there is no course to follow"),
        ([1.0, 2.0] * 8 + [None] * 284, "16 samples have a number, and curves need 20"),
    ],
)
@pytest.mark.filterwarnings("ignore:284 of 300")
def test_values_without_a_course_are_refused(selector, table, values, message):
    with pytest.raises(ValueError, match=message):
        curves(selector, table[0], values)
