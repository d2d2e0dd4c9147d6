import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from groupfs import FeatureGroups, GroupFS
from groupfs.plotting import plot_check

NAMES = [f"{group}{i}" for group in "abc" for i in range(6)]


def scales(n, rng):
    """Three scales of six items, of which two in each run the other way."""
    scores = rng.standard_normal((n, 3)) @ np.linalg.cholesky(0.7 * np.eye(3) + 0.3).T
    X = np.repeat(0.7 * scores, 6, axis=1) + 0.7 * rng.standard_normal((n, 18))
    return pd.DataFrame(X * np.tile([1, 1, -1, 1, -1, 1], 3), columns=NAMES)


@pytest.fixture(scope="module")
def fitted():
    return FeatureGroups(random_state=0).fit(scales(500, np.random.default_rng(0)))


@pytest.fixture
def other():
    return scales(400, np.random.default_rng(1))


def row_of(checked, letter):
    frame = checked.to_frame()
    return frame[frame["representative"].str.startswith(letter)].iloc[-1]


def test_groups_hold_in_other_rows_of_the_same_kind(fitted, other):
    checked = fitted.check(other)
    assert checked.to_frame()["verdict"].eq("preserved").all()
    assert checked.features_frame()["state"].eq("holds").all()
    assert "3 preserved" in checked.sentence


def test_other_units_and_order_and_columns_beside_change_nothing(fitted, other):
    same = fitted.check((other * 25 + 3)[NAMES[::-1]].assign(more=1.0))
    pd.testing.assert_frame_equal(same.to_frame(), fitted.check(other).to_frame(), atol=1e-9)
    assert "18 columns of the groups are far" in same.notes[0]


def test_what_broke_is_named_and_where_it_is_now(fitted, other):
    rng = np.random.default_rng(2)
    other["a0"] *= -1
    other[["b0", "b1"]] = rng.standard_normal((400, 2))
    other["b1"] += other[["c0", "c1", "c3"]].sum(axis=1) / 2
    checked = fitted.check(other)
    a, b = row_of(checked, "a"), row_of(checked, "b")
    assert a["reversed"] == "a0" and a["lost"] == "" and a["verdict"] == "preserved"
    assert set(b["lost"].split(", ")) == {"b0", "b1"} and b["without_lost"] == "preserved"
    features = checked.features_frame().set_index("feature")
    assert features.loc["b1", "now_in"] == row_of(checked, "c")["group"]
    assert pd.isna(features.loc["b0", "now_in"])
    assert features.loc["a0", "item_rest"] < -0.4 < features.loc["a1", "item_rest"]
    assert "b1" in str(checked)


def test_a_group_that_is_gone_is_told_at_every_level_it_is_in(other):
    rng = np.random.default_rng(3)
    broad = np.repeat(rng.standard_normal((1000, 2)), 12, axis=1)
    narrow = np.repeat(rng.standard_normal((1000, 6)), 4, axis=1)
    X = broad + narrow + rng.standard_normal((1000, 24))
    selector = FeatureGroups(random_state=0).fit(X[:500])
    assert [level.n_groups for level in selector.levels_] == [2, 6]
    Y = X[500:].copy()
    Y[:, :4] = rng.standard_normal((500, 4))
    frame = selector.check(Y).to_frame()
    narrow = frame[frame["level"] == 6].set_index("representative")["verdict"]
    assert narrow[[name for name in narrow.index if int(name[1:]) < 4]].eq("gone").all()
    assert narrow.value_counts()["preserved"] == 5
    broad = frame[frame["level"] == 2]
    assert sorted(broad["verdict"]) == ["preserved", "weaker"]


def test_missing_and_constant_columns_are_named_and_the_rest_is_said(fitted, other):
    other["c1"] = 4
    checked = fitted.check(other.drop(columns=["a0", "a1", "a2", "a3", "a4"]))
    assert row_of(checked, "a")["verdict"] == "not known"
    assert row_of(checked, "b")["verdict"] == row_of(checked, "c")["verdict"] == "preserved"
    assert row_of(checked, "c")["missing"] == "c1"
    assert "5 columns of the groups are not in X: a0, a1, a2, a3, a4." in checked.notes
    assert any("the same in every row" in note and "c1" in note for note in checked.notes)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda X: X.rename(columns=str.upper), "none of the 18 columns"),
        (lambda X: X.head(15), "15 rows, and groups cannot be checked in fewer than 20"),
        (lambda X: X.assign(b0=np.inf), "b0"),
        (lambda X: None, "no table of rows and columns"),
        (lambda X: X.to_numpy()[:, :5], "5 features, but the selector was fitted on 18"),
    ],
)
def test_what_cannot_be_checked_is_one_sentence(fitted, other, change, says):
    before = other.copy()
    with pytest.raises(ValueError, match=says):
        fitted.check(change(other))
    pd.testing.assert_frame_equal(other, before)


