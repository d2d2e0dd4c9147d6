"""ColumnPreparer: the command line's preparation as a transformer of scikit-learn."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

from groupfs import FeatureGroups
from groupfs.files import ColumnPreparer
from groupfs.files.columns import ColumnsError, decide_columns
from groupfs.utils.warn import ColumnsWarning
from tests.support.command import CHOSEN, people


@pytest.fixture(scope="module")
def frame():
    return people().assign(day="2024-05-01", u0=lambda f: f["u0"].mask(f.index == 3, 99))


def test_it_is_the_preparation_of_the_command_line(frame):
    preparer = ColumnPreparer(drop="w*", missing=99).fit(frame)
    decided = decide_columns(frame, drop=["w*"], missing=[99])
    assert preparer.preparation_ == decided and preparer.notes_ == list(decided.notes)
    pd.testing.assert_frame_equal(preparer.transform(frame), decided.apply(frame)[0])
    names = preparer.get_feature_names_out().tolist()
    assert names == list(preparer.transform(frame).columns) == [*CHOSEN, "sex", "job", "outcome"]
    assert preparer.n_features_in_ == frame.shape[1]


def test_it_comes_first_in_a_pipeline(frame):
    every = FeatureGroups(n_groups_to_select="significant", random_state=0)
    pipeline = make_pipeline(ColumnPreparer(missing=99), every).set_output(transform="pandas")
    selected = pipeline.fit_transform(frame)
    assert set(CHOSEN) <= set(selected.columns)
    assert not set(selected.columns) & {"person_id", "day"}


def test_a_frame_of_polars_is_prepared_as_one_of_pandas_and_stays_one(frame):
    size = pl.Series(["low", "high", None] * 20, dtype=pl.Enum(["low", "mid", "high"]))
    given = pl.from_pandas(frame).with_columns(size=size)
    prepared = ColumnPreparer(missing=99).fit(given).transform(given)
    assert isinstance(prepared, pl.DataFrame) and prepared["size"].dtype == size.dtype
    expected = ColumnPreparer(missing=99).fit_transform(frame)
    pd.testing.assert_frame_equal(
        prepared.drop("size").to_pandas(), expected, check_categorical=False
    )
    groups = FeatureGroups(random_state=0).fit(prepared.drop("size")).groups_
    assert str(groups) == str(FeatureGroups(random_state=0).fit(expected).groups_)


def test_what_is_left_out_is_warned_of_in_a_sentence(frame):
    says = r"Left out 2 columns: ids \(person_id\), dates \(day\)\.$"
    with pytest.warns(ColumnsWarning, match=says) as caught:
        ColumnPreparer(missing=99).fit(frame)
    assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ColumnPreparer(missing=99, drop="person_id, day").fit(frame)


def test_only_what_can_be_used_is_said_to_be_kept_by_use():
    n = np.arange(300)
    texts = {"one": "same", "remark": [f"text {i}" for i in n], "few": [f"k{i}" for i in n % 80]}
    frame = pd.DataFrame({"day": "2024-05-01", **texts, "q": n % 5, "few": texts["few"]})[:150]
    with pytest.warns(ColumnsWarning, match=r"; use=\[NAME\] keeps few\.") as caught:
        preparer = ColumnPreparer().fit(frame)
    assert len(caught) == 1 and not any("keeps" in note for note in preparer.notes_ if "id" in note)
    for name, is_kept in {"day": False, "one": False, "remark": False, "few": True}.items():
        try:
            kept = name in decide_columns(frame, use=[name]).names
        except ColumnsError:
            kept = False
        assert kept == is_kept


def test_words_that_fit_has_taken_for_gaps_are_nothing_new():
    words = ["often", "never", "don't know", "sometimes"] * 25
    frame = pd.DataFrame({"n": [str(i % 7) for i in range(99)] + ["?"], "w": words})
    preparer = ColumnPreparer(order="never,sometimes,often").fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert preparer.transform(frame).isna().sum().tolist() == [1, 25]
    with pytest.warns(ColumnsWarning, match=r"not seen before .* n \(1\)\.$"):
        preparer.transform(frame.assign(n=frame["n"].replace("0", "?").where(frame.index > 0, "!")))


def test_new_values_become_gaps_with_a_warning(frame):
    preparer = ColumnPreparer().fit(frame)
    with pytest.warns(ColumnsWarning, match="job"):
        assert preparer.transform(frame.assign(job="astronaut"))["job"].isna().all()


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([*range(1, 6)] * 8 + [99], "missing=.99. takes"),
        (["aldrig", "ofta", "ibland"] * 9, r"3 columns have the same answers \(aldrig, .*order="),
    ],
)
def test_what_may_be_meant_otherwise_is_warned_of(values, says):
    frame = pd.DataFrame(dict.fromkeys("abc", values))
    with pytest.warns(ColumnsWarning, match=says) as caught:
        preparer = ColumnPreparer().fit(frame)
    assert str(caught[-1].message) in preparer.notes_ and caught[-1].filename == __file__


@pytest.mark.parametrize(
    ("X", "error", "says"),
    [
        (
            np.eye(3),
            TypeError,
            "X is a numpy ndarray; a ColumnPreparer takes a DataFrame of pandas or polars",
        ),
        (pd.DataFrame(np.eye(3)), ColumnsError, "names are no text: 0, 1, 2; rename"),
        (pd.DataFrame(np.eye(2), columns=["a", "a"]), ColumnsError, "more than once: a"),
        (pd.DataFrame({"id": [7, 3, 9]}), ColumnsError, "no usable column: Ignored 1 column"),
    ],
)
def test_what_it_cannot_take_is_refused(X, error, says):
    with pytest.raises(error, match=says):
        ColumnPreparer().fit(X)
