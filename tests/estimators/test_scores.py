"""output="scores": one number per kept group and sample, of the rows of the fit and of new ones."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from groupfs import FeatureGroups, persistence
from groupfs.data.open_table import read_rows
from tests import reference

QUICK = {"random_state": 0}


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(as_frame=True).data


@pytest.fixture(scope="module")
def fitted(cancer):
    return FeatureGroups(output="scores", **QUICK).fit(cancer)


@pytest.fixture(scope="module")
def mixed():
    """Numbers, levels with and without an order, and gaps, that all follow one hidden number."""
    rng = np.random.default_rng(0)
    hidden, other = rng.standard_normal((2, 300, 1))
    numbers = np.hstack([hidden + 0.5 * rng.standard_normal((300, 4)), other, other, other])
    numbers[:, 4:] += 0.5 * rng.standard_normal((300, 3))
    frame = pd.DataFrame(numbers, columns=[f"x{i}" for i in range(7)])
    codes = np.digitize(hidden[:, 0] + 0.2 * rng.standard_normal(300), [-1, 0, 1])
    frame["answer"] = pd.Categorical.from_codes(codes, list("abcd"), ordered=True)
    frame["kind"] = pd.Categorical.from_codes(codes, list("wzxy"))
    return frame.mask(rng.random(frame.shape) < 0.1)


@pytest.fixture(scope="module")
def fitted_mixed(mixed):
    selector = FeatureGroups(output="scores", **QUICK).fit(mixed)
    in_groups = selector.feature_names_in_[selector.group_labels_ >= 0]
    assert {"kind", "answer"} <= set(in_groups) and "category" in selector.feature_kinds_
    return selector


def test_scores_are_those_written_into_anndata(cancer, fitted):
    anndata = pytest.importorskip("anndata")
    from groupfs.anndata import select_groups

    adata = anndata.AnnData(cancer.to_numpy())
    adata.var_names = list(cancer.columns)
    select_groups(adata, check_values=False, **QUICK)
    kept = np.asarray(adata.obsm["groupfs_scores"])[:, fitted.group_kept_]
    np.testing.assert_allclose(fitted.transform(cancer), kept, atol=1e-10)


def test_scores_have_names_and_become_frames(cancer, fitted):
    names = fitted.get_feature_names_out()
    assert len(names) == fitted.group_kept_.sum()
    assert names[0] == f"group1_{cancer.columns[fitted.representatives_[0]]}"
    framed = clone(fitted).set_output(transform="pandas").fit_transform(cancer.iloc[100:300])
    assert framed.index.equals(cancer.index[100:300]) and framed.columns[0].startswith("group1_")


def test_scores_do_not_depend_on_how_a_table_is_stored(cancer, fitted, tmp_path):
    X = cancer.to_numpy()
    np.save(tmp_path / "x.npy", X)
    expected = fitted.transform(cancer)
    frames = [pl.DataFrame(cancer.to_dict("list")), cancer.convert_dtypes()]
    stored = [sp.csr_array(X), sp.csc_matrix(X), np.load(tmp_path / "x.npy", mmap_mode="r")]
    with pytest.warns(UserWarning, match="feature names"):
        for table in (X, *stored[:2]):
            np.testing.assert_allclose(fitted.transform(table), expected, atol=1e-9)
    for table in (*frames, stored[2]):
        np.testing.assert_allclose(fitted.transform(table), expected, atol=1e-9)


def test_a_score_is_the_weighted_mean_of_the_z_scores_that_a_row_has(cancer, fitted):
    groups = [fitted.groups_[j] for j in np.flatnonzero(fitted.group_kept_)]
    rows = cancer.copy()
    rows.iloc[0, groups[0][:2]], rows.iloc[1] = np.nan, np.nan
    Z = ((rows - cancer.mean()) / cancer.std(ddof=0)).to_numpy()
    expected = reference.row_scores(Z, groups, fitted.centrality_, fitted.group_signs_, 0.5)
    scores = fitted.transform(rows)
    np.testing.assert_allclose(scores, expected, atol=1e-10)
    assert np.isfinite(scores[0]).all() and np.isnan(scores[1]).all()


def test_mixed_kinds_are_scored_by_the_column_that_each_has_in_its_group(mixed, fitted_mixed):
    Z = read_rows(fitted_mixed, mixed, len(mixed))[0]
    groups = [fitted_mixed.groups_[j] for j in np.flatnonzero(fitted_mixed.group_kept_)]
    own = fitted_mixed.centrality_, fitted_mixed.group_signs_
    expected = reference.row_scores(Z, groups, *own, 0.5)
    np.testing.assert_allclose(fitted_mixed.transform(mixed), expected, atol=1e-9)


def test_a_row_has_its_score_whatever_rows_are_beside_it(mixed, fitted_mixed):
    whole = fitted_mixed.transform(mixed)
    for i in (0, 7, 100):
        alone = fitted_mixed.transform(mixed.iloc[[i]])
        np.testing.assert_allclose(alone[0], whole[i], atol=1e-9)


def test_a_level_that_is_new_counts_as_a_gap(mixed, fitted_mixed):
    text = mixed.iloc[:3].astype(dict.fromkeys(mixed.select_dtypes("category"), object))
    new, gap = text.assign(kind="never seen"), text.assign(kind=None)
    np.testing.assert_allclose(fitted_mixed.transform(new), fitted_mixed.transform(gap))


def test_models_of_mixed_kinds_come_back_from_files(mixed, fitted_mixed, tmp_path):
    pytest.importorskip("skops")
    persistence.save(fitted_mixed, tmp_path / "m.skops")
    expected = fitted_mixed.transform(mixed)
    loaded = persistence.load(tmp_path / "m.skops")
    for again in (loaded, pickle.loads(pickle.dumps(fitted_mixed))):
        np.testing.assert_array_equal(again.transform(mixed), expected)


def test_scores_work_in_pipelines_and_column_transformers(cancer):
    y = load_breast_cancer().target
    selector = FeatureGroups(output="scores", **QUICK)
    model = make_pipeline(selector, LogisticRegression())
    model.set_params(featuregroups__alpha=0.02).fit(cancer[::2], y[::2])
    assert model.score(cancer[1::2], y[1::2]) > 0.9
    worst = [name for name in cancer if name.startswith("worst")]
    union = ColumnTransformer([("scores", clone(selector), worst)], remainder="drop")
    union.set_output(transform="pandas").fit(cancer)
    assert union.transform(cancer).columns[0].startswith("scores__group1_worst")


def test_known_groups_lend_their_names(cancer):
    groups = {name: [c for c in cancer if name in c] for name in ("mean", "error", "worst")}
    fitted = FeatureGroups(groups=groups, output="scores", **QUICK).fit(cancer)
    assert set(fitted.get_feature_names_out()) <= set(groups)


def test_what_cannot_be_scored_is_refused_in_words(cancer, fitted, mixed, fitted_mixed):
    infinite = cancer.iloc[:3].copy()
    infinite.iloc[0, 2], infinite.iloc[1, 4] = np.inf, np.nan
    with pytest.raises(ValueError, match=r"inf\) in 1 column \(mean perimeter\) and NaN"):
        fitted.transform(infinite)
    with pytest.raises(ValueError, match="a score is a mean of many"):
        fitted.inverse_transform(fitted.transform(cancer))
    with pytest.raises(ValueError, match="X has 29 features, but FeatureGroups is expecting 30"):
        fitted.transform(cancer.to_numpy()[:, 1:])
    with pytest.raises(ValueError, match="fitted on a DataFrame with categories"):
        fitted_mixed.transform(np.zeros((3, mixed.shape[1])))
    with pytest.raises(ValueError, match="column kind holds numbers, but levels when"):
        fitted_mixed.transform(mixed.assign(kind=1.0))
