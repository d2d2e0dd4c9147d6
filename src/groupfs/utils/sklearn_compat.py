"""The parts of scikit-learn that are not public: a new version of it breaks this file alone."""

from contextlib import suppress
from numbers import Integral, Real
from typing import Any

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in

__all__ = [
    "COUNT",
    "HasMethods",
    "Interval",
    "NOT_NEGATIVE",
    "POSITIVE",
    "RealNotInt",
    "StrOptions",
    "check_feature_names",
    "check_feature_names_in",
    "fit_context",
    "single_block",
    "validate_parameter_constraints",
]

#: Usual constraints of parameters.
COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


def single_block(estimator: Any, caption: str | None) -> Any:
    """Make the block that the HTML diagram draws for an estimator, with words under its name."""
    try:
        from sklearn.utils._repr_html.estimator import _VisualBlock  # since 1.7
    except ImportError:
        from sklearn.utils._estimator_html_repr import _VisualBlock
    block = _VisualBlock(
        "single", estimator, names=type(estimator).__name__, name_details=str(estimator)
    )
    with suppress(AttributeError):
        block.name_caption = caption
    return block
