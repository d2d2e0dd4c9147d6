"""Tables of mixed kinds, with gaps: what is found, what comes back, what is refused."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from benchmarks.tables import TablesMissing
from groupfs import FeatureGroups, GroupFS
from groupfs.utils.warn import ConstantColumnsWarning
from tests.support.mixed_kinds import as_codes, judged, mixed_table, students

QUICK = {"random_state": 0}


@pytest.fixture(scope="module")
def drawn():
    return mixed_table(5)


@pytest.fixture(scope="module")
def fitted(drawn):
    return FeatureGroups(**QUICK).fit(drawn[0])


def planted(rng, n, *blocks, d):
    """Draw numbers, the columns of every block with something in common."""
    X = rng.standard_normal((n, d))
    for block in blocks:
        X[:, block] += 1.5 * rng.standard_normal((n, 1))
    return X


def test_planted_groups_of_mixed_kinds_are_found(drawn, fitted):
    _, truth = drawn
    planted = truth >= 0
    assert adjusted_rand_score(truth[planted], fitted.group_labels_[planted]) > 0.95
    assert (fitted.group_labels_[~planted] < 0).mean() >= 0.9
    assert fitted.group_kept_[np.unique(fitted.group_labels_[planted])].all()
    assert set(fitted.feature_kinds_) == {"number", "category"}


@pytest.mark.slow
def test_codes_and_means_find_less():
    tables = [mixed_table(seed) for seed in range(4)]
    found = np.array([[judged(X, g)[0], judged(as_codes(X), g)[0]] for X, g in tables])
    assert found[:, 0].min() > 0.9
    assert found[:, 1].mean() < found[:, 0].mean() - 0.05


def test_noise_of_mixed_kinds_is_noise():
    frame, _ = mixed_table(1, n_groups=0)
    with pytest.warns(UserWarning, match="nothing is selected"):
        selector = FeatureGroups(**QUICK).fit(frame)
    assert not selector.get_support().any()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_selected_columns_come_back_untouched(drawn, fitted, library):
    frame, _ = drawn
    X = frame if library == "pandas" else _to_polars(frame)
    selector = fitted if library == "pandas" else FeatureGroups(**QUICK).fit(X)
    selected = selector.transform(X)
    names = [str(name) for name in selector.get_feature_names_out()]
    if library == "pandas":
        pd.testing.assert_frame_equal(selected, frame[names])
    else:
        assert selected.equals(X.select(names)) and selected.schema == X.select(names).schema
        np.testing.assert_array_equal(selector.get_support(), fitted.get_support())


def _to_polars(frame):
    """Ordered categories as Enum, others as text."""
    columns = {}
    for name, column in frame.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            values = [None if v is np.nan else v for v in column.astype(object)]
            kind = pl.Enum(list(column.cat.categories)) if column.cat.ordered else pl.String
            columns[name] = pl.Series(values, dtype=kind)
        else:
            columns[name] = pl.Series(column.to_numpy()).fill_nan(None)
    return pl.DataFrame(columns)


def test_the_order_of_columns_rows_and_levels_does_not_matter(drawn, fitted):
    frame, _ = drawn
    rng = np.random.default_rng(0)
    moved = frame[rng.permutation(frame.columns)]
    category = next(
        n
        for n in frame
        if str(frame[n].dtype) == "category"
        and not frame[n].cat.ordered
        and len(frame[n].cat.categories) > 2
    )
    new_names = dict(zip(frame[category].cat.categories, "zyxwvutsrqpo", strict=False))
    moved = moved.assign(**{category: frame[category].cat.rename_categories(new_names)})
    again = FeatureGroups(**QUICK).fit(moved)
    place = [list(moved.columns).index(name) for name in frame.columns]
    found = again.group_labels_[place]
    assert adjusted_rand_score(found, fitted.group_labels_) == 1
    np.testing.assert_array_equal(again.get_support()[place], fitted.get_support())


def test_a_category_of_many_levels_weighs_as_much_as_a_number():
    """Twelve levels that say what a number says neither come first nor make samples their own."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 8))
    x[:, 1:4] += 2 * x[:, :1]
    x[:, 5:] += 2 * x[:, 4:5]
    levels = np.searchsorted(np.quantile(x[:, 3], np.arange(1, 12) / 12), x[:, 3])
    frame = pd.DataFrame(x, columns=list("abcdefgh"))
    frame["d"] = pd.Categorical.from_codes(rng.permutation(12)[levels], list("mnopqrstuvwx"))
    selector = FeatureGroups(**QUICK).fit(frame)
    assert sorted(map(len, selector.groups_)) == [4, 4]
    d, others = 3, [0, 1, 2]
    assert selector.centrality_[d] < selector.centrality_[others].max() + 0.02
    from groupfs.data.open_table import open_table

    rows = open_table(selector, frame, True, reset=False).rows
    variance = np.bincount(rows.owner, np.nanmean(np.square(rows.Z), axis=0))
    np.testing.assert_allclose(variance, 1, atol=1e-9)


