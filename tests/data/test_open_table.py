"""Bad tables are refused in one sentence; good ones of every kind are taken as they are."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import torch

from groupfs import GroupFS
from groupfs.baselines import LaplacianScore
from groupfs.data.open_table import read_matrix, read_rows
from groupfs.datasets import load_two_moons
from tests.support.sliced import Sliced

QUICK = {"random_state": 0, "n_init": 1, "max_epochs": 30}


@pytest.fixture(scope="module")
def X():
    return load_two_moons(60, 14, random_state=0).data


def refusal(X, **parameters):
    with pytest.raises((ValueError, TypeError)) as caught:
        GroupFS(**{**QUICK, **parameters}).fit(X)
    return str(caught.value)


def test_missing_values_are_named(X):
    frame = pd.DataFrame(X.copy(), columns=[f"gene{i}" for i in range(14)])
    frame.loc[3, "gene2"] = frame.loc[0, "gene7"] = np.nan
    with pytest.raises(ValueError, match=r"NaN in 2 columns \(gene2, gene7\).*SimpleImputer"):
        LaplacianScore().fit(frame)
    sparse = sp.csr_array(np.where(np.isnan(frame.to_numpy()), np.nan, 0))
    assert "NaN in 2 columns (x2, x7)" in refusal(sparse)
    X = X.copy()
    X[1, 4] = -np.inf
    assert "infinity (inf) in 1 column (x4)" in refusal(torch.from_numpy(X))
    with pytest.raises(ValueError, match=r"X contains infinity \(inf\) in 1 column \(x4\)"):
        LaplacianScore().fit(X)
    X[1, 6] = np.nan
    with pytest.raises(ValueError, match=r"inf\) in 1 column \(x4\) and NaN in 1 column \(x6\)"):
        LaplacianScore().fit(X)
    assert "infinity (inf) in 1 column (x4)" in refusal(X)


@pytest.mark.parametrize("library", [pd, pl])
def test_text_columns_are_named(X, library):
    frame = library.DataFrame({"age": X[:, 0], "sex": ["f", "m"] * 30, "weight": X[:, 1]})
    with pytest.raises(ValueError, match="1 column of text: sex.*OrdinalEncoder"):
        LaplacianScore().fit(frame)


@pytest.mark.parametrize("library", [pd, pl])
def test_dates_are_to_become_numbers_or_to_be_left_out(X, library):
    days = pd.date_range("2020-01-01", periods=60).to_pydatetime().tolist()
    frame = library.DataFrame({"age": X[:, 0], "seen": days, "weight": X[:, 1]})
    with pytest.raises(ValueError, match="1 column of dates.*seen.*days since the first") as error:
        LaplacianScore().fit(frame)
    assert "leave it out: X.drop(columns=['seen'])" in str(error.value)


def test_text_in_arrays_is_refused(X):
    table = X.astype(object)
    table[0, 0] = "high"
    message = refusal(table)
    assert "text" in message and "high" in message and "OrdinalEncoder" in message


@pytest.mark.parametrize(
    ("shaped", "words"),
    [
        (lambda X: X[:0], "0 sample"),
        (lambda X: X[:1], "1 sample"),
        (lambda X: X[:, :1], "1 feature"),
        (lambda X: X[:, 0], "1D"),
        (lambda X: np.ones((20, 5)), "all 5 columns of X are constant"),
        (lambda X: np.column_stack([np.ones(60), X[:, 0]]), "only one column of X varies (x1)"),
    ],
)
def test_tables_too_small_to_choose_from_are_refused(X, shaped, words):
    assert words in refusal(shaped(X))


def test_overflow_is_refused(X):
    message = refusal(X * np.where(np.arange(14) == 3, 1e200, 1))
    assert "overflow" in message and "x3" in message and "rescale" in message


@pytest.mark.parametrize("n_groups", [14, 30, 1, 0, -3])
def test_impossible_numbers_of_groups(X, n_groups):
    message = refusal(X, n_groups=n_groups)
    assert f"n_groups={n_groups} but X has 14 features" in message
    assert '2 <= n_groups <= 13 or "auto"' in message


@pytest.mark.parametrize(
    "wrong",
    [
        {"sparsity": 0},
        {"sparsity": -1.0},
        {"preset": "papper"},
        {"ranking": "best"},
        {"allocation": "even"},
        {"n_init": 0},
        {"n_groups": "many"},
        {"gate_noise": 0.01},
        {"smoothness_weight": 1e-45},
        {"alpha": 1.5},
        {"n_features_to_select": 0},
        {"batch_size": 1},
        {"device": 3},
    ],
)
def test_impossible_parameters_name_value_and_remedy(X, wrong):
    name, value = next(iter(wrong.items()))
    message = refusal(X, **wrong)
    assert f"'{name}' parameter of GroupFS must be" in message and repr(value) in message


@pytest.mark.slow
def test_parameters_beyond_the_table(X):
    assert "n_features_to_select=15 but X has 14" in refusal(X, n_features_to_select=15)
    assert "end_temperature=5 is above" in refusal(X, end_temperature=5)
    with pytest.warns(UserWarning, match="n_neighbors=7 but a batch has 6 samples.*uses 5"):
        GroupFS(**QUICK).fit(X[:6])
    with pytest.warns(UserWarning, match="uses 3 neighbours"):
        GroupFS(**QUICK, batch_size=4).fit(X)


def test_numbers_in_odd_columns_are_numbers(X):
    frame = pd.DataFrame(X, columns=["a"] + [f"f{i}" for i in range(13)])
    frame["a"] = frame["a"].astype(object)
    frame["f1"] = (frame["f1"] > 0).astype(int).astype("category")
    frame["f2"] = frame["f2"].round().astype("Int64")
    GroupFS(**QUICK).fit(frame)
    with pytest.raises(ValueError, match=r"f3 \(datetime64"):
        LaplacianScore().fit(frame.assign(f3=pd.date_range("2020-01-01", periods=len(X))))


def test_a_device_is_a_name_or_one_of_torch(X):
    GroupFS(**{**QUICK, "device": torch.device("cpu")}).fit(X)
    assert "an instance of 'str' or an instance of 'torch.device'. Got 3" in refusal(X, device=3)


def test_unknown_and_absent_devices(X, monkeypatch):
    assert "device='gpu' is not known" in refusal(X, device="gpu")
    assert "device='meta' is not supported" in refusal(X, device="meta")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    message = refusal(X, device="cuda")
    assert "device='cuda' was asked for" in message and 'device="cpu"' in message
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert "device='mps' was asked for" in refusal(X, device="mps")


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "offset"), [(1, 1e4), (1e20, 0), (1e-8, 0), (1e-5, 1e-2)])
def test_without_standardising_the_unit_of_the_table_does_not_matter(X, scale, offset):
    plain = GroupFS(**QUICK, standardize=False).fit(X)
    other = GroupFS(**QUICK, standardize=False).fit(X * scale + offset)
    np.testing.assert_array_equal(other.get_support(), plain.get_support())
    np.testing.assert_allclose(other.centrality_, plain.centrality_, atol=1e-4)


def test_sparse_tables_with_large_means_keep_their_digits(X):
    raised = 1e6 + 1e-3 * X
    dense, sparse = (GroupFS(**QUICK).fit(kind(raised)) for kind in (np.array, sp.csr_array))
    assert np.isfinite(sparse.centrality_).all()
    np.testing.assert_allclose(sparse.centrality_, dense.centrality_, atol=1e-4)


def test_constant_columns_are_named_and_never_selected(X):
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(14)])
    frame["f3"], frame["f12"] = 7.5, 1e9
    with pytest.warns(UserWarning, match=r"2 constant columns .* left out .*: f3, f12\."):
        selector = GroupFS(**QUICK, n_features_to_select=12).fit(frame)
    assert selector.group_labels_[[3, 12]].tolist() == [-1, -1]
    assert not selector.get_support()[[3, 12]].any()
    assert selector.get_support().sum() == 12
    assert (selector.membership_[[3, 12]] == 0).all()
    assert (selector.feature_scores_[[3, 12]] == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        lambda X: pd.DataFrame(X, index=np.arange(len(X)) * -3.5),
        lambda X: pl.DataFrame(X, schema=[f"c{i}" for i in range(X.shape[1])]),
        lambda X: X.astype(np.float16),
        torch.from_numpy,
        sp.csr_matrix,
        Sliced,
    ],
)
def test_every_kind_of_table_gives_the_same_groups(X, kind):
    before = X.copy()
    expected, selector = GroupFS(**QUICK).fit(X), GroupFS(**QUICK).fit(kind(X))
    np.testing.assert_array_equal(selector.get_support(), expected.get_support())
    assert sorted(map(tuple, selector.groups_)) == sorted(map(tuple, expected.groups_))
    np.testing.assert_array_equal(X, before)


def test_too_little_memory_is_refused_with_the_estimate(X, monkeypatch):
    with pytest.raises(ValueError, match="needs about .* set max_memory to"):
        GroupFS(max_memory="1MB", **QUICK).fit(X)
    monkeypatch.setattr("groupfs.data.memory_plan.free_memory", lambda: 10**4)
    LaplacianScore().fit(X)  # is in memory already
    with pytest.raises(ValueError, match="LaplacianScore needs the whole table in memory, 60 x 14"):
        LaplacianScore().fit(Sliced(X))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, Sliced, pd.DataFrame])
def test_a_fitted_selector_reads_rows_in_the_users_order_and_learns_nothing(X, kind):
    selector = GroupFS(**QUICK).fit(X)
    X = np.column_stack([X[:, :13], np.ones(60)])
    before = dict(vars(selector))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # fit has warned of constant columns
        Z, n_samples, index = read_rows(selector, kind(X), 10)
        matrix = read_matrix(selector, kind(X))
    assert n_samples == 60 and len(index) == 10
    expected = (X[:, :13] - X[:, :13].mean(0)) / X[:, :13].std(0)
    np.testing.assert_allclose(Z[:, :13], expected[index], atol=1e-12)
    assert not Z[:, 13].any()
    np.testing.assert_array_equal(matrix.toarray() if sp.issparse(matrix) else matrix, X)
    assert vars(selector) == before
    for read in (read_matrix, lambda *args: read_rows(*args, 10)):
        with pytest.raises(ValueError, match="X has 13 features, but .* fitted on 14"):
            read(selector, kind(X[:, 1:]))
