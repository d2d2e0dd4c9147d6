"""Ctrl-C after a number of epochs."""

from contextlib import contextmanager
from unittest.mock import patch

from groupfs.joint.step import TrainStep


@contextmanager
def interrupted_after(n_epochs):
    """Raise KeyboardInterrupt where training would begin the epoch after the first few."""
    seen, epoch = [], TrainStep.epoch

    def run(step, batches):
        if len(seen) == n_epochs:
            raise KeyboardInterrupt
        seen.append(step)
        epoch(step, batches)

    with patch.object(TrainStep, "epoch", run):
        yield
