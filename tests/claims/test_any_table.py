"""Whatever the table: numbers or a sentence, never a changed input, and the same again.

``HYPOTHESIS_PROFILE=long`` draws thousands of new tables; otherwise it is a few, always the same.
"""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone

from groupfs import FeatureGroups, GroupFS, GroupFSPath
from groupfs.baselines import MGAGR, VarianceSelector
from groupfs.data.open_table import open_table
from tests.support.any_table import (
    ANY,
    BASELINES,
    BOTH,
    GROUP_SETTINGS,
    JOINT_SETTINGS,
    SHORT,
    check,
    examples,
    fitted,
    varying,
)
from tests.support.sliced import SMALL_PLAN, open_streamed, streaming
from tests.support.strategies import DTYPES, FORMS, SEEDS, TORCH_DTYPES, build, recipes


@pytest.mark.slow
@given(recipes(), GROUP_SETTINGS)
@examples(25)
def test_any_table_gives_groups_that_are_numbers_or_a_sentence(recipe, chosen):
    check(FeatureGroups(random_state=0, **chosen), build(recipe))


@pytest.mark.slow
@given(recipes(), JOINT_SETTINGS)
@examples(20)
def test_any_table_is_learned_from_or_refused_in_a_sentence(recipe, chosen):
    X = build(recipe)
    assume(len(X) / chosen.get("batch_size", len(X)) < 20)
    check(GroupFS(**SHORT, **chosen), X)


@given(recipes(), BOTH)
@examples(8)
def test_any_table_gives_a_path_of_numbers_or_a_sentence(recipe, standardize):
    check(GroupFSPath(**SHORT, standardize=standardize, sparsities=[0.5, 1]), build(recipe))


@pytest.mark.slow
@pytest.mark.parametrize("name", BASELINES)
@given(recipes(), st.data())
@examples(12)
def test_any_table_gives_a_ranking_by_numbers_or_a_sentence(name, recipe, data):
    check(data.draw(BASELINES[name]), build(recipe))


PLAIN = ("normal", "groups", "clusters", "cauchy", "lognormal")
SCALED = recipes(contents=PLAIN, twists=("outlier", "nearly copy", "constant but one", "offset"))


def results(selector):
    """What a fit is for, by feature: features of a group share its numbers."""
    if hasattr(selector, "scores_"):
        return {"scores": selector.scores_}
    labels = selector.group_labels_
    padded = {
        "scores": np.append(selector.group_smoothness_, 0),
        "gates": np.append(getattr(selector, "group_gates_", selector.group_smoothness_), 0),
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


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(SCALED, ANY.filter(lambda e: not isinstance(e, MGAGR)), SEEDS)
@examples(10)
def test_the_order_of_the_columns_does_not_matter(recipe, estimator, seed):
    X = build(recipe)
    assume(not has_twins(X))
    order = np.random.default_rng(seed).permutation(X.shape[1])
    one, other = fitted(clone(estimator), X), fitted(clone(estimator), X[:, order])
    assert_same(one, other, order)


def has_twins(X):
    try:
        table = open_table(GroupFS(), X, True)
    except ValueError:
        return False
    return len(set(table.twins)) < len(table.columns)


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
@given(COUNTS, ANY, st.sampled_from(DTYPES), st.sampled_from(sorted(FORMS)))
@examples(25)
def test_kind_and_layout_of_equal_numbers_do_not_matter(recipe, estimator, dtype, form):
    X = build(recipe)
    if dtype == "bool":
        X = (X.mean() <= X).astype(float)
    assume(form != "tensor" or dtype in TORCH_DTYPES)
    table = FORMS[form](X.astype(dtype))
    assert_same(fitted(clone(estimator), X), fitted(clone(estimator), table))


@pytest.mark.slow
@given(SCALED, SEEDS, GROUP_SETTINGS)
@examples(15)
def test_columns_equal_but_for_unit_and_zero_share_a_group(recipe, seed, chosen):
    X = build(recipe)
    rng = np.random.default_rng(seed)
    copies = rng.integers(X.shape[1], size=3)
    X = np.column_stack([X, X[:, copies] * 2.0 ** rng.integers(-30, 30, 3)])
    selector = fitted(FeatureGroups(**{**chosen, "random_state": 0, "standardize": True}), X)
    if selector is not None:
        labels = selector.group_labels_
        np.testing.assert_array_equal(labels[-3:], labels[copies])


#: Seven rows are read at a time, of any of these.
TINY = replace(SMALL_PLAN, sample_rows=30, block_rows=7)
READ = st.sampled_from([np.asarray, sp.csr_array, sp.csc_array])


@pytest.mark.slow
@given(recipes(), GROUP_SETTINGS, READ)
@examples(25)
def test_any_streamed_table_gives_groups_that_are_numbers_or_a_sentence(recipe, chosen, form):
    # sums of products have too few digits for units that are 30 powers of ten apart
    assume(chosen.get("standardize", True) or "scale columns" not in recipe.twists)
    with streaming(TINY):
        check(FeatureGroups(random_state=0, **chosen), build(recipe), form)


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(recipes(), READ, BOTH)
@examples(25)
def test_streamed_rows_of_any_table_are_those_in_memory(recipe, form, standardize):
    X = build(recipe)
    clear = np.ptp(X, axis=0) >= 1e-9 * np.abs(X).max(0)  # of others few digits are left
    surely = varying(X)[1] & clear
    assume(surely.sum() >= 2)
    X = X[:, surely | (np.ptp(X, axis=0) == 0)]
    found = []
    for table, plan in ((X, None), (form(X), TINY)):
        try:
            opened = (
                open_streamed(table, plan, standardize)
                if plan
                else open_table(FeatureGroups(), table, standardize)
            )
        except ValueError as refusal:
            assert "overflow" in str(refusal)
            return
        rows = opened.rows.take(np.arange(min(len(X), 5)))
        found.append(rows[:, np.argsort(opened.columns)])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4, atol=1e-4)
