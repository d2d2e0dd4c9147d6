import torch

from groupfs.joint.adam import Adam


def test_steps_are_those_of_torch():
    generator = torch.Generator().manual_seed(0)
    ours = [torch.ones((2, 3), dtype=torch.float64), torch.zeros(4, dtype=torch.float64)]
    theirs = [parameter.clone() for parameter in ours]
    own, other = Adam(ours, 0.03), torch.optim.Adam(theirs, lr=0.03)
    for _ in range(60):
        for mine, yours in zip(ours, theirs, strict=True):
            mine.grad = torch.randn(mine.shape, generator=generator, dtype=torch.float64)
            yours.grad = mine.grad.clone()
        own.step()
        other.step()
    for mine, yours in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, yours, rtol=1e-5, atol=1e-7)
