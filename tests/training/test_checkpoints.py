"""Work that was killed goes on where it was, to the same end; what is damaged is never taken."""

import errno
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from joblib import parallel_config

from groupfs import GroupFSPath
from groupfs.datasets import load_two_moons
from groupfs.training import checkpoints
from groupfs.training import loop as trainer
from groupfs.training import path_runs as _parts
from groupfs.training.checkpoint_content import digest, pack_problem, unpack_problem
from groupfs.training.checkpoints import Checkpoint, Keeper, State, open_checkpoint
from groupfs.utils.atomic_files import OutputError
from tests.support.kill_path import DAMAGES, Disturbance, fingerprints, fitted
from tests.support.problems import prepared
from tests.training.test_loop import task

SETTINGS = {
    "n_groups": [3, 4],
    "sparsities": np.geomspace(0.3, 2.5, 6),
    "n_resamples": 2,
    "max_epochs": 12,
    "random_state": 0,
}


class Killed(BaseException):
    """Stands for a kill where no other process is needed."""


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(100, random_state=0).data


@pytest.fixture(scope="module")
def undisturbed(moons):
    return fingerprints(GroupFSPath(**SETTINGS).fit(moons))


@pytest.fixture
def after_every_epoch(monkeypatch):
    monkeypatch.setattr(checkpoints, "SAVE_EVERY", 0.0)
    monkeypatch.setattr(checkpoints, "SAVE_SHARE", np.inf)
    monkeypatch.setattr("os.fsync", lambda descriptor: None)  # here nothing is lost with the power


def kill_after(n_saves, monkeypatch):
    """Have the process as good as killed after so many files were written."""
    save, count = Checkpoint.save, [0]

    def counted(self, name, state):
        save(self, name, state)
        count[0] += 1
        if count[0] == n_saves:
            raise Killed

    monkeypatch.setattr(Checkpoint, "save", counted)
    return count


def killed_path(folder, moons, n_saves, monkeypatch, **changes):
    with monkeypatch.context() as patch:
        kill_after(n_saves, patch)
        with pytest.raises(Killed):
            GroupFSPath(**{**SETTINGS, **changes}, checkpoint=folder).fit(moons)


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_path_that_is_killed_three_times_ends_as_if_it_had_not_been(tmp_path):
    work = Disturbance(tmp_path, seed=0, max_epochs=20)
    for stage in ("training", "writing", "resamples"):
        assert work.kill_in(stage)
    work.damage("bit flipped")
    work.run_to_the_end()
    assert work.results == [fingerprints(fitted(max_epochs=20))]
    assert not work.unreported()


@pytest.mark.parametrize("n_saves", [1, 2, 7, 14, 40, 60])
def test_wherever_it_was_killed_the_result_is_the_same(
    n_saves, tmp_path, moons, undisturbed, monkeypatch, after_every_epoch
):
    killed_path(tmp_path, moons, n_saves, monkeypatch)
    assert files(tmp_path)
    path = GroupFSPath(**SETTINGS, checkpoint=tmp_path).fit(moons)
    assert fingerprints(path) == undisturbed


def test_finished_parts_are_not_trained_again(tmp_path, moons, monkeypatch, after_every_epoch):
    counts = []
    epochs, run = [], trainer._run_epoch
    monkeypatch.setattr(trainer, "_run_epoch", lambda *a: (epochs.append(1), run(*a)))
    GroupFSPath(**SETTINGS).fit(moons)
    counts.append(len(epochs))
    killed_path(tmp_path, moons, 30, monkeypatch)
    GroupFSPath(**SETTINGS, checkpoint=tmp_path).fit(moons)
    counts.append(len(epochs) - counts[0])
    assert counts[0] == counts[1]


@pytest.mark.parametrize("stop_early", [True, False])
def test_training_goes_on_from_any_epoch_to_the_same_bits(tmp_path, stop_early, after_every_epoch):
    plan = {"stop_early": stop_early, "max_epochs": 90, "batch_size": 10}
    weights, seeds = (0.05, 0.5, 6.0), (4, 9)
    whole = task(np.random.default_rng(0), weights, seeds, torch.float32, **plan)
    expected = trainer.train(*whole, batch_seed=1)
    n_epochs = len(expected.terms)
    assert not stop_early or {len(m) for m in expected.models} != {6}  # some were left out
    checkpoint = open_checkpoint(tmp_path, "0" * 32)
    for last in range(1, n_epochs, 11):
        stopping = StopsAfter(checkpoint, f"until-{last}", last)
        with pytest.raises(Killed):
            trainer.train(
                *task(np.random.default_rng(0), weights, seeds, torch.float32, **plan),
                batch_seed=1,
                keeper=stopping,
            )
        model, *rest = task(np.random.default_rng(0), weights, seeds, torch.float32, **plan)
        keeper = Keeper(checkpoint, f"until-{last}")
        history = trainer.train(model, *rest, batch_seed=1, keeper=keeper)
        for ours, theirs in zip(model.parameters(), whole[0].parameters(), strict=True):
            assert torch.equal(ours, theirs)
        assert history.n_epochs == expected.n_epochs
        for ours, theirs in zip(history.terms, expected.terms, strict=True):
            np.testing.assert_array_equal(ours, theirs)


