"""The parts of scikit-learn that are not public: a new version of it breaks this file alone."""

from dataclasses import field
from numbers import Integral, Real
from typing import Any

from sklearn import base
from sklearn.utils import _param_validation, validation

fit_context = base._fit_context
#: Checks parameters before a fit.
checked = fit_context(prefer_skip_nested_validation=True)
check_feature_names = validation._check_feature_names
check_feature_names_in = validation._check_feature_names_in
check_n_features = validation._check_n_features
validate_parameter_constraints = _param_validation.validate_parameter_constraints
HasMethods, Interval = _param_validation.HasMethods, _param_validation.Interval
StrOptions = _param_validation.StrOptions

#: Usual constraints of parameters.
COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
SHARE = Interval(Real, 0, 1, closed="neither")


def parameter(default: Any, *allowed: Any) -> Any:
    """Declare a parameter of an estimator that is a dataclass: its default, and constraints.

    A set of words allows each of them.
    """
    constraints = [StrOptions(one) if isinstance(one, set) else one for one in allowed]
    return field(default=default, metadata={"allowed": constraints})
