"""ColumnPreparer: the command line's preparation as a transformer of scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from groupfs import GroupFS
from groupfs.tables import ColumnPreparer
from groupfs.tables.columns import ColumnsError, learn_columns
from groupfs.utils.warn import ColumnsWarning
from tests.support.command import CHOSEN, people


@pytest.fixture(scope="module")
def frame():
    return people().assign(day="2024-05-01", u0=lambda f: f["u0"].mask(f.index == 3, 99))


def test_it_is_the_preparation_of_the_command_line(frame):
    preparer = ColumnPreparer(drop="w*", missing=99).fit(frame)
    learned = learn_columns(frame, drop=["w*"], missing=[99])
    assert preparer.preparation_ == learned and preparer.notes_ == list(learned.notes)
    pd.testing.assert_frame_equal(preparer.transform(frame), learned.apply(frame)[0])
    names = preparer.get_feature_names_out().tolist()
    assert names == list(preparer.transform(frame).columns) == [*CHOSEN, "sex", "job", "outcome"]
    assert preparer.n_features_in_ == frame.shape[1]
    for word in ("taken for ids", "of dates"):
        assert any(word in note for note in preparer.notes_)


def test_it_can_be_cloned_and_pickled(frame):
    preparer = ColumnPreparer(drop=["w0"], use=["person_id"], missing=[99], order="f,m")
    assert clone(preparer).get_params() == preparer.get_params()
    fitted = clone(preparer).set_params(use=None).fit(frame)
    again = pickle.loads(pickle.dumps(fitted))
    pd.testing.assert_frame_equal(again.transform(frame), fitted.transform(frame))
    assert fitted.transform(frame)["sex"].tolist() == (1 + (frame["sex"] == "m")).tolist()
    with pytest.raises(NotFittedError):
        preparer.transform(frame)


def test_it_comes_first_in_a_pipeline(frame):
    pipeline = make_pipeline(
        ColumnPreparer(missing=99), GroupFS(max_epochs=5, n_init=1, random_state=0)
    ).set_output(transform="pandas")
    selected = pipeline.fit_transform(frame)
    assert set(CHOSEN) <= set(selected.columns)
    assert not set(selected.columns) & {"person_id", "day"}


def test_new_values_become_gaps_with_a_warning(frame):
    preparer = ColumnPreparer().fit(frame)
    with pytest.warns(ColumnsWarning, match="job"):
        assert preparer.transform(frame.assign(job="astronaut"))["job"].isna().all()


@pytest.mark.parametrize(
    ("values", "says"),
    [([*range(1, 6)] * 8 + [99], "missing=.99. takes"), (["nie", "oft", "selten"] * 9, "order=")],
)
def test_what_may_be_meant_otherwise_is_warned_of(values, says):
    frame = pd.DataFrame(dict.fromkeys("abc", values))
    with pytest.warns(ColumnsWarning, match=says) as caught:
        preparer = ColumnPreparer().fit(frame)
    assert str(caught[0].message) in preparer.notes_ and caught[0].filename == __file__


def test_frames_of_polars_are_refused_with_the_remedy():
    frame = pytest.importorskip("polars").DataFrame({"a": [1, 2]})
    with pytest.raises(TypeError, match=r"X is a polars DataFrame; .* such as X.to_pandas\(\)"):
        ColumnPreparer().fit(frame)
    with pytest.raises(TypeError, match=r"LazyFrame; .* such as X.collect\(\).to_pandas\(\)"):
        ColumnPreparer().fit(frame.lazy())


@pytest.mark.parametrize(
    ("X", "error", "says"),
    [
        (np.eye(3), TypeError, "X is a ndarray; a ColumnPreparer takes a pandas DataFrame"),
        (pd.DataFrame(np.eye(3)), ColumnsError, "names are no text: 0, 1, 2; rename"),
        (pd.DataFrame(np.eye(2), columns=["a", "a"]), ColumnsError, "more than once: a"),
        (pd.DataFrame({"id": [7, 3, 9]}), ColumnsError, "no usable column: Ignored 1 column"),
    ],
)
def test_what_it_cannot_take_is_refused(X, error, says):
    with pytest.raises(error, match=says):
        ColumnPreparer().fit(X)
