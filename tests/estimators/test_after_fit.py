"""A fitted selector asked for more: budgets without a refit, and all it knows as a table."""

import pickle
import sys

import numpy as np
import pytest
from sklearn.base import clone

from groupfs import FeatureGroups, GroupFSPath, persistence
from tests.support.report_tables import mixed_table, noise_table

QUICK = {"random_state": 0}


@pytest.fixture(scope="module")
def table():
    return mixed_table()


@pytest.fixture(scope="module", params=[FeatureGroups, GroupFSPath])
def fitted(request, table):
    more = {"sparsities": [0.5, 1.0]} if request.param is GroupFSPath else {}
    return request.param(**QUICK, **more).fit(table)


@pytest.fixture
def selector(fitted):
    return pickle.loads(pickle.dumps(fitted))


@pytest.mark.parametrize(
    "changes",
    [
        {"n_features_to_select": 3},
        {"n_features_to_select": 4, "allocation": "spread"},
        {"n_groups_to_select": 1},
        {"output": "representatives"},
        {"explain": 0.8},
        {"alpha": 1e-200},
    ],
)
@pytest.mark.filterwarnings("ignore:No group stands out")
def test_a_parameter_of_the_selection_is_heeded_without_a_refit(changes, selector, table):
    if not set(changes) <= set(selector.get_params()):
        pytest.skip(f"{type(selector).__name__} has no {', '.join(changes)}")
    before = selector.get_support()
    refitted = clone(selector).set_params(**changes).fit(table)
    selector.set_params(**changes)
    np.testing.assert_array_equal(selector.get_support(), refitted.get_support())
    np.testing.assert_array_equal(selector.group_kept_, refitted.group_kept_)
    np.testing.assert_array_equal(
        selector.transform(table), table[selector.get_feature_names_out()].to_numpy()
    )
    assert not np.array_equal(before, selector.get_support())


def test_a_share_of_the_features_goes_through_a_file(selector, table, tmp_path):
    pytest.importorskip("skops")
    selector.set_params(n_features_to_select=2)
    persistence.save(selector, tmp_path / "m.skops")
    loaded = persistence.load(tmp_path / "m.skops")
    assert loaded.get_support().sum() == 2
    assert loaded.set_params(n_features_to_select=0.5).get_support().sum() == 7
    assert loaded.n_features_in_ == table.shape[1]


def test_a_wrong_parameter_is_refused_when_it_is_used(selector):
    with pytest.raises(ValueError, match="n_features_to_select=99 but X has 14 features that vary"):
        selector.set_params(n_features_to_select=99).get_support()
    with pytest.raises(ValueError, match="'n_features_to_select' parameter of select"):
        selector.set_params(n_features_to_select=-1).get_support()
    if hasattr(selector, "explain"):
        with pytest.raises(ValueError, match="are both given"):
            selector.set_params(n_features_to_select=3, explain=0.5).get_support()
    assert not hasattr(selector, "group_kept_")
    assert "groupfs-groups" not in selector._repr_html_()  # and yet it can be looked at


def test_other_parameters_wait_for_the_next_fit(selector):
    before = selector.get_support()
    selector.set_params(n_groups=3, standardize=False)
    np.testing.assert_array_equal(selector.get_support(), before)
    by_budget = selector.select(n_features_to_select=4).features
    np.testing.assert_array_equal(
        selector.set_params(n_features_to_select=4).get_support(indices=True), by_budget
    )
    assert set(by_budget) == set(selector.feature_order_[:4])  # not whole groups, as the paper does


def test_an_unfitted_selector_has_no_selection():
    assert not hasattr(FeatureGroups(), "group_kept_")
    with pytest.raises(ValueError, match="not fitted"):
        FeatureGroups().get_support()
    with pytest.raises(ValueError, match="not fitted"):
        FeatureGroups().to_frame()


def test_every_feature_has_a_row_with_what_is_known_of_it(selector, table):
    frame = selector.to_frame()
    assert {"feature", "group", "centrality", "replication", "p_adjusted"} < set(frame)
    assert sorted(frame["feature"]) == sorted(table.columns)
    place = [list(table.columns).index(name) for name in frame["feature"]]
    np.testing.assert_array_equal(frame["selected"], selector.get_support()[place])
    labels = frame["group"].fillna(0).to_numpy(dtype=int) - 1
    np.testing.assert_array_equal(labels, selector.group_labels_[place])
    reversed_ones = set(frame["feature"][frame["centrality"] < 0])
    assert reversed_ones == set(table.columns[selector.group_signs_ < 0])
    assert reversed_ones or isinstance(selector, GroupFSPath)  # which has groups of one sign
    first = frame.groupby("group").head(1)
    assert first["representative"].all() and frame["representative"].sum() == selector.n_groups_
    assert frame["why"].str.startswith("In group 1: ").sum() == len(selector.groups_[0])
    without = frame[frame["group"].isna()]
    assert without[["centrality", "replication", "p_adjusted"]].isna().all(axis=None)
    assert frame["group"].isna().is_monotonic_increasing


def test_every_group_has_a_row_with_what_is_known_of_it(selector):
    frame = selector.groups_frame()
    assert frame["size"].tolist() == [len(group) for group in selector.groups_]
    assert frame["kept"].tolist() == selector.group_kept_.tolist()
    names = selector.feature_names_in_[selector.representatives_]
    assert frame["representative"].tolist() == names.tolist()
    np.testing.assert_array_equal(frame["smoothness"], selector.group_scores_)
    if hasattr(selector, "group_replication_"):
        np.testing.assert_array_equal(frame["replication"], selector.group_replication_)
        assert frame["why"].str.startswith("coheres (adjusted p").all()
    else:
        np.testing.assert_array_equal(frame["gate"], selector.group_gates_)
        assert frame["why"].str.startswith("gate ").all()


def test_the_table_follows_a_budget_and_numbers_columns_without_names(selector, table):
    frame = selector.set_params(n_features_to_select=3).to_frame()
    assert frame["selected"].sum() == 3
    array = FeatureGroups(n_features_to_select=2, **QUICK).fit(table.to_numpy())
    assert set(array.to_frame()["feature"]) == {f"x{i}" for i in range(table.shape[1])}


def test_known_groups_and_tables_without_groups_have_tables_too(table):
    known = {"first": table.columns[:7], "second": table.columns[7:]}
    frame = FeatureGroups(groups=known, **QUICK).fit(table).to_frame()
    assert set(frame["group"].dropna()) == {"first", "second"}
    with pytest.warns(UserWarning, match="nothing is selected"):
        nothing = FeatureGroups(**QUICK).fit(noise_table()).to_frame()
    assert nothing["group"].isna().all() and not nothing["selected"].any()


def test_without_pandas_a_sentence_says_what_to_do(selector, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame needs pandas"):
        selector.to_frame()


def test_what_cannot_be_selected_says_why_where_it_is_asked_for(selector):
    selector.set_params(n_features_to_select=300)
    with pytest.raises(AttributeError, match="n_features_to_select=300 but X has 14 features"):
        selector.group_kept_  # noqa: B018
