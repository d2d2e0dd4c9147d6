"""The parts of scikit-learn that are not public: a new version of it breaks this file alone."""

from numbers import Integral, Real

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
    "validate_parameter_constraints",
]

#: Usual constraints of parameters.
COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
