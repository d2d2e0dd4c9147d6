"""Train the models of a problem: epochs, temperature, history, progress.

Axes: S seeds, P sparsity weights, d features, C groups.
"""

import time
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from groupfs.data.table import Rows
from groupfs.discovery.smoothness import SCORED_ROWS
from groupfs.groups import OPEN
from groupfs.joint.active_models import CHECK_EVERY, ActiveModels
from groupfs.joint.history import Epoch, EpochRecord, History
from groupfs.joint.model import GatedModel
from groupfs.joint.noise import NoiseSource
from groupfs.joint.objective import Objective
from groupfs.joint.problem import Problem
from groupfs.joint.settings import Schedule
from groupfs.utils.device import working_on
from groupfs.utils.types import FloatArray
from groupfs.utils.warn import InterruptedTrainingWarning, warn

#: Models that are trained side by side on the CPU, where more gain nothing. How sums round depends
#: on the models beside, so the number is the same whatever the machine.
MODELS_OF_A_RUN = 8
#: Memberships of all models of a run on other devices, at most (1 GB).
RUN_ENTRIES = 2**28


@dataclass
class Trained:
    """Models of every seed at every weight, as they are after training."""

    sparsity_weights: FloatArray  #: (P,)
    logits: NDArray[np.float32]  #: of the memberships, (S, P, d, C)
    gates: FloatArray  #: (S, P, C)
    loss: FloatArray  #: without noise, (S, P)
    gain: FloatArray  #: over the better of the two trivial models, (S, P)
    terms: FloatArray  #: of the loss in the last epoch, unweighted, (S, P, 3)
    histories: list[History]  #: one per run; runs divide the weights among them in order
    interrupted: bool  #: whether Ctrl-C ended the training of some of the models

    @classmethod
    def joined(cls, runs: "list[Trained]") -> "Trained":
        """Put runs over different sparsity weights together."""
        over_weights = {
            name: np.concatenate([getattr(run, name) for run in runs], axis=1)
            for name in ("logits", "gates", "loss", "gain", "terms")
        }
        return cls(
            sparsity_weights=np.concatenate([run.sparsity_weights for run in runs]),
            histories=[history for run in runs for history in run.histories],
            interrupted=any(run.interrupted for run in runs),
            **over_weights,
        )

    def records(self, seed: int, weight: int, smoothness_weight: float) -> list[EpochRecord]:
        """Return the history of one model."""
        S = len(self.gain)
        sizes = [len(history.n_epochs) // S for history in self.histories]
        ends = np.cumsum(sizes)
        run = int(np.searchsorted(ends, weight, side="right"))
        model = seed * sizes[run] + weight - int(ends[run] - sizes[run])
        weights = (1.0, smoothness_weight, float(self.sparsity_weights[weight]))
        return self.histories[run].records(model, weights)


def train_models(problem: Problem, sparsity_weights: FloatArray) -> Trained:
    """Train every seed of the problem at every weight, as many side by side as pay."""
    S, d = len(problem.seeds), problem.table.rows.shape[1]
    at_once = max(1, MODELS_OF_A_RUN // max(S, 2))
    if problem.device.type != "cpu":
        at_once = max(1, RUN_ENTRIES // (S * d * problem.n_groups))
    n_runs = -(-len(sparsity_weights) // at_once)
    runs: list[Trained] = []
    for weights in np.array_split(sparsity_weights, n_runs):
        runs.append(_train_run(problem, weights))
        if runs[-1].interrupted:
            break
    return Trained.joined(runs)


@torch.no_grad()
def _train_run(problem: Problem, sparsity_weights: FloatArray) -> Trained:
    """Train every seed of the problem at every weight, side by side."""
    settings, S, P = problem.settings, len(problem.seeds), len(sparsity_weights)
    models = problem.models(sparsity_weights)
    history, interrupted = train(
        models,
        problem.objective,
        problem.table.rows,
        settings,
        NoiseSource(problem.seeds, settings.gate_noise, problem.device),
        batch_seed=problem.seeds[0],
        verbose=settings.verbose,
    )
    rng = np.random.default_rng(problem.seeds[0])
    judged = problem.table.rows.random_rows(SCORED_ROWS, rng)
    gain, loss = models.gain_and_loss(problem.objective, judged)
    logits = models.memberships.logits.cpu().numpy()
    return Trained(
        sparsity_weights=sparsity_weights,
        logits=logits.reshape(S, P, *logits.shape[1:]),
        gates=models.mu.double().cpu().numpy().reshape(S, P, -1),
        loss=loss.double().cpu().numpy().reshape(S, P),
        gain=gain.double().cpu().numpy().reshape(S, P),
        terms=history.last_terms.reshape(S, P, 3),
        histories=[history],
        interrupted=interrupted,
    )


@torch.no_grad()
def train(
    model: GatedModel,
    objective: Objective,
    rows: Rows,
    schedule: Schedule,
    noise: NoiseSource,
    batch_seed: int,
    verbose: bool = False,
    name: str = "GroupFS",
) -> tuple[History, bool]:
    """Train all models in place, each until it has converged, whatever the others do.

    Ctrl-C ends training after the first epoch with a warning; the second result says whether it
    did.
    """
    interrupted = False
    epochs: list[Epoch] = []
    with working_on(model.mu.device):
        batches = np.random.default_rng(batch_seed)
        models = ActiveModels(model, objective, rows, schedule, noise)
        with tqdm(total=schedule.max_epochs, desc=name, unit="epoch", disable=not verbose) as bar:
            try:
                for epoch in range(schedule.max_epochs):
                    epochs.append(_run_epoch(models, epoch, schedule, batches))
                    if verbose:
                        bar.set_postfix(_state(models, objective), refresh=False)
                    bar.update()
                    check = schedule.stop_early and (epoch + 1) % CHECK_EVERY == 0
                    if check and models.stop_converged(len(epochs)):
                        break
            except KeyboardInterrupt:
                if not epochs:
                    raise
                interrupted = True
                warn(
                    f"Training was interrupted after {len(epochs)} of {schedule.max_epochs} "
                    "epochs; groups and gates are those reached so far.",
                    InterruptedTrainingWarning,
                )
        models.write_back_rest(len(epochs))
        return History.of(epochs, models.n_epochs), interrupted


def _run_epoch(
    models: ActiveModels, epoch: int, schedule: Schedule, batches: np.random.Generator
) -> Epoch:
    began = time.perf_counter()
    step = models.step
    T = temperature(
        epoch, schedule.max_epochs, schedule.start_temperature, schedule.end_temperature
    )
    step.temperature.fill_(T)
    step.terms.zero_()
    n_steps = step.epoch(batches)
    gates = step.model.mu if schedule.record_gates else step.model.mu[:, :0]
    seconds = time.perf_counter() - began
    return Epoch(models.among_all(step.terms / n_steps), models.among_all(gates), T, seconds)


def _state(models: ActiveModels, objective: Objective) -> dict[str, str]:
    """Describe the last epoch: loss of the best model, open gates on average."""
    step = models.step
    loss = step.model.total(objective, step.terms / step.steps_per_epoch)
    n_open = (step.model.mu > OPEN).sum(-1).double().mean()
    return {"loss": f"{float(loss.min()):.4f}", "open_gates": f"{float(n_open):.1f}"}


def temperature(epoch: int, n_epochs: int, start: float, end: float) -> float:
    """Lower the temperature linearly from ``start`` at epoch 0 and never below ``end``."""
    return max(end, start - (start - end) * epoch / n_epochs)
