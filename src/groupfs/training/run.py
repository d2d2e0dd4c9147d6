"""Train the models of a problem: every seed at every sparsity weight, side by side.

Axes: S seeds, P sparsity weights, d features, C groups, k candidate groups of a feature.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.models.gated_model import GatedModel
from groupfs.models.noise import NoiseSource
from groupfs.scoring.excess import SCORED_ROWS
from groupfs.training.early_stopping import CHECK_EVERY
from groupfs.training.history import EpochRecord, History
from groupfs.training.loop import train
from groupfs.training.problem import Problem, starting_memberships
from groupfs.training.row_pool import RowPool
from groupfs.training.step import Schedule
from groupfs.utils.device import DTYPE
from groupfs.utils.types import FloatArray

CPU = torch.device("cpu")


@dataclass
class Trained:
    """Models of every seed at every weight, as they are after training."""

    sparsity_weights: FloatArray  #: (P,)
    logits: NDArray[np.float32]  #: of the memberships, (S, P, d, C), or k with candidates
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

    def best_seed(self, weight: int) -> int:
        """Find the seed with the largest gain at one weight."""
        return int(np.argmax(self.gain[:, weight]))

    def records(self, seed: int, weight: int, smoothness_weight: float) -> list[EpochRecord]:
        """Return the history of one model."""
        S = len(self.gain)
        sizes = [len(history.n_epochs) // S for history in self.histories]
        ends = np.cumsum(sizes)
        run = int(np.searchsorted(ends, weight, side="right"))
        model = seed * sizes[run] + weight - int(ends[run] - sizes[run])
        weights = (1.0, smoothness_weight, float(self.sparsity_weights[weight]))
        return self.histories[run].records(model, weights)


@torch.no_grad()
def _gain_and_loss(problem: Problem, models: GatedModel) -> Tensor:
    """Average gain and loss of models over the pool, or measure them on some rows, (2, R)."""
    pool, rows = problem.pool, problem.table.rows
    if pool is None:
        pool = RowPool([rows.random_rows(SCORED_ROWS, np.random.default_rng(problem.seeds[0]))])
    found = [torch.stack(models.gain_and_loss(problem.objective, batch)) for batch in pool]
    return torch.stack(found).mean(0)


def _logits(problem: Problem, models: GatedModel, P: int) -> NDArray[np.float32]:
    """Return the logits of the memberships, (S, P, d, C or k)."""
    S = len(problem.seeds)
    if problem.start.fixed:
        memberships = starting_memberships(problem.start, problem.seeds).to(CPU, DTYPE)
        logits = memberships.logits[:, None].numpy()
        return np.broadcast_to(logits, (S, P, *logits.shape[2:]))
    logits = models.memberships.logits.cpu().numpy()
    return logits.reshape(S, P, *logits.shape[1:])


def train_models(problem: Problem, sparsity_weights: FloatArray, name: str = "GroupFS") -> Trained:
    """Train every seed of the problem at every weight, side by side."""
    settings, objective = problem.settings, problem.objective
    S, P = len(problem.seeds), len(sparsity_weights)
    models = problem.models(sparsity_weights)
    rows = problem.table.rows
    history, interrupted = train(
        models,
        objective,
        problem.pool or rows,
        Schedule(
            max_epochs=settings.max_epochs,
            batch_size=settings.batch_size,
            learning_rate=settings.learning_rate,
            start_temperature=settings.start_temperature,
            end_temperature=settings.end_temperature,
            stop_early=settings.early_stopping,
            steps_per_epoch=settings.steps_per_epoch,
            check_every=CHECK_EVERY
            if problem.pool is None
            else -(-CHECK_EVERY // len(problem.pool)),
        ),
        NoiseSource(problem.seeds, settings.gate_noise, problem.device),
        batch_seed=problem.seeds[0],
        verbose=settings.verbose,
        name=name,
    )
    gain, loss = _gain_and_loss(problem, models)
    return Trained(
        sparsity_weights=sparsity_weights,
        logits=_logits(problem, models, P),
        gates=models.mu.double().cpu().numpy().reshape(S, P, -1),
        loss=loss.double().cpu().numpy().reshape(S, P),
        gain=gain.double().cpu().numpy().reshape(S, P),
        terms=history.last_terms.reshape(S, P, 3),
        histories=[history],
        interrupted=interrupted,
    )
