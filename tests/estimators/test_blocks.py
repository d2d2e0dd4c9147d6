"""Groups that cohorts or batches have in common: differences between them make none."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from groupfs import FeatureGroups
from groupfs.data.blocks import spread_blocks, without_blocks
from groupfs.discovery.within_blocks import cohesion_within
from groupfs.utils.errors import ParameterError
from groupfs.utils.warn import SelectionWarning

NAMES = [f"{group}{i}" for group in "abcn" for i in range(6)]


def cohorts(n=150, seed=0):
    """Four cohorts: scales a and b in all, c in the third alone; n are shifted between cohorts.

    Columns have other means in each, and the fourth has three times the variance.
    """
    rng = np.random.default_rng(seed)
    cohort = np.repeat(["one", "two", "three", "four"], n)
    scores = rng.standard_normal((4 * n, 3))
    X = rng.standard_normal((4 * n, 24))
    X[:, :12] += np.repeat(scores[:, :2], 6, axis=1)
    X[cohort == "three", 12:18] += 2 * scores[cohort == "three", 2:]
    shift = {"one": 0.0, "two": 2.0, "three": -1.0, "four": 3.0}
    X[:, 18:] += np.array([shift[of] for of in cohort])[:, None]
    X[cohort == "four"] *= 3
    return pd.DataFrame(X, columns=NAMES), cohort


def letters(selector, kept=True):
    groups = [selector.groups_[j] for j in np.flatnonzero(selector.group_kept_ | (not kept))]
    return {"".join(sorted({NAMES[i][0] for i in group})) for group in groups}


@pytest.fixture(scope="module")
def fitted():
    X, cohort = cohorts()
    with pytest.warns(SelectionWarning, match=r"holds in 1 of 4 blocks \(three\) only"):
        return FeatureGroups(random_state=0).fit(X, blocks=cohort)


def test_groups_that_all_blocks_share_are_kept_and_shifts_make_none(fitted):
    assert letters(fitted) == {"a", "b"}
    without = FeatureGroups(random_state=0).fit(cohorts()[0])
    assert "n" in letters(without)


def test_a_group_of_one_block_is_found_marked_and_not_kept(fitted):
    assert letters(fitted, kept=False) == {"a", "b", "c"}
    frame = fitted.groups_frame().set_index("representative")
    row = frame.loc[[name for name in frame.index if name[0] == "c"]].iloc[0]
    assert row["n_blocks"] == 1 and set(row["not_in"].split(", ")) == {"one", "two", "four"}
    assert row["why"] == "holds in 1 of 4 blocks (three) only" and not row["kept"]
    others = frame.drop(row.name)
    assert others["n_blocks"].eq(4).all() and others["not_in"].eq("").all()


def test_cohesion_within_blocks_is_the_mean_correlation_there(fitted):
    X, cohort = cohorts()
    assert fitted.blocks_ == ["four", "one", "three", "two"]
    for j, group in enumerate(fitted.groups_):
        for k, name in enumerate(fitted.blocks_):
            own = X.iloc[cohort == name, group] * fitted.group_signs_[group]
            r = own.corr().to_numpy()[np.triu_indices(len(group), 1)].mean()
            assert fitted.group_block_cohesion_[j, k] == pytest.approx(r, abs=1e-9)


def test_every_stretch_of_dealt_rows_has_its_share_of_each_block(rng):
    codes = np.repeat([0, 1, 2], [320, 96, 64])
    dealt = spread_blocks(rng.permutation(480), codes)
    assert sorted(dealt.tolist()) == list(range(480))
    for part in np.array_split(dealt, 16):
        np.testing.assert_allclose(np.bincount(codes[part]), [20, 6, 4], atol=1)


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, sp.csr_array])
def test_tables_of_all_kinds_lose_the_differences_and_keep_their_means(kind):
    X, cohort = cohorts(30)
    codes = np.unique(cohort, return_inverse=True)[1]
    found = without_blocks(kind(X.to_numpy()), codes)
    values = np.asarray(found)
    means = [values[codes == k].mean(0) for k in range(4)]
    np.testing.assert_allclose(means, np.tile(X.to_numpy().mean(0), (4, 1)), atol=1e-12)
    assert isinstance(found, pd.DataFrame) == (kind is pd.DataFrame)


def test_polars_frames_keep_their_names():
    pl = pytest.importorskip("polars")
    X, cohort = cohorts()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        selector = FeatureGroups(random_state=0).fit(pl.DataFrame(X.to_dict("list")), blocks=cohort)
    assert selector.feature_names_in_.tolist() == NAMES and letters(selector) == {"a", "b"}


def test_gaps_stay_gaps():
    X, cohort = cohorts()
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        assert letters(FeatureGroups(random_state=0).fit(X, blocks=cohort)) == {"a", "b"}


def test_blocks_go_through_a_pipeline_and_scores_are_in_units_of_the_table(fitted):
    X, cohort = cohorts()
    pipe = make_pipeline(StandardScaler(), FeatureGroups(random_state=0, output="scores"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        scores = pipe.fit_transform(X, featuregroups__blocks=cohort)
    assert scores.shape == (600, 2)
    np.testing.assert_allclose(scores.mean(0), 0, atol=1e-9)


def test_every_level_is_marked(fitted):
    for groups in fitted._level_groups:
        assert groups["in_blocks"].shape == (len(groups["members"]), 4)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda X, c: (X, c[:-1]), "blocks has 599 entries but X has 600 rows"),
        (lambda X, c: (X, pd.Series(c).where(np.arange(600) > 3)), "missing for 4 of 600 rows"),
        (lambda X, c: (X, np.arange(600) // 10), "60 values, none with 20 rows or more"),
        (lambda X, c: (X.assign(word="x"), c), "other kinds"),
        (lambda X, c: (X, c[:, None]), "of type ndarray; give a list"),
        (lambda X, c: (X, 3), "of type int; give a list"),
    ],
)
def test_blocks_that_cannot_be_are_one_sentence(change, says):
    X, blocks = change(*cohorts())
    with pytest.raises(ParameterError, match=says):
        FeatureGroups(random_state=0).fit(X, blocks=blocks)


def test_gaps_in_one_block_do_not_lower_its_cohesion():
    X, cohort = cohorts()
    gone = (np.random.default_rng(0).random(X.shape) < 0.6) & (cohort == "two")[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        selector = FeatureGroups(random_state=0).fit(X.mask(gone), blocks=cohort)
    assert letters(selector) == {"a", "b"}
    two = selector.group_block_cohesion_[selector.group_kept_, selector.blocks_.index("two")]
    assert (two > 0.35).all()


def test_blocks_that_fell_out_of_a_sample_of_rows_keep_their_place(rng):
    mean_r, holds = cohesion_within(
        rng.standard_normal((60, 4)), [np.arange(4)], np.zeros(60, int), 3
    )
    assert mean_r.shape == holds.shape == (1, 3) and np.isnan(mean_r[0, 1:]).all()


def test_frames_with_missing_values_of_pandas_are_numbers():
    X, cohort = cohorts()
    X.iloc[::7, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        selector = FeatureGroups(random_state=0).fit(X.convert_dtypes(), blocks=cohort)
    assert letters(selector) == {"a", "b"}
