"""Bad tables are refused in one sentence; good ones of every kind are taken as they are."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import torch

from groupfs import GroupFS
from groupfs.baselines import VarianceSelector
from groupfs.data.standardize import validate_table
from groupfs.datasets import load_two_moons

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
    message = refusal(frame)
    assert "NaN in 2 columns (gene2, gene7)" in message and "SimpleImputer" in message
    sparse = sp.csr_array(np.where(np.isnan(frame.to_numpy()), np.nan, 0))
    assert "NaN in 2 columns (x2, x7)" in refusal(sparse)


def test_infinite_values_are_named(X):
    X = X.copy()
    X[1, 4] = -np.inf
    assert "infinity (inf) in 1 column (x4)" in refusal(X)


@pytest.mark.parametrize("library", [pd, pl])
def test_text_columns_are_named(X, library):
    frame = library.DataFrame({"age": X[:, 0], "sex": ["f", "m"] * 30, "weight": X[:, 1]})
    message = refusal(frame)
    assert "1 column(s) that are not numbers: sex" in message and "OrdinalEncoder" in message


def test_text_in_arrays_is_refused(X):
    table = X.astype(object)
    table[0, 0] = "high"
    message = refusal(table)
    assert "text" in message and "high" in message and "OrdinalEncoder" in message


@pytest.mark.parametrize("n_samples", [0, 1])
def test_too_few_samples(X, n_samples):
    assert f"{n_samples} sample" in refusal(X[:n_samples])


def test_one_feature(X):
    assert "1 feature" in refusal(X[:, :1])


def test_one_dimensional(X):
    assert "1D" in refusal(X[:, 0])


def test_constant_tables():
    assert "all 5 columns of X are constant" in refusal(np.ones((20, 5)))
    table = np.ones((20, 3))
    table[:, 1] = np.arange(20)
    assert "only one column of X varies (x1)" in refusal(table)


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


def test_budget_beyond_the_table(X):
    assert "n_features_to_select=15 but X has 14" in refusal(X, n_features_to_select=15)


def test_temperatures_that_would_rise(X):
    assert "end_temperature=5 is above" in refusal(X, end_temperature=5)


def test_numbers_in_odd_columns_are_numbers(X):
    frame = pd.DataFrame(X, columns=["a"] + [f"f{i}" for i in range(13)])
    frame["a"] = frame["a"].astype(object)
    frame["f1"] = (frame["f1"] > 0).astype(int).astype("category")
    frame["f2"] = frame["f2"].round().astype("Int64")
    GroupFS(**QUICK).fit(frame)
    frame["f3"] = pd.date_range("2020-01-01", periods=len(X))
    assert "f3 (datetime64" in refusal(frame)


def test_unknown_and_absent_devices(X, monkeypatch):
    assert "device='gpu' is not known" in refusal(X, device="gpu")
    assert "device='meta' is not supported" in refusal(X, device="meta")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    message = refusal(X, device="cuda")
    assert "device='cuda' was asked for" in message and 'device="cpu"' in message
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert "device='mps' was asked for" in refusal(X, device="mps")


def test_overflow_is_refused(X):
    huge = X.copy()
    huge[:, 3] *= 1e200
    message = refusal(huge)
    assert "overflow" in message and "x3" in message and "rescale" in message


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


def test_sparse_tables_with_repeated_entries_are_summed(X):
    table = sp.csr_matrix(np.where(X > 0.5, X, 0))
    doubled = sp.csr_matrix(
        (np.repeat(table.data, 2) / 2, np.repeat(table.indices, 2), table.indptr * 2), X.shape
    )
    single, twice = GroupFS(**QUICK).fit(table), GroupFS(**QUICK).fit(doubled)
    np.testing.assert_array_equal(single.group_labels_, twice.group_labels_)
    assert doubled.nnz == 2 * table.nnz  # the user's matrix is as it was


def test_fewer_samples_than_neighbours_reduces_and_warns(X):
    with pytest.warns(UserWarning, match="n_neighbors=7 but a batch has 6 samples.*uses 5"):
        GroupFS(**QUICK).fit(X[:6])
    with pytest.warns(UserWarning, match="uses 3 neighbours"):
        GroupFS(**QUICK, batch_size=4).fit(X)


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


def as_read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def with_odd_index(X):
    return pd.DataFrame(X, index=np.arange(len(X)) * -3.5)


KINDS = {
    "list": lambda X: X.tolist(),
    "fortran": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "read-only": as_read_only,
    "frame": with_odd_index,
    "polars": lambda X: pl.DataFrame(X, schema=[f"c{i}" for i in range(X.shape[1])]),
    "tensor": torch.from_numpy,
    "csr matrix": sp.csr_matrix,
    "csc array": sp.csc_array,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_groups(X, kind):
    expected = GroupFS(**QUICK).fit(X)
    table = KINDS[kind](X)
    selector = GroupFS(**QUICK).fit(table)
    np.testing.assert_array_equal(selector.get_support(), expected.get_support())
    assert sorted(map(tuple, selector.groups_)) == sorted(map(tuple, expected.groups_))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, bool])
def test_whole_numbers_and_booleans_are_accepted(X, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        selector = GroupFS(**QUICK).fit((X > 0).astype(dtype))
    assert sum(map(len, selector.groups_)) == 14
    assert np.isfinite(selector.group_scores_).all()


def test_sparse_tables_are_not_filled_in(monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 30), density=0.2, rng=rng, format="csr")
    whole = X.shape[0] * X.shape[1]
    filled = []
    original = sp.csr_array.toarray

    def recorded(self, *arguments, **keywords):
        filled.append(self.shape)
        return original(self, *arguments, **keywords)

    monkeypatch.setattr(sp.csr_array, "toarray", recorded)
    selector = GroupFS(**{**QUICK, "batch_size": 20})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        selector.fit(X)
    samples_filled = [shape for shape in filled if shape[1] == 30 and shape[0] not in (30,)]
    assert samples_filled and max(np.prod(s) for s in samples_filled) <= whole
    assert sp.issparse(selector.transform(X))


def test_the_table_itself_is_left_alone(X):
    before = X.copy()
    GroupFS(**QUICK).fit(X)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("value", [0.1, 3.3])
def test_constant_columns_of_long_tables_are_recognised(form, value):
    X = np.column_stack([np.random.default_rng(0).normal(size=(50_000, 2)), np.full(50_000, value)])
    with pytest.warns(UserWarning, match="1 constant column carries no information and was .* x2"):
        table = validate_table(VarianceSelector(), form(X), True)
    assert sorted(table.columns) == [0, 1]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_resampled_rows_do_not_depend_on_the_unit(form, X):
    index = np.arange(0, 60, 2)
    for standardize in (True, False):
        tables = [validate_table(GroupFS(), form(X * unit), standardize) for unit in (1, 1e-30)]
        parts = [table.rows.resampled(index, standardize) for table in tables]
        for part in parts:
            part.to(torch.device("cpu"), torch.float64)
        rows = [part.take(torch.arange(30)) for part in parts]
        torch.testing.assert_close(*rows)
        spread = rows[0].std(0, correction=0)
        assert torch.allclose(spread, torch.ones_like(spread)) == standardize