def test_gaps_alone_leave_groups_as_they_are():
    rng = np.random.default_rng(0)
    X = planted(rng, 300, slice(5), slice(5, 10), d=20)
    whole = FeatureGroups(**QUICK).fit(X)
    X[rng.random(X.shape) < 0.25] = np.nan
    gappy = FeatureGroups(**QUICK).fit(X)
    inside = whole.group_labels_ >= 0
    assert adjusted_rand_score(whole.group_labels_[inside], gappy.group_labels_[inside]) > 0.9
    assert np.isfinite(gappy.explained_).all() and gappy.explained_[-1] == 1
    selected = gappy.transform(X)
    np.testing.assert_array_equal(selected, X[:, gappy.get_support()])


def test_columns_with_hardly_a_value_do_not_hide_the_others():
    rng = np.random.default_rng(0)
    X = planted(rng, 200, slice(3), slice(4, 7), slice(7, 10), d=10)
    X[rng.random(200) < 0.95, 3] = np.nan
    X[rng.random(200) < 0.95, 6] = np.nan
    selector = FeatureGroups(**QUICK).fit(X)
    assert sum({0, 1, 2} <= set(g) or {7, 8, 9} <= set(g) for g in selector.groups_) == 2
    complete = selector.group_labels_[[0, 7]]
    assert (selector.group_pvalues_[complete] < 1e-6).all()
    assert selector.group_kept_[complete].all()


def test_one_gap_changes_little_with_signs():
    rng = np.random.default_rng(0)
    X = planted(rng, 200, slice(3), slice(3, 6), d=6)
    settings = {"signed": True, "n_groups": 2, **QUICK}
    whole = FeatureGroups(**settings).fit(X)
    X[3, 2] = np.nan
    gappy = FeatureGroups(**settings).fit(X)
    np.testing.assert_allclose(gappy.centrality_, whole.centrality_, atol=0.02)
    np.testing.assert_array_equal(gappy.group_labels_, whole.group_labels_)
    assert max(gappy.group_pvalues_.max(), whole.group_pvalues_.max()) < 1e-9


def test_what_transform_returns_does_not_depend_on_gaps_of_the_table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4))
    X[:, 1:3] += 3 * X[:, :1]
    frame = pd.DataFrame(X, columns=list("abcd")).astype("Float64")
    frame.loc[0, "a"] = pd.NA
    selector = FeatureGroups(**QUICK).fit(frame)
    for part in (frame, frame.iloc[1:]):
        assert isinstance(selector.transform(part), pd.DataFrame)


def test_equal_names_and_the_way_back_are_refused_in_words(drawn, fitted):
    frame, _ = drawn
    with pytest.raises(ValueError, match=r"x0 \(2 times\); rename"):
        FeatureGroups(**QUICK).fit(frame.rename(columns={"x1": "x0"}))
    with pytest.raises(ValueError, match="zeros in place of features"):
        fitted.inverse_transform(fitted.transform(frame))


def test_a_lazy_frame_is_refused_with_what_to_give():
    for kind in (FeatureGroups, GroupFS):
        with pytest.raises(TypeError, match=r"LazyFrame.*X\.collect\(\)"):
            kind().fit(pl.LazyFrame({"a": [1.0, 2, 3], "b": [2.0, 1, 3]}))


