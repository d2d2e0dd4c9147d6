"""ColumnPreparer: what the command line does to the columns of a file, for pipelines."""

import contextlib
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from groupfs.files.columns import Preparation, decide_columns
from groupfs.files.file_table import ColumnsError, repeated_names
from groupfs.utils.text import count, join_names
from groupfs.utils.warn import ColumnsWarning, warn

#: What columns are that are left out without being asked for.
WHY = {"id": "ids", "text": "free text", "date": "dates", "object": "objects"}
USABLE = ("ids", "free text", "about the survey")  # some of these can be used all the same
WHY |= {"empty": "empty", "one_value": "one value only", "about": "about the survey"}


class ColumnPreparer(TransformerMixin, BaseEstimator):
    """Decide which columns of a DataFrame are features and what kind each is.

    Ids, dates and free text are left out. Answers in words with a known order become the numbers of
    its steps, other text becomes categories, text of numbers numbers. Gaps stay gaps. This is what
    ``groupfs select`` does to a file; :class:`groupfs.FeatureGroups` takes the result as it is.

    Parameters
    ----------
    drop : str, list of str or None, default=None
        Names, patterns (``"*_mut"``) or ranges (``"age:smoke"``, in the order of the table) of
        columns to leave out.
    use : str, list of str or None, default=None
        Names or patterns of columns to use although they look like ids or free text.
    missing : value, dict, list of these or None, default=None
        Numbers and words that stand for no answer, such as 99; they become gaps in every column.
        ``{"a1:b5": 9}``, or ``"a1:b5=9"``, is of some columns: names, patterns or ranges.
    order : str, list of str, list of lists or None, default=None
        Answers in words from the lowest to the highest, such as ``"low,middle,high"``; a list of
        such texts gives the orders of several scales. Common English, German and Spanish ones are
        known.
    columns : str, list of str or None, default=None
        Names, patterns or ranges (``"age:smoke"``) of the columns that may be features; the others
        are left out.

    Attributes
    ----------
    notes_ : list of str
        A sentence for every decision on columns.
    preparation_ : Preparation
        The kind of every column.
    feature_names_in_ : ndarray of str
        Names of the columns of the DataFrame.
    n_features_in_ : int
        Number of its columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from groupfs.files import ColumnPreparer
    >>> survey = pd.DataFrame(
    ...     {
    ...         "person_id": [71, 13, 55, 20],
    ...         "day": ["2024-05-01", "2024-05-01", "2024-05-02", "2024-05-03"],
    ...         "q1": ["agree", "Strongly agree", "disagree", "neutral"],
    ...         "q2": [4, 99, 1, 3],
    ...     }
    ... )
    >>> preparer = ColumnPreparer(missing=99).fit(survey)
    >>> preparer.transform(survey)
        q1   q2
    0  3.0  4.0
    1  4.0  NaN
    2  1.0  1.0
    3  2.0  3.0
    >>> preparer.notes_[0]
    'Ignored 1 column taken for ids (use=[NAME] keeps one): person_id.'
    """

    __module__ = "groupfs.files"

    def __init__(
        self,
        drop: Any = None,
        use: Any = None,
        missing: Any = None,
        order: Any = None,
        columns: Any = None,
    ) -> None:
        self.drop, self.use, self.missing, self.order = drop, use, missing, order
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Decide which columns are used, and as what; ``y`` is not looked at.

        Warns of what is left out, numbers that may stand for no answer, and answers that may have
        an order.
        """
        frame = _checked(X)
        self.preparation_: Preparation = decide_columns(frame, **self.get_params())
        self.notes_ = list(self.preparation_.notes)
        if not self.preparation_.names:
            raise ColumnsError(f"X has no usable column: {' '.join(self.notes_)}", "X")
        for sentence in (*_left_out(self.preparation_, frame), *self.preparation_.advice):
            warn(sentence, ColumnsWarning)
        self.feature_names_in_ = np.array(frame.columns, dtype=object)
        self.n_features_in_ = frame.shape[1]
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns that are used, as a DataFrame of the same library.

        Warns of values that become gaps.
        """
        check_is_fitted(self)
        prepared, notes = self.preparation_.apply(_checked(X))
        for note in notes:
            warn(note, ColumnsWarning)
        if not _is_polars(X):
            return prepared
        import polars as pl

        orders = {c.name: c.values for c in self.preparation_.columns if c.kind == "ordered"}
        return pl.from_pandas(prepared).cast({n: pl.Enum(order) for n, order in orders.items()})

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns that are used; ``input_features`` is not looked at."""
        check_is_fitted(self)
        return np.array(self.preparation_.names, dtype=object)


def _left_out(preparation: Preparation, frame: Any) -> list[str]:
    """Say what was left out without being asked to, if anything was, and what can be used."""
    names: dict[str, list[str]] = {}
    usable = list[str]()
    for name, why in [(c.name, WHY[c.why]) for c in preparation.columns if c.why in WHY]:
        names.setdefault(why, []).append(name)
        with contextlib.suppress(ColumnsError):
            if why in USABLE and decide_columns(frame[[name]], use=[name]).names:
                usable.append(name)
    if not names:
        return []
    n_columns = count(sum(map(len, names.values())), "column")
    which = ", ".join(f"{why} ({join_names(own, 8)})" for why, own in names.items())
    keeps = f"; use=[NAME] keeps {join_names(usable, 8)}" if usable else ""
    return [f"Left out {n_columns}: {which}{keeps}."]


def _is_polars(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "polars" and hasattr(X, "to_pandas")


def _checked(X: Any) -> Any:
    """Return X as a frame of pandas, and refuse what has no names of its own for the columns."""
    if _is_polars(X):
        X = X.to_pandas()
    if not hasattr(X, "iloc") or not hasattr(X, "columns"):
        library = type(X).__module__.partition(".")[0]
        raise TypeError(
            f"X is a {library} {type(X).__name__}; a ColumnPreparer takes a DataFrame of pandas or "
            "polars, as names and kinds of columns are what it looks at."
        )
    other = [name for name in X.columns if not isinstance(name, str)]
    if other:
        raise ColumnsError(
            f"X has columns whose names are no text: {join_names(other)}; rename them, e.g. with "
            "X.columns = X.columns.astype(str).",
            "X",
        )
    if twice := repeated_names(X.columns):
        raise ColumnsError(
            f"X has names of columns more than once: {join_names(twice)}; rename these.", "X"
        )
    return X
