"""The synthetic table of the paper: two groups of copies of the moons' coordinates, and noise."""

import numpy as np
from sklearn.datasets import make_moons
from sklearn.utils import Bunch, check_random_state

N_COPIES = 5


def load_two_moons(
    n_samples: int = 1000,
    n_features: int = 20,
    *,
    correlation: float = 0.95,
    noise: float = 0.05,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    r"""Make the two-moons table.

    Columns 0-4 are :math:`\sqrt\rho\, x_1 + \sqrt{1-\rho}\,\varepsilon` for the first coordinate of
    the moons, columns 5-9 the same for the second; all others are standard normal noise.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_features : int, default=20
        Number of columns, at least 10; those from the eleventh on are noise.
    correlation : float, default=0.95
        :math:`\rho`: squared correlation of a column with the coordinate it copies.
    noise : float, default=0.05
        Standard deviation of the noise on the moons themselves.
    random_state : int, RandomState instance or None, default=None
        Seed of the moons and of all noise.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        ``data`` (n_samples, n_features), ``target`` (which moon), ``groups`` (the two informative
        groups as index arrays), ``feature_names``.

    Examples
    --------
    >>> from groupfs.datasets import load_two_moons
    >>> moons = load_two_moons(random_state=0)
    >>> moons.data.shape
    (1000, 20)
    >>> moons.groups[1]
    array([5, 6, 7, 8, 9])
    """
    n_informative = 2 * N_COPIES
    if n_features < n_informative:
        raise ValueError(
            f"n_features={n_features}, but the two informative groups alone need "
            f"{n_informative}; choose n_features >= {n_informative}."
        )
    if not 0 <= correlation <= 1:
        raise ValueError(f"correlation={correlation} must lie between 0 and 1.")
    rng = check_random_state(random_state)
    coordinates, moon = make_moons(n_samples, noise=noise, random_state=rng)
    coordinates = (coordinates - coordinates.mean(0)) / coordinates.std(0)

    data = rng.standard_normal((n_samples, n_features))
    copies, own = np.repeat(coordinates, N_COPIES, axis=1), data[:, :n_informative]
    data[:, :n_informative] = np.sqrt(correlation) * copies + np.sqrt(1 - correlation) * own
    names = [f"x{axis + 1}_{copy + 1}" for axis in range(2) for copy in range(N_COPIES)]
    names += [f"noise_{i + 1}" for i in range(n_features - n_informative)]
    groups = np.split(np.arange(n_informative), 2)
    return Bunch(data=data, target=moon, groups=groups, feature_names=names)
