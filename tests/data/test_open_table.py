"""Bad tables are refused in one sentence; good ones of every kind are taken as they are."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import torch

from groupfs import FeatureGroups
from groupfs.baselines import LaplacianScore
from groupfs.data.open_table import read_rows
from groupfs.datasets import load_two_moons
from tests.support.sliced import Sliced


@pytest.fixture(scope="module")
def X():
    return load_two_moons(60, 14, random_state=0).data


def refusal(X, **parameters):
    with pytest.raises((ValueError, TypeError)) as caught:
        FeatureGroups(random_state=0, **parameters).fit(X)
    return str(caught.value)


def test_missing_values_are_named(X):
    frame = pd.DataFrame(X.copy(), columns=[f"gene{i}" for i in range(14)])
    frame.loc[3, "gene2"] = frame.loc[0, "gene7"] = np.nan
    with pytest.raises(ValueError, match=r"NaN in 2 columns \(gene2, gene7\).*SimpleImputer"):
        LaplacianScore().fit(frame)
    sparse = sp.csr_array(np.where(np.isnan(frame.to_numpy()), np.nan, 0))
    assert "NaN in 2 columns (x2, x7)" in refusal(sparse)
    X = X.copy()
    X[1, [4, 6]] = -np.inf, np.nan
    with pytest.raises(ValueError, match=r"inf\) in 1 column \(x4\) and NaN in 1 column \(x6\)"):
        LaplacianScore().fit(X)
    assert "infinity (inf) in 1 column (x4)" in refusal(torch.from_numpy(X))


@pytest.mark.parametrize("library", [pd, pl])
def test_dates_are_to_become_numbers_or_to_be_left_out(X, library):
    days = pd.date_range("2020-01-01", periods=60).to_pydatetime().tolist()
    frame = library.DataFrame({"age": X[:, 0], "seen": days, "weight": X[:, 1]})
    for estimator in (LaplacianScore(), FeatureGroups()):
        with pytest.raises(ValueError, match="1 column of dates.*seen.*days since a dat") as error:
            estimator.fit(frame)
        assert "leave it out, X.drop(columns=['seen'])" in str(error.value)


@pytest.mark.parametrize("more", [{}, {"words": 30 * ["x", "y", "z"]}])
def test_repeated_names_are_refused(more):
    frame = pd.DataFrame(np.eye(90, 3), columns=list("aab")).assign(**more)
    assert refusal(frame) == "X has names of columns more than once: a (2 times); rename these."


def told_of_rows(X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        FeatureGroups(random_state=0).fit(X)
    return [str(w.message) for w in caught if "different ones" in str(w.message)]


@pytest.mark.parametrize("given", [np.asarray, lambda X: pd.DataFrame(X > 0.5).astype(str)])
def test_rows_that_are_all_there_several_times_are_told(given):
    noise = np.random.default_rng(0).standard_normal((100, 40))
    (told,) = told_of_rows(given(np.repeat(noise, 5, axis=0)))
    assert told.startswith("X has 500 rows, but only 100 different ones")
    assert not told_of_rows(given(noise))


def test_rows_that_meet_by_chance_are_not_told():
    rng = np.random.default_rng(0)
    assert not told_of_rows(rng.integers(0, 2, (500, 5)))  # five answers of yes or no
    checklist = rng.integers(0, 2, (500, 60)) * (rng.random((500, 1)) < 0.4)
    assert not told_of_rows(checklist)  # most tick nothing
    regions = np.eye(8)[rng.integers(0, 8, 500)]
    assert not told_of_rows(np.hstack([regions, np.eye(5)[rng.integers(0, 5, 500)]]))


def test_text_in_arrays_is_refused(X):
    table = X.astype(object)
    table[0, 0] = "high"
    message = refusal(table)
    assert "text" in message and "high" in message and "OrdinalEncoder" in message
    message = refusal(X.astype(str))
    assert "X holds text" in message and "OrdinalEncoder" in message


@pytest.mark.parametrize(
    ("shaped", "words"),
    [
        (lambda X: X[:0], "0 sample"),
        (lambda X: X[:1], "1 sample"),
        (lambda X: X[:, :1], "1 feature"),
        (lambda X: X[:, 0], "1D"),
        (lambda X: X * [1e200, *13 * [1]], "overflow when squared, as distances need (columns x0)"),
        (lambda X: np.ones((20, 5)), "all 5 columns of X are constant"),
        (lambda X: np.column_stack([np.ones(60), X[:, 0]]), "only one column of X varies (x1)"),
    ],
)
def test_tables_that_leave_nothing_to_choose_from_are_refused(X, shaped, words):
    assert words in refusal(shaped(X))


@pytest.mark.parametrize(("device", "words"), [("gpu", "is not known"), ("cuda", "was asked")])
def test_unknown_and_absent_devices(X, monkeypatch, device, words):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert f"device='{device}' {words}" in refusal(X, device=device)


def test_constant_columns_are_named_and_never_selected(X):
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(14)])
    frame["f3"], frame["f12"] = 7.5, 1e9
    with pytest.warns(UserWarning, match=r"2 constant columns .* left out .*: f3, f12\."):
        selector = FeatureGroups(random_state=0, n_features_to_select=12).fit(frame)
    assert selector.group_labels_[[3, 12]].tolist() == [-1, -1]
    assert not selector.get_support()[[3, 12]].any()
    assert selector.get_support().sum() == 12


def test_too_little_memory_is_refused_with_the_estimate(X, monkeypatch):
    with pytest.raises(ValueError, match="needs about .* set max_memory to"):
        FeatureGroups(max_memory="1MB").fit(X)
    monkeypatch.setattr("groupfs.data.memory.free_memory", lambda: 10**4)
    LaplacianScore().fit(X)  # is in memory already
    with pytest.raises(ValueError, match="LaplacianScore needs the whole table in memory, 60 x 14"):
        LaplacianScore().fit(Sliced(X))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, Sliced, pd.DataFrame])
def test_a_fitted_selector_reads_rows_in_the_users_order_and_learns_nothing(X, kind):
    selector = FeatureGroups(random_state=0).fit(X)
    X = np.column_stack([X[:, :13], np.ones(60)])
    before = dict(vars(selector))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # fit has warned of constant columns
        Z, table, index = read_rows(selector, kind(X), 10)
    assert table.rows.shape[0] == 60 and len(index) == 10
    expected = (X[:, :13] - X[:, :13].mean(0)) / X[:, :13].std(0)
    np.testing.assert_allclose(Z[:, :13], expected[index], atol=1e-12)
    assert not Z[:, 13].any()
    assert vars(selector) == before
    with pytest.raises(ValueError, match="X has 13 features, but .* fitted on 14"):
        read_rows(selector, kind(X[:, 1:]), 10)
