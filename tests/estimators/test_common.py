"""scikit-learn's own checks, all of them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from groupfs import FeatureGroups, GroupFS, GroupFSPath


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(
    [
        FeatureGroups(random_state=0),
        GroupFS(random_state=0, max_epochs=20),
        GroupFSPath(sparsities=[0.5, 1.0], n_init=1, max_epochs=10),
    ]
)
def test_sklearn_compatible_estimator(estimator, check):
    check(estimator)
