"""A path shared by devices, and one that goes on there, beside the path of one device.

``python -m tests.support.two_devices cuda:0 cuda:1`` (or cuda:0 twice) prints whether all agree to
the last bit. With as many parts as there are devices on either side, they should.
"""

import sys
import tempfile
from unittest.mock import patch

import numpy as np
import torch

from groupfs.datasets import load_two_moons
from groupfs.training.checkpoints import open_checkpoint
from groupfs.training.path_runs import train_path
from tests.support.kill_path import kept_files
from tests.support.problems import prepared


def main():
    devices = [torch.device(name) for name in sys.argv[1:]] or [torch.device("cpu")] * 2
    X = load_two_moons(1000, random_state=0).data
    problem = prepared(X, n_groups=12, n_init=2, max_epochs=40).on(devices[0])
    weights = problem.critical_sparsity_weight * np.geomspace(0.25, 3, 24)
    with (
        tempfile.TemporaryDirectory() as folder,
        patch("groupfs.training.path_runs._number_of_parts", lambda *sizes: 2),
    ):
        checkpoint = open_checkpoint(folder, "0" * 32)
        one = train_path(problem, weights, None, devices[:1], None, "path")
        for name in ("shared", "resumed"):
            found = train_path(problem, weights, None, devices, checkpoint, "path")
            same = np.array_equal(found.gates, one.gates) and np.array_equal(found.loss, one.loss)
            print(f"{name} by {[str(d) for d in devices]}: identical to one device: {same}")
            kept_files(folder)[0].unlink()


if __name__ == "__main__":
    main()
