"""Whatever the table: numbers or a sentence, never a changed input, and the same again.

``HYPOTHESIS_PROFILE=long`` draws thousands of new tables; otherwise it is a few, always the same.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone

from groupfs import GroupFS, GroupFSPath
from groupfs.baselines import MGAGR, VarianceSelector
from groupfs.data.open_table import open_table
from tests.support.any_table import (
    ANY,
    BASELINES,
    BOTH,
    FULL_DIGITS,
    GROUP_SETTINGS,
    SHORT,
    check_groups,
    check_ranking,
    examples,
    fitted,
)
from tests.support.strategies import (
    DTYPES,
    FORMS,
    SEEDS,
    SPARSE_FORMS,
    TORCH_DTYPES,
    build,
    recipes,
    tensor,
)


@pytest.mark.slow
@given(recipes(), GROUP_SETTINGS)
@examples(40)
def test_any_table_gives_groups_that_are_numbers_or_a_sentence(recipe, given_settings):
    X = build(recipe)
    assume(len(X) / given_settings.get("batch_size", len(X)) < 20)
    selector = fitted(GroupFS(**SHORT, **given_settings), X)
    if selector is not None:
        check_groups(selector, X)


@given(recipes(), st.fixed_dictionaries({}, optional={"standardize": BOTH}), st.integers(0, 2))
@examples(8)
def test_any_table_gives_a_path_of_numbers_or_a_sentence(recipe, given_settings, n_resamples):
    X = build(recipe)
    path = GroupFSPath(**SHORT, **given_settings, sparsities=[0.5, 1], n_resamples=n_resamples)
    if fitted(path, X) is not None:
        check_groups(path, X)


@pytest.mark.slow
@pytest.mark.parametrize("name", BASELINES)
@given(recipes(), st.data())
@examples(12)
def test_any_table_gives_a_ranking_by_numbers_or_a_sentence(name, recipe, data):
    X = build(recipe)
    selector = fitted(data.draw(BASELINES[name]), X)
    if selector is not None:
        check_ranking(selector, X)


PLAIN = ("normal", "groups", "clusters", "cauchy", "lognormal")
SCALED = recipes(contents=PLAIN, twists=("outlier", "nearly copy", "constant but one", "offset"))


def results(selector):
    """What a fit is for, by feature: features of a group share its numbers."""
    if hasattr(selector, "scores_"):
        return {"scores": selector.scores_}
    labels = selector.group_labels_
    padded = {
        "scores": np.append(selector.group_scores_, 0),
        "gates": np.append(selector.group_gates_, 0),
    }
    by_feature = {name: values[labels] for name, values in padded.items()}
    return {**by_feature, "support": selector.get_support(), "together": labels[:, None] == labels}


def assert_same(one, other, order=None):
    """Two fits found the same; ``order`` are the first one's columns in the second one's order."""
    assert (one is None) == (other is None)
    if one is None:
        return
    for name, values in results(one).items():
        if order is not None:
            values = values[order][:, order] if name == "together" else values[order]
        np.testing.assert_array_equal(results(other)[name], values, err_msg=name)


@pytest.mark.slow
@given(recipes(), ANY)
@examples(15)
def test_the_same_seed_gives_the_same_result(recipe, estimator):
    X = build(recipe)
    assert_same(fitted(clone(estimator), X), fitted(clone(estimator), X))


@given(SCALED, ANY.filter(lambda e: not isinstance(e, MGAGR)), SEEDS)
@examples(10)
def test_the_order_of_the_columns_does_not_matter(recipe, estimator, seed):
    X = build(recipe)
    assume(not has_twins(X))
    order = np.random.default_rng(seed).permutation(X.shape[1])
    one, other = fitted(clone(estimator), X), fitted(clone(estimator), X[:, order])
    assert_same(one, other, order)


def has_twins(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = open_table(GroupFS(), X, True)
        except ValueError:
            return False
    return table.n_distinct < len(table.columns)


@pytest.mark.slow
@given(SCALED, ANY, SEEDS, st.sampled_from([np.asarray, sp.csr_array]))
@examples(15)
def test_powers_of_two_as_units_of_columns_do_not_matter(recipe, estimator, seed, form):
    assume(not isinstance(estimator, VarianceSelector))
    X = build(recipe)
    if "standardize" in estimator.get_params():
        estimator.set_params(standardize=True)
    units = 2.0 ** np.random.default_rng(seed).integers(-90, 90, X.shape[1])
    assert_same(fitted(clone(estimator), form(X)), fitted(clone(estimator), form(X * units)))


COUNTS = recipes(
    contents=("binary", "counts"), twists=("copy columns", "repeat rows"), most_twists=2
)


@pytest.mark.slow
@given(COUNTS, ANY, st.sampled_from(DTYPES), st.sampled_from([*FORMS, "tensor"]))
@examples(25)
def test_kind_and_layout_of_equal_numbers_do_not_matter(recipe, estimator, dtype, form):
    X = build(recipe)
    if dtype == "bool":
        X = (X.mean() <= X).astype(float)
    assume(form != "tensor" or dtype in TORCH_DTYPES)
    table = (tensor if form == "tensor" else FORMS[form])(X.astype(dtype))
    assert_same(fitted(clone(estimator), X), fitted(clone(estimator), table))


@pytest.mark.slow
@given(COUNTS, ANY, st.sampled_from([*SPARSE_FORMS]))
@examples(25)
def test_sparse_formats_of_equal_numbers_do_not_matter(recipe, estimator, form):
    X = build(recipe)
    if form == "bool":
        X = (X > 0).astype(float)
    table = SPARSE_FORMS[form](X)
    assert_same(fitted(clone(estimator), sp.csr_array(X)), fitted(clone(estimator), table))


@given(recipes(), BOTH, SEEDS)
@examples(60)
def test_rows_of_a_sparse_table_are_those_of_the_dense_one(recipe, standardize, seed):
    X = build(recipe)
    X[:, np.abs(X).max(0) < FULL_DIGITS] = 0
    tables = []
    for form in (np.asarray, sp.csr_array):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            try:
                tables.append(open_table(GroupFS(), form(X), standardize))
            except ValueError as error:
                tables.append(str(error))
    if isinstance(tables[0], str) or isinstance(tables[1], str):
        assert tables[0] == tables[1]
        return
    # the mean of a column far from zero is known to its last digit, and rows less than that
    far = np.abs(X.mean(0)[tables[0].columns]) / tables[0].deviations[tables[0].columns]
    close = 1e-6 + 10 * np.finfo(float).eps * np.sqrt(len(far)) * far.max()
    dense, sparse = (numbers_of(table, seed) for table in tables)
    for name, values in dense.items():
        scale = np.abs(values).max(initial=1)
        np.testing.assert_allclose(sparse[name], values, atol=close * scale, err_msg=name)


def numbers_of(table, seed):
    """All that is asked of rows, in the user's order of the columns."""
    rows, place = table.rows, np.argsort(table.columns)
    N, d = rows.shape
    rows.to(torch.device("cpu"), torch.float64)
    rng = np.random.default_rng(seed)
    weights, vectors = rng.standard_normal((d, 2)), rng.standard_normal((N, 2))
    return {
        "columns": np.sort(table.columns),
        "deviations": table.deviations / table.deviations.max(),
        "take": rows.take(torch.arange(N)).numpy()[:, place],
        "get": rows.columns(0, d)[:, place],
        "norms": rows.column_norms[place],
        "project": rows.project(vectors)[place],
        "combine": rows.combine(weights[np.argsort(place)]),
        "row products": rows.row_products(0, N).numpy(),
        "column products": rows.column_products(0, d).numpy()[place][:, place],
    }


@pytest.mark.slow
@given(SCALED, SEEDS, GROUP_SETTINGS)
@examples(15)
def test_columns_equal_but_for_unit_and_zero_share_a_group(recipe, seed, given_settings):
    X = build(recipe)
    rng = np.random.default_rng(seed)
    copies = rng.integers(X.shape[1], size=3)
    X = np.column_stack([X, X[:, copies] * 2.0 ** rng.integers(-30, 30, 3)])
    plan = {**given_settings, **SHORT, "standardize": True, "batch_size": None}
    selector = fitted(GroupFS(**plan), X)
    if selector is not None:
        labels = selector.group_labels_
        np.testing.assert_array_equal(labels[-3:], labels[copies])
