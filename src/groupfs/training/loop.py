"""The training loop: epochs, temperature, history, progress."""

import time

import numpy as np
import torch
from tqdm import tqdm

from groupfs.data.rows import Rows
from groupfs.models.gated_model import GatedModel
from groupfs.models.noise import NoiseSource
from groupfs.models.objective import OPEN, Objective
from groupfs.models.relaxations import temperature
from groupfs.training.active_models import ActiveModels
from groupfs.training.history import History, Recorder
from groupfs.training.row_pool import RowPool
from groupfs.training.step import Schedule
from groupfs.utils.device import working_on
from groupfs.utils.warn import InterruptedTrainingWarning, warn


@torch.no_grad()
def train(
    model: GatedModel,
    objective: Objective,
    rows: Rows | RowPool,
    schedule: Schedule,
    noise: NoiseSource,
    batch_seed: int,
    verbose: bool = False,
    name: str = "GroupFS",
) -> tuple[History, bool]:
    """Train all models in place, each until it has settled, whatever the others do.

    Ctrl-C ends training after the first epoch with a warning; the second result says whether it
    did.
    """
    interrupted = False
    with working_on(model.mu.device):
        recorder, batches = Recorder(), np.random.default_rng(batch_seed)
        models = ActiveModels(model, objective, rows, schedule, noise)
        with tqdm(total=schedule.max_epochs, desc=name, unit="epoch", disable=not verbose) as bar:
            try:
                for epoch in range(schedule.max_epochs):
                    _run_epoch(models, epoch, schedule, batches, recorder)
                    if verbose:
                        bar.set_postfix(_state(models, objective, recorder), refresh=False)
                    bar.update()
                    check = schedule.stop_early and (epoch + 1) % schedule.check_every == 0
                    if check and models.stop_settled(recorder):
                        break
            except KeyboardInterrupt:
                if not len(recorder):
                    raise
                interrupted = True
                warn(
                    f"Training was interrupted after {len(recorder)} of {schedule.max_epochs} "
                    "epochs; groups and gates are those reached so far.",
                    InterruptedTrainingWarning,
                )
        models.write_back_rest()
        return recorder.history(len(model)), interrupted


def _run_epoch(
    models: ActiveModels,
    epoch: int,
    schedule: Schedule,
    batches: np.random.Generator,
    recorder: Recorder,
) -> None:
    began = time.perf_counter()
    step = models.step
    T = temperature(
        epoch, schedule.max_epochs, schedule.start_temperature, schedule.end_temperature
    )
    step.temperature.fill_(T)
    step.terms.zero_()
    n_steps = step.epoch(batches)
    recorder.models.append(models.index)
    recorder.gates.append(step.model.mu.clone() if schedule.record_gates else step.model.mu[:, :0])
    recorder.temperature.append(T)
    recorder.seconds.append(time.perf_counter() - began)
    recorder.terms.append(step.terms / n_steps)


def _state(models: ActiveModels, objective: Objective, recorder: Recorder) -> dict[str, str]:
    """Describe the last epoch: loss of the best model, open gates on average."""
    loss = models.model.total(objective, recorder.terms[-1])
    n_open = (models.model.mu > OPEN).sum(-1).double().mean()
    return {"loss": f"{float(loss.min()):.4f}", "open_gates": f"{float(n_open):.1f}"}
