"""A path shared by devices, and one that is killed there, beside the path of one device.

``python -m tests.support.two_devices cuda:0 cuda:1`` (or cuda:0 twice) prints whether all agree to
the last bit. With as many parts as there are devices on either side, they should.
"""

import sys
import tempfile
import time
from unittest.mock import patch

import torch

from groupfs import GroupFSPath
from groupfs.datasets import load_two_moons
from groupfs.training import checkpoints
from tests.support.kill_path import fingerprints


class Killed(BaseException):
    """Stands for a kill."""


def fitted(devices, folder=None):
    X = load_two_moons(1000, random_state=0).data
    path = GroupFSPath(
        12, max_epochs=40, n_resamples=1, device=devices[0], random_state=0, checkpoint=folder
    )
    with (
        patch("groupfs.estimators.group_fs_path.resolve_devices", lambda device: devices),
        patch("groupfs.training.path_runs._number_of_parts", lambda *sizes: 2),
    ):
        return fingerprints(path.fit(X))


def killed_and_resumed(devices, n_saves):
    save, count = checkpoints.Checkpoint.save, [0]

    def counted(self, name, state):
        save(self, name, state)
        count[0] += 1
        if count[0] == n_saves:
            raise Killed

    with tempfile.TemporaryDirectory() as folder:
        with (
            patch.object(checkpoints.Checkpoint, "save", counted),
            patch.object(checkpoints, "SAVE_EVERY", 0.0),
            patch.object(checkpoints, "SAVE_SHARE", 1e9),
        ):
            try:
                fitted(devices, folder)
            except Killed:
                print(f"killed after {n_saves} files")
        return fitted(devices, folder)


def main():
    devices = [torch.device(name) for name in sys.argv[1:]] or [torch.device("cpu")] * 2
    one = fitted(devices[:1])
    began = time.perf_counter()
    several = fitted(devices)
    print(f"{[str(d) for d in devices]}: identical to one device: {several == one}", end="")
    print(f" ({time.perf_counter() - began:.1f} s)")
    for n_saves in (3, 12):
        resumed = killed_and_resumed(devices[:1], n_saves)
        print(f"killed and resumed on {devices[0]}: identical: {resumed == one}")


if __name__ == "__main__":
    main()
