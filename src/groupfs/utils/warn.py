"""Warn at the line of the user's code that led here, under classes that can be told apart."""

import inspect
import warnings

#: Frames of these packages are passed over: a user can change nothing there.
PASSED_OVER = ("groupfs", "sklearn", "joblib", "torch", "contextlib")


class ConstantColumnsWarning(UserWarning):
    """Columns that do not vary were left out."""


class ColumnsWarning(UserWarning):
    """Columns of a table hold values that may not be meant as they are taken."""


class InterruptedTrainingWarning(UserWarning):
    """Training was ended by Ctrl-C; results are those reached so far."""


class SelectionWarning(UserWarning):
    """A rule of the selection had to be relaxed, or gave less than was asked for."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the line outside this package that called it."""
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_globals.get("__name__", "").split(".")[0] in PASSED_OVER:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