def test_a_table_without_groups_has_nothing_to_check():
    noise = np.random.default_rng(0).standard_normal((60, 8))
    with pytest.warns(UserWarning):
        selector = FeatureGroups(random_state=0).fit(noise)
    with pytest.raises(ValueError, match="nothing to check"):
        selector.check(noise)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_arrays_and_sparse_rows_give_the_same(kind):
    rng = np.random.default_rng(0)
    X, Y = (np.maximum(scales(300, rng).to_numpy(), 0) for _ in range(2))
    expected = FeatureGroups(random_state=0).fit(X).check(Y).to_frame()
    found = FeatureGroups(random_state=0).fit(kind(X)).check(kind(Y)).to_frame()
    pd.testing.assert_frame_equal(found, expected, atol=1e-8)


def test_categories_are_compared_by_the_numbers_of_the_fit():
    rng = np.random.default_rng(0)

    def table(n):
        X = scales(n, rng)
        X["a0"] = pd.cut(X["a0"], [-9, -0.7, 0.2, 9], labels=["x", "z", "y"]).astype("category")
        X["a0"] = X["a0"].cat.as_unordered()
        return X

    checked = FeatureGroups(random_state=0).fit(table(600)).check(table(400))
    assert checked.to_frame()["verdict"].eq("preserved").all()
    assert checked.features_frame().set_index("feature").loc["a0", "state"] == "holds"


def test_gaps_are_left_out(fitted, other):
    gappy = other.mask(np.random.default_rng(0).random(other.shape) < 0.3)
    frame = fitted.check(gappy).to_frame()
    assert frame["verdict"].eq("preserved").all()
    np.testing.assert_allclose(
        frame["cohesion"], fitted.check(other).to_frame()["cohesion"], atol=0.1
    )


def test_groups_of_the_published_method_are_checked_too():
    X = scales(600, np.random.default_rng(0))
    selector = GroupFS(n_groups=3, n_init=1, max_epochs=3, random_state=0).fit(X[:300])
    assert selector.check(X[300:]).to_frame()["verdict"].isin(["preserved", "weaker"]).all()


def test_figure_names_groups_and_features(fitted, other):
    other["a0"] *= -1
    ax = plot_check(fitted.check(other))
    texts = [text.get_text() for text in ax.texts]
    assert len(texts) == 3 and all("preserved" in text for text in texts)
    assert {label.get_text() for label in ax.get_yticklabels()} == set(NAMES)


def test_two_sets_that_never_went_together_are_not_called_reversed():
    rng = np.random.default_rng(0)
    known = {"both": NAMES[:12], "own": NAMES[12:]}
    for _ in range(8):
        X, Y = (scales(300, rng) for _ in range(2))
        for table in (X, Y):  # two unrelated scales in one group
            table[NAMES[6:12]] = scales(300, rng)[NAMES[6:12]].to_numpy()
        checked = FeatureGroups(groups=known, random_state=0).fit(X).check(Y)
        assert "reversed" not in set(checked.features_frame()["state"])


def test_columns_with_hardly_any_values_are_left_out_and_named(fitted, other):
    other.loc[5:, "b2"] = np.nan
    checked = fitted.check(other)
    assert row_of(checked, "b")["missing"] == "b2" and row_of(checked, "b")["lost"] == ""
    assert any("in too few rows of X" in note and "b2" in note for note in checked.notes)


def test_lists_and_frames_of_dask_are_read_and_repeated_names_refused(fitted, other):
    dd = pytest.importorskip("dask.dataframe")
    expected = fitted.check(other).to_frame()
    pd.testing.assert_frame_equal(
        fitted.check(dd.from_pandas(other, npartitions=2)).to_frame(), expected
    )
    plain = FeatureGroups(random_state=0).fit(scales(500, np.random.default_rng(0)).to_numpy())
    assert plain.check(other.to_numpy().tolist()).to_frame()["verdict"].eq("preserved").all()
    with pytest.raises(ValueError, match="names of columns more than once: a0"):
        fitted.check(pd.concat([other, other[["a0"]]], axis=1))


def test_random_sets_are_drawn_from_numbers_outside_groups_of_mixed_frames_too():
    rng = np.random.default_rng(0)

    def table(n):
        X = scales(n, rng)[NAMES[:6]].assign(
            **{f"noise{i}": rng.standard_normal(n) for i in range(20)}
        )
        return X.assign(sex=pd.Categorical(rng.choice(["f", "m", "d"], n)))

    frame = FeatureGroups(random_state=0).fit(table(400)).check(table(300)).to_frame()
    assert frame["p_random"].iloc[0] < 0.05
