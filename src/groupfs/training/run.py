"""Train the models of a problem: every seed at every sparsity weight, side by side.

Axes: S seeds, P sparsity weights, d features, C groups, k candidate groups of a feature.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from groupfs.models.noise import NoiseSource
from groupfs.scoring.excess import SCORED_ROWS
from groupfs.training.history import EpochRecord, History
from groupfs.training.loop import train
from groupfs.training.problem import Problem
from groupfs.training.step import Schedule
from groupfs.utils.types import FloatArray


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


def train_models(problem: Problem, sparsity_weights: FloatArray, name: str = "GroupFS") -> Trained:
    """Train every seed of the problem at every weight, side by side."""
    settings, objective = problem.settings, problem.objective
    S, P = len(problem.seeds), len(sparsity_weights)
    models = problem.models(sparsity_weights)
    history, interrupted = train(
        models,
        objective,
        problem.table.rows,
        Schedule(
            max_epochs=settings.max_epochs,
            batch_size=settings.batch_size,
            learning_rate=settings.learning_rate,
            start_temperature=settings.start_temperature,
            end_temperature=settings.end_temperature,
            stop_early=settings.early_stopping,
            steps_per_epoch=settings.steps_per_epoch,
        ),
        NoiseSource(problem.seeds, settings.gate_noise, problem.device),
        batch_seed=problem.seeds[0],
        verbose=settings.verbose,
        name=name,
    )
    X = problem.table.rows.random_rows(SCORED_ROWS, np.random.default_rng(problem.seeds[0]))
    with torch.no_grad():
        gain, loss = models.gain_and_loss(objective, X)
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
