"""What holds for every baseline: a full ranking, a selection, the errors of GroupFS."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from groupfs import baselines
from groupfs.datasets import load_two_moons

# selectors of the autoencoder cannot decide in the few epochs they get here
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

#: every baseline, set to finish quickly
ALL = [
    baselines.AllFeatures(),
    baselines.ColumnSubsetSelector(),
    baselines.CompFS(max_epochs=5, random_state=0),
    baselines.ConcreteAutoencoderSelector(max_epochs=5, random_state=0),
    baselines.DUFS(random_state=0, max_epochs=60),
    baselines.LaplacianScore(),
    baselines.MCFS(),
    baselines.MGAGR(n_groups=1),  # more would be blocks in the order of the columns
    baselines.RandomSelector(random_state=0),
    baselines.VarianceSelector(),
]
RANKING = [b for b in ALL if not isinstance(b, baselines.AllFeatures)]
SEEDED = [b for b in ALL if "random_state" in b.get_params()]
VERBOSE = [b for b in ALL if "verbose" in b.get_params()]


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(80, random_state=0)


def fitted(baseline, X, y, **parameters):
    return clone(baseline).set_params(**parameters).fit(X, y)


def test_every_public_baseline_is_tested_here():
    public = {name for name in baselines.__all__ if name[0].isupper()}
    assert {type(b).__name__ for b in ALL} == public


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(ALL)
def test_sklearn_compatible_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("baseline", RANKING, ids=str)
def test_ranking_orders_all_features_by_score_and_selects_the_best(baseline, moons):
    selector = fitted(baseline, moons.data, moons.target, n_features_to_select=7)
    assert sorted(selector.ranking_) == list(range(1, 21))
    assert np.isfinite(selector.scores_).all()
    assert (np.diff(selector.scores_[np.argsort(selector.ranking_)]) <= 0).all()
    np.testing.assert_array_equal(selector.get_support(), selector.ranking_ <= 7)
    assert selector.transform(moons.data).shape == (80, 7)


@pytest.mark.parametrize("baseline", RANKING, ids=str)
def test_constant_columns_come_last_with_a_warning(baseline, moons):
    X = moons.data.copy()
    X[:, 3] = 5.0
    with pytest.warns(UserWarning, match="1 constant column .* was ranked last: x3"):
        selector = fitted(baseline, X, moons.target, n_features_to_select=7)
    assert selector.ranking_[3] == 20 and selector.scores_[3] == -np.inf
    assert not selector.get_support()[3]


@pytest.mark.parametrize("baseline", RANKING, ids=str)
def test_a_budget_above_the_number_of_features_is_refused(baseline, moons):
    with pytest.raises(ValueError, match="n_features_to_select=21 but X has 20 features"):
        fitted(baseline, moons.data, moons.target, n_features_to_select=21)


@pytest.mark.parametrize("baseline", ALL, ids=str)
def test_missing_values_are_named(baseline, moons):
    frame = pd.DataFrame(moons.data.copy(), columns=[f"gene{i}" for i in range(20)])
    frame.loc[3, "gene2"] = np.nan
    with pytest.raises(ValueError, match=r"NaN in 1 column \(gene2\)"):
        fitted(baseline, frame, moons.target)


@pytest.mark.parametrize("baseline", ALL, ids=str)
def test_sparse_and_dense_tables_are_ranked_alike(baseline, moons):
    X = np.where(np.abs(moons.data) < 0.3, 0, moons.data)
    dense = fitted(baseline, X, moons.target)
    sparse = fitted(baseline, sp.csr_array(X), moons.target)
    np.testing.assert_array_equal(dense.get_support(), sparse.get_support())
    np.testing.assert_allclose(dense.scores_, sparse.scores_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("baseline", RANKING, ids=str)
def test_the_order_of_the_columns_does_not_matter(baseline, moons, rng):
    order = rng.permutation(20)
    one = fitted(baseline, moons.data, moons.target)
    other = fitted(baseline, moons.data[:, order], moons.target)
    np.testing.assert_array_equal(one.ranking_[order], other.ranking_)


@pytest.mark.parametrize("baseline", SEEDED, ids=str)
def test_another_seed_gives_other_scores(baseline, moons):
    one, other = (fitted(baseline, moons.data, moons.target, random_state=s) for s in (0, 1))
    assert (one.scores_ != other.scores_).any()


@pytest.mark.parametrize("baseline", VERBOSE, ids=str)
def test_progress_is_shown_on_request_only(baseline, moons, capsys):
    fitted(baseline, moons.data, moons.target)
    assert capsys.readouterr().err == ""
    fitted(baseline, moons.data, moons.target, verbose=1)
    assert re.search(r"\| [1-9]\d*/\d+ ", capsys.readouterr().err)


@pytest.mark.filterwarnings("ignore:.*constant column")
@pytest.mark.parametrize("n_varying", [0, 1, 2])
def test_all_features_keeps_constant_ones_too(n_varying, moons):
    X = np.ones((80, 3))
    X[:, :n_varying] = moons.data[:, :n_varying]
    selector = baselines.AllFeatures().fit(X)
    assert selector.get_support().all() and sorted(selector.ranking_) == [1, 2, 3]


def test_variance_is_that_of_the_columns_as_they_came(moons):
    X = moons.data * np.arange(1, 21)
    selector = baselines.VarianceSelector().fit(X)
    np.testing.assert_allclose(selector.scores_, X.var(axis=0))
    assert selector.get_support().sum() == 10  # without a budget half of the features
