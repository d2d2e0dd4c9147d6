"""The path: its choice of a model, and what it says of the groups along the sparsities."""

import numpy as np
import pytest

from groupfs import GroupFSPath
from groupfs.datasets import load_two_moons
from groupfs.joint.path import transition
from groupfs.joint.training import Trained
from groupfs.metrics import relevant_group_similarity, selection_rates
from groupfs.utils.errors import ParameterError
from groupfs.utils.warn import InterruptedTrainingWarning, SelectionWarning
from tests.support.interrupt import interrupted_after


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(200, random_state=0)


@pytest.fixture(scope="module")
def fitted(moons):
    return GroupFSPath(random_state=0).fit(moons.data)


@pytest.mark.slow
def test_default_path_finds_both_groups_over_more_than_threefold_sparsity(moons, fitted):
    assert fitted.path_.gain.shape == (2, 24)
    frequency = fitted.path_.selection_frequency
    right = (frequency[:, :10] == 1).all(1) & (frequency[:, 10:] == 0).all(1)
    sparsities = fitted.path_.sparsities[right]
    assert sparsities.max() / sparsities.min() >= 3
    assert selection_rates(range(10), fitted.get_support(indices=True)) == (1.0, 0.0)
    assert relevant_group_similarity(moons.groups, fitted.groups_) == 1.0


def test_the_chosen_model_has_the_largest_gain(fitted):
    seed, index = fitted.path_.chosen
    assert fitted.path_.gain[seed, index] == fitted.path_.gain.max() == fitted.gain_
    assert fitted.sparsity_ == fitted.path_.sparsities[index]
    weight = fitted.sparsity_ * fitted.critical_sparsity_weight_
    assert fitted.sparsity_weight_ == pytest.approx(weight)
    np.testing.assert_allclose(fitted.path_.gates[seed, index], fitted.group_gates_)
    last = fitted.history_[-1]
    names = ("L_s", "L_f", "L_reg")
    np.testing.assert_allclose(fitted.path_.terms[seed, index], [last[name] for name in names])


@pytest.mark.slow
def test_the_paper_sweeps_from_all_open_to_all_shut_and_takes_the_lowest_loss_between(moons):
    with pytest.warns(SelectionWarning, match="no lower loss"):
        swept = GroupFSPath(preset="paper", random_state=0).fit(moons.data[:100])
    n_open = swept.path_.is_open.sum(-1)
    assert len(swept.path_.sparsities) == 40 and swept.n_groups_ == 12
    assert (n_open[:, 0] == 12).all() and (n_open[:, -1] == 0).all()
    between = (n_open > 0) & (n_open < 12)
    assert swept.loss_ == swept.path_.loss[between].min()
    assert swept.path_.loss[n_open == 0].min() > swept.loss_  # at a higher weight each
    right = np.unravel_index(swept.path_.gain.argmax(), swept.path_.gain.shape)
    assert swept.path_.gain[right] > 0 >= swept.gain_ and n_open[right] == 2


def trained_with(shares):
    """Models of one seed, whose gates let these shares of two features through."""
    gates = np.array([[[share > 0, share == 1] for share in shares]], dtype=float)
    logits = np.broadcast_to(np.eye(2), (1, len(shares), 2, 2))
    sparsities, nothing = np.linspace(0.5, 2, len(shares)), np.zeros((1, len(shares)))
    return Trained(sparsities, sparsities, logits, logits, gates, nothing, nothing, [])


@pytest.mark.parametrize(
    ("shares", "ends"),
    [
        ([1, 1, 0.5, 0], (1.0, 2.0)),
        ([0.5, 0.5, 0, 0], (0.5, 1.5)),  # never all open
        ([1, 1, 1, 1], (0.5, 2.0)),  # no change was seen
        ([0, 0, 0, 0], (0.5, 2.0)),
    ],
)
def test_the_sweep_begins_where_all_is_open_and_ends_where_all_is_shut(shares, ends):
    swept = transition(trained_with(shares))
    assert (swept[0], swept[-1], len(swept)) == (*ends, 40)


def test_ctrl_c_before_the_sweep_ends_the_path(moons):
    path = GroupFSPath(preset="paper", n_groups=3, max_epochs=10**6, random_state=0, verbose=1)
    with (
        pytest.warns(InterruptedTrainingWarning),
        interrupted_after(1),
    ):
        path.fit(moons.data[:100])
    assert len(path.path_.sparsities) == 4 and path.path_.sparsities[0] == 0.5


@pytest.mark.parametrize("wrong", [[], [0.0, 1.0], [-1.0], [np.inf]])
def test_sparsities_must_be_positive(moons, wrong):
    with pytest.raises(ParameterError, match="sparsities=.*must be positive") as error:
        GroupFSPath(sparsities=wrong).fit(moons.data)
    assert error.value.parameter == "sparsities"


def test_ctrl_c_keeps_the_part_of_the_path_that_was_trained(moons):
    path = GroupFSPath(
        n_groups=3, max_epochs=10**6, early_stopping=False, random_state=0, verbose=1
    )
    with (
        pytest.warns(InterruptedTrainingWarning),
        interrupted_after(1),
    ):
        path.fit(moons.data)
    assert path.path_.gain.shape == (2, 4) and len(path.path_.sparsities) == 4
    assert path.transform(moons.data).shape[1] > 0