def test_gaps_in_the_same_rows_make_no_group():
    """Columns that are missing together, and have nothing else in common."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 12))
    X[:80, :6] = np.nan
    with pytest.warns(UserWarning, match="nothing is selected"):
        FeatureGroups(**QUICK).fit(X)


@pytest.mark.parametrize("metric", ["cosine", "rank", "graph"])
def test_all_kinds_have_any_metric_of_the_samples(drawn, fitted, metric):
    frame, truth = drawn
    if metric == "graph":
        rng = np.random.default_rng(0)
        metric = kneighbors_graph(rng.standard_normal((len(frame), 2)), 10)
    selector = FeatureGroups(metric=metric, **QUICK).fit(frame)
    assert np.isfinite(selector.group_smoothness_).all()
    assert adjusted_rand_score(selector.group_labels_, fitted.group_labels_) == 1


def test_noise_with_gaps_is_as_smooth_as_chance_on_a_known_graph():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 12))
    X[rng.random(X.shape) < 0.5] = np.nan
    graph = kneighbors_graph(rng.standard_normal((400, 3)), 10)
    selector = FeatureGroups(metric=graph, groups=np.arange(12) // 4, **QUICK).fit(X)
    assert np.abs(selector.group_smoothness_).max() < 0.03


def test_known_groups_of_all_kinds(drawn):
    frame, truth = drawn
    selector = FeatureGroups(groups=truth + 1, **QUICK).fit(frame)
    assert selector.n_groups_ == truth.max() + 2
    noise = selector.group_names_.index(0)
    assert selector.group_pvalues_[noise] > 0.05 and not selector.group_kept_[noise]


@pytest.mark.slow
def test_groups_of_the_students_read_like_the_papers():
    try:
        frame, _ = students()
    except TablesMissing as reason:
        pytest.skip(str(reason))
    selector = FeatureGroups(random_state=0).fit(frame)
    groups = [set(frame.columns[g]) for g in selector.groups_]
    for together in (
        {"Medu", "Fedu", "Mjob", "Fjob"},
        {"Dalc", "Walc", "goout"},
        {"school", "address", "traveltime"},
    ):
        assert any(together <= group for group in groups), together
    assert selector.group_kept_.all() and selector.group_replication_.min() > 0.5


def test_ten_thousand_levels_are_refused():
    frame = pd.DataFrame({"a": np.arange(20_000.0), "code": np.arange(20_000) // 2})
    frame["code"] = frame["code"].astype(str).astype("category")
    with pytest.raises(ValueError, match=r"code .*10,?000"):
        FeatureGroups(**QUICK).fit(frame)


def test_infinity_is_refused_by_name_beside_gaps(drawn):
    frame, _ = drawn
    number = next(name for name in frame if frame[name].dtype == float)
    frame = frame.assign(**{number: frame[number].mask(frame.index == 3, np.inf)})
    with pytest.raises(ValueError, match=rf"infinity .*{number}"):
        FeatureGroups(**QUICK).fit(frame)


def test_columns_without_a_value_are_left_out():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 6))
    X[:, 1:3] += 3 * X[:, :1]
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["f"] = np.nan
    frame["e"] = pd.Series([None] * 100, dtype=object)
    with pytest.warns(ConstantColumnsWarning, match="e, f"):
        selector = FeatureGroups(**QUICK).fit(frame)
    assert selector.group_labels_[[4, 5]].tolist() == [-1, -1]


def _columns(n_rows):
    """Columns of any kind, some of them odd: one value, all missing, all rows different."""

    def drawn(values, make):
        return st.lists(values, min_size=n_rows, max_size=n_rows).map(make)

    text = st.sampled_from(["a", "b", "c", "", " ", "ä"])
    dates = st.datetimes(pd.Timestamp("1990-01-01"), pd.Timestamp("2030-01-01"))
    return st.one_of(
        drawn(st.floats(-1e6, 1e6) | st.none(), lambda v: pd.Series(v, dtype=float)),
        drawn(st.booleans(), pd.Series),
        drawn(st.integers(-3, 3), lambda v: pd.Series(v, dtype="Int64").mask(pd.Series(v) == 3)),
        drawn(text | st.none(), lambda v: pd.Series(v, dtype=object)),
        drawn(text, lambda v: pd.Series(pd.Categorical(v, ordered=len(set(v)) % 2 == 0))),
        drawn(dates | st.none(), lambda v: pd.Series(v, dtype="datetime64[us]")),
    )


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_frame_is_fitted_or_refused_in_words(data):
    n_rows = data.draw(st.integers(2, 40))
    columns = data.draw(st.lists(_columns(n_rows), min_size=2, max_size=8))
    frame = pd.DataFrame({f"x{i}": column for i, column in enumerate(columns)})
    similarity = data.draw(st.sampled_from(["correlation", "rank", "distance"]))
    estimator = FeatureGroups(similarity=similarity, n_features_to_select=1, **QUICK)
    before = frame.copy(deep=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            selector = estimator.fit(frame)
        except ValueError as refusal:
            assert str(refusal).strip().endswith(".") and "x" in str(refusal).lower()
            return
    pd.testing.assert_frame_equal(frame, before)
    assert selector.transform(frame).shape == (n_rows, 1)
    for name in ("group_smoothness_", "centrality_", "explained_", "feature_weights_"):
        assert np.isfinite(getattr(selector, name)).all(), name