class StopsAfter(Keeper):
    """A keeper whose process is killed after some epochs."""

    def __init__(self, checkpoint, name, n_epochs):
        super().__init__(checkpoint, name)
        self.left = n_epochs

    def offer(self, take):
        self.left -= 1
        if not self.left:
            super().offer(take)
            raise Killed


def test_what_was_kept_is_gone_when_the_fit_has_ended(tmp_path, moons):
    GroupFSPath(**SETTINGS, checkpoint=tmp_path / "kept").fit(moons)
    assert list((tmp_path / "kept").iterdir()) == []


@pytest.mark.parametrize("damage", [kind for kind in DAMAGES if kind != "left aside"])
def test_a_damaged_checkpoint_is_ignored_with_a_warning_that_names_it(
    damage, tmp_path, moons, undisturbed, monkeypatch, after_every_epoch
):
    killed_path(tmp_path / "kept", moons, 40, monkeypatch)
    work = Disturbance(tmp_path, seed=1)
    work.damage(damage)
    with pytest.warns(UserWarning, match=f"{work.damaged[0]} is damaged and was ignored"):
        path = GroupFSPath(**SETTINGS, checkpoint=tmp_path / "kept").fit(moons)
    assert fingerprints(path) == undisturbed


def test_no_change_of_a_file_goes_unnoticed(tmp_path, rng):
    checkpoint = open_checkpoint(tmp_path, "0" * 32)
    checkpoint.save("a", State({"x": rng.standard_normal(20)}, {"n": 1}))
    path = checkpoint.path("a")
    content = path.read_bytes()
    for _ in range(200):
        damaged = bytearray(content)
        damaged[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with pytest.warns(UserWarning, match="damaged"):
            assert checkpoint.load("a") is None
    path.write_bytes(content)
    assert checkpoint.load("a").facts == {"n": 1}


def test_a_file_that_is_being_written_is_no_checkpoint(tmp_path, moons, undisturbed):
    path = GroupFSPath(**SETTINGS, checkpoint=tmp_path)
    own = checkpoint_of(path, moons)
    own.folder.mkdir()
    (own.folder / ".0123abcd-path-0-0-4.checkpoint").write_bytes(b"half")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fingerprints(path.fit(moons)) == undisturbed
    assert files(tmp_path) == []


def checkpoint_of(path, X):
    """The checkpoint that a path would open."""
    found = []

    def opened(folder, digest):
        found.append(Checkpoint(folder / digest, digest))
        raise Killed

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        patch.setattr("groupfs.estimators.group_fs_path.open_checkpoint", opened)
        path.fit(X)
    return found[0]


def test_nothing_in_a_checkpoint_is_executed(tmp_path):
    checkpoint = open_checkpoint(tmp_path, "0" * 32)
    checkpoint.save("a", State({"x": np.array([Fraction], dtype=object)}))
    with pytest.warns(UserWarning, match="damaged"):
        assert checkpoint.load("a") is None


class Fraction:
    """Anything that only pickle could store."""


@pytest.mark.parametrize(
    "change",
    [{"max_epochs": 11}, {"random_state": 1}, {"sparsities": [0.3, 0.5]}, {"alpha": 0.02}, "table"],
    ids=str,
)
def test_checkpoints_of_another_problem_are_left_alone(
    change, tmp_path, moons, monkeypatch, after_every_epoch
):
    killed_path(tmp_path, moons, 40, monkeypatch)
    before = {path: path.read_bytes() for path in files(tmp_path)}
    X = moons
    if change == "table":
        X, change = moons.copy(), {}
        X[3, 4] += 1e-9
    other = GroupFSPath(**{**SETTINGS, **change})
    with pytest.warns(UserWarning, match="checkpoints of another table or other settings"):
        found = fingerprints(other.set_params(checkpoint=tmp_path).fit(X))
    assert found == fingerprints(other.set_params(checkpoint=None).fit(X))
    assert {path: path.read_bytes() for path in files(tmp_path)} == before


def test_a_path_may_go_on_with_more_hands(
    tmp_path, moons, undisturbed, monkeypatch, after_every_epoch
):
    killed_path(tmp_path, moons, 20, monkeypatch)
    with parallel_config(backend="threading"):
        path = GroupFSPath(**SETTINGS, checkpoint=str(tmp_path), n_jobs=2).fit(moons)
    assert fingerprints(path) == undisturbed


def test_sparse_tables_and_graphs_are_kept_too(tmp_path, moons, monkeypatch, after_every_epoch):
    X = sp.csr_array(np.where(moons > 0, moons, 0))
    settings = {"n_groups": 3, "feature_neighbors": 8}
    expected = fingerprints(GroupFSPath(**{**SETTINGS, **settings}).fit(X))
    killed_path(tmp_path, X, 9, monkeypatch, **settings)
    path = GroupFSPath(**{**SETTINGS, **settings}, checkpoint=tmp_path).fit(X)
    assert fingerprints(path) == expected


@pytest.mark.parametrize("feature_neighbors", ["all", 8])
def test_a_problem_is_kept_without_its_table(moons, feature_neighbors):
    problem = prepared(moons, n_groups=3, feature_neighbors=feature_neighbors)
    state = pack_problem(problem)
    again = unpack_problem(state, problem.table, problem.settings, problem.seeds, problem.device)
    dense = [p.objective.walk.to_dense() for p in (problem, again)]
    assert torch.equal(*dense)
    assert again.objective.walk.layout == problem.objective.walk.layout
    assert again.critical_sparsity_weight == problem.critical_sparsity_weight
    np.testing.assert_array_equal(again.gate_start, problem.gate_start)
    assert max(array.size for array in state.arrays.values()) < moons.size


def test_the_digest_tells_tables_that_are_not_in_memory_apart(moons):
    class Elsewhere:
        """Rows of which only the protocol is known."""

        def __init__(self, rows):
            self.__dict__.update(rows.__dict__, to=rows.to, take=rows.take)

    from dataclasses import replace

    found = []
    for shift in (0, 0, 1e-6):
        X = moons.copy()
        X[7, 3] += shift
        table = prepared(X, n_groups=3).table
        table = replace(table, rows=Elsewhere(table.rows))
        found.append(digest(table, {}, [0], torch.device("cpu")))
    assert found[0] == found[1] != found[2]


def test_ctrl_c_leaves_the_checkpoint_to_go_on_from(
    tmp_path, moons, undisturbed, monkeypatch, after_every_epoch
):
    run, count = trainer._run_epoch, [0]

    def interrupted(*arguments):
        count[0] += 1
        if count[0] == 17:
            raise KeyboardInterrupt
        run(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(trainer, "_run_epoch", interrupted)
        with pytest.warns(UserWarning, match="interrupted after 4 of 12 epochs"):
            early = GroupFSPath(**SETTINGS, checkpoint=tmp_path).fit(moons)
    assert len(early.path_.sparsities) == early.path_.gain.shape[1]
    assert set(early.gains_by_n_groups_) == {3}
    path = GroupFSPath(**SETTINGS, checkpoint=tmp_path).fit(moons)
    assert fingerprints(path) == undisturbed
    assert files(tmp_path) == []


def test_without_a_seed_there_is_nothing_to_go_on_from(tmp_path, moons):
    with pytest.raises(ValueError, match="random_state=None: every fit draws other seeds"):
        GroupFSPath(checkpoint=tmp_path).fit(moons)


def test_a_folder_that_cannot_be_written_is_refused_at_once(tmp_path, moons, monkeypatch):
    monkeypatch.setattr(_parts, "prepare", None)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"checkpoint='.*file': the folder cannot be written"):
        GroupFSPath(checkpoint=tmp_path / "file", random_state=0).fit(moons)


def test_a_disk_that_is_full_costs_the_checkpoint_but_not_the_fit(
    tmp_path, moons, undisturbed, monkeypatch
):
    write, count = checkpoints.write_file, [0]

    def full(*arguments, **settings):
        count[0] += 1
        if count[0] > 2:
            raise OutputError("full") from OSError(errno.ENOSPC, "No space left on device")
        write(*arguments, **settings)

    monkeypatch.setattr(checkpoints, "write_file", full)
    with pytest.warns(UserWarning, match=r"could not be written \(no space left on device\)"):
        path = GroupFSPath(**SETTINGS, checkpoint=tmp_path).fit(moons)
    assert fingerprints(path) == undisturbed
