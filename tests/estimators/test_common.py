"""scikit-learn's own checks, all of them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from groupfs import GroupFS, GroupFSPath


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks([GroupFS(random_state=0), GroupFSPath(sparsities=[0.5, 1.0], n_init=1)])
def test_sklearn_compatible_estimator(estimator, check):
    check(estimator)
