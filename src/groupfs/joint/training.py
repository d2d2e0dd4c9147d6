"""Train the models of a problem, and judge what came out.

Axes: S seeds, P sparsity weights, d features, C groups.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from groupfs.discovery.smoothness import SCORED_ROWS
from groupfs.joint.loop import History, train
from groupfs.joint.problem import Problem
from groupfs.joint.relaxations import NoiseSource
from groupfs.utils.types import FloatArray

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
    histories: list[History]  #: of all seeds, one per weight

    def records(self, seed: int, weight: int, smoothness_weight: float) -> list[dict[str, Any]]:
        """Return the history of one model."""
        weights = (1.0, smoothness_weight, float(self.sparsity_weights[weight]))
        return self.histories[weight].records(seed, weights)


def train_models(problem: Problem, sparsity_weights: FloatArray) -> Trained:
    """Train every seed of the problem at every weight, as many side by side as pay."""
    S, d = len(problem.seeds), problem.table.rows.shape[1]
    at_once = max(1, MODELS_OF_A_RUN // max(S, 2))
    if problem.device.type != "cpu":
        at_once = max(1, RUN_ENTRIES // (S * d * problem.n_groups))
    runs: list[Trained] = []
    for weights in np.array_split(sparsity_weights, -(-len(sparsity_weights) // at_once)):
        runs.append(_train_run(problem, weights))
        if runs[-1].histories[0].interrupted:
            break
    over_weights = ("logits", "gates", "loss", "gain", "terms")
    return Trained(
        sparsity_weights=np.concatenate([run.sparsity_weights for run in runs]),
        histories=[history for run in runs for history in run.histories],
        **{name: np.hstack([getattr(run, name) for run in runs]) for name in over_weights},
    )


@torch.no_grad()
def _train_run(problem: Problem, sparsity_weights: FloatArray) -> Trained:
    """Train every seed of the problem at every weight, side by side."""
    settings, S, P = problem.settings, len(problem.seeds), len(sparsity_weights)
    models = problem.models(sparsity_weights)
    history = train(
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
    logits = models.logits.cpu().numpy()
    return Trained(
        sparsity_weights=sparsity_weights,
        logits=logits.reshape(S, P, *logits.shape[1:]),
        gates=models.mu.double().cpu().numpy().reshape(S, P, -1),
        loss=loss.double().cpu().numpy().reshape(S, P),
        gain=gain.double().cpu().numpy().reshape(S, P),
        terms=history.last_terms.reshape(S, P, 3),
        histories=[history.every(weight, P) for weight in range(P)],
    )
