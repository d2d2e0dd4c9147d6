"""A fit that was killed goes on with the next part, to the same end; damage is never taken."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config

from groupfs import GroupFSPath
from groupfs.data.open_table import open_table
from groupfs.datasets import load_two_moons
from groupfs.training.checkpoints import (
    fingerprint,
    open_checkpoint,
)
from groupfs.training.path_runs import train_path
from groupfs.utils.atomic_files import OutputError
from groupfs.utils.errors import ParameterError
from groupfs.utils.warn import CheckpointWarning, InterruptedTrainingWarning
from tests.support.fingerprints import fingerprints
from tests.support.interrupt import epochs_shown, interrupt_when
from tests.support.kill_path import DAMAGES, Disturbance, damage, fitted, kept_files
from tests.support.problems import CPU, prepared

#: A path of three parts, each of which takes a while, and two resamples.
SETTINGS = {
    "n_groups": 3,
    "sparsities": np.geomspace(0.3, 2.5, 9),
    "n_resamples": 2,
    "max_epochs": 200,
    "early_stopping": False,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(100, random_state=0).data


@pytest.fixture(scope="module")
def problem(moons):
    return prepared(moons, n_groups=3, n_init=2, max_epochs=5, learn_memberships=True, verbose=1)


def train_parts(problem, checkpoint):
    weights = problem.critical_sparsity_weight * np.geomspace(0.3, 2.5, 9)
    return train_path(problem, weights, None, [CPU], checkpoint, "path-0")


@pytest.mark.slow
def test_a_path_that_is_killed_three_times_ends_as_if_it_had_not_been(tmp_path):
    work = Disturbance(tmp_path, seed=0, max_epochs=20)
    for stage in ("training", "writing", "resamples"):
        work.run(stage)
        work.damage_one("bit flipped")
    work.run()
    expected = fingerprints(fitted(max_epochs=20))
    assert work.kills and all(result == expected for result in work.results)
    assert not work.unreported()


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_ctrl_c_leaves_the_finished_parts_to_go_on_from(n_jobs, tmp_path, moons, capsys):
    undisturbed = fingerprints(GroupFSPath(**SETTINGS).fit(moons))
    path = GroupFSPath(**SETTINGS, checkpoint=tmp_path, verbose=1)
    with (
        pytest.warns(InterruptedTrainingWarning),
        interrupt_when(lambda epochs: len(epochs) == 2 and epochs[1] > 0),
    ):
        path.fit(moons)
    assert path.path_.gain.shape[1] == len(path.path_.sparsities) < 9
    assert [file.name for file in kept_files(tmp_path)] == ["path-0-0-3.checkpoint"]
    with parallel_config(backend="threading"):
        path.set_params(n_jobs=n_jobs).fit(moons)
    assert len(epochs_shown(capsys.readouterr().err)) == 2  # parts that were trained
    assert fingerprints(path) == undisturbed
    assert list(tmp_path.iterdir()) == []


def test_only_parts_that_are_not_there_are_trained(tmp_path, problem, capsys):
    checkpoint = open_checkpoint(tmp_path, "0" * 32)
    whole = train_parts(problem, checkpoint)
    assert len(epochs_shown(capsys.readouterr().err)) == 3 == len(kept_files(tmp_path))
    kept_files(tmp_path)[1].unlink()
    again = train_parts(problem, checkpoint)
    assert len(epochs_shown(capsys.readouterr().err)) == 1
    for name in ("sparsity_weights", "logits", "gates", "loss", "gain", "terms"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))
    for seed, weight in ((0, 0), (1, 4), (1, 8)):
        ours, theirs = (run.records(seed, weight, 1.0)[-1]["loss"] for run in (again, whole))
        assert ours == theirs


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_part_is_trained_again_with_a_warning_that_names_it(kind, tmp_path, problem, rng):
    checkpoint = open_checkpoint(tmp_path, "0" * 32)
    whole = train_parts(problem, checkpoint)
    path = kept_files(tmp_path)[1]
    damage(path, kind, rng)
    with pytest.warns(CheckpointWarning, match=f"{re.escape(str(path))} cannot be used"):
        again = train_parts(problem, checkpoint)
    np.testing.assert_array_equal(again.gates, whole.gates)


def test_no_change_of_a_file_goes_unnoticed(tmp_path, rng):
    checkpoint = open_checkpoint(tmp_path, "0" * 32)
    checkpoint.save("a", {"x": rng.standard_normal(20)})
    (path,) = kept_files(tmp_path)
    content = path.read_bytes()
    for _ in range(200):
        damage(path, "bit flipped", rng)
        with pytest.warns(CheckpointWarning, match="damaged"):
            assert checkpoint.load("a") is None
        path.write_bytes(content)
    assert checkpoint.load("a")["x"].shape == (20,)


def test_parts_of_another_fit_and_half_written_ones_are_not_taken(tmp_path, rng):
    theirs = open_checkpoint(tmp_path, "1" * 32)
    theirs.save("a", {"x": np.ones(3)})
    with pytest.warns(CheckpointWarning, match="holds checkpoints of another table or other"):
        own = open_checkpoint(tmp_path, "0" * 32)
    (own.folder / ".0123abcd-a.checkpoint").write_bytes(b"half")
    assert own.load("a") is None
    (path,) = kept_files(tmp_path)
    (own.folder / path.name).write_bytes(path.read_bytes())
    with pytest.warns(CheckpointWarning, match="damaged"):
        assert own.load("a") is None
    own.remove()
    assert [file.parent for file in kept_files(tmp_path)] == [theirs.folder]


class Anything:
    """What only pickle could store."""


def test_nothing_in_a_checkpoint_is_executed(tmp_path):
    checkpoint = open_checkpoint(tmp_path, "0" * 32)
    checkpoint.save("a", {"x": np.array([Anything()], dtype=object)})
    with pytest.warns(CheckpointWarning, match="cannot be used"):
        assert checkpoint.load("a") is None


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_fingerprints_tell_tables_and_settings_apart(kind, moons):
    def name_of(X, facts=(), **parameters):
        path = GroupFSPath(**parameters)
        table = open_table(path, kind(X), path.standardize)
        return fingerprint(table, path._settings(table), dict(facts), CPU)

    positive = np.maximum(moons, 0)
    nudged = positive.copy()
    nudged[3, positive[3].argmax()] += 1e-9
    names = [
        name_of(positive),
        name_of(nudged),
        name_of(positive[:, ::-1]),
        name_of(positive, max_epochs=11),
        name_of(positive, alpha=0.02),
        name_of(positive, {"seeds": [1]}),
    ]
    assert len(set(names)) == len(names) and all(len(name) == 32 for name in names)
    assert name_of(positive.copy(), verbose=1) == names[0]


def test_without_a_seed_there_is_nothing_to_go_on_from(tmp_path, moons):
    with pytest.raises(ParameterError, match="random_state=None: every fit draws other") as error:
        GroupFSPath(checkpoint=tmp_path).fit(moons)
    assert error.value.parameter == "checkpoint"


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, moons):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"checkpoint='.*file': the folder cannot be written"):
        GroupFSPath(checkpoint=tmp_path / "file", random_state=0).fit(moons)


def test_a_part_that_cannot_be_written_is_no_reason_to_stop(tmp_path):
    checkpoint = open_checkpoint(tmp_path, "0" * 32)
    checkpoint.remove()
    checkpoint.folder.write_text("in the way")
    with pytest.warns(CheckpointWarning, match="could not be written .* the fit goes on"):
        checkpoint.save("a", {"x": np.ones(3)})
