"""Tables whose features are related in other ways than by a straight line."""

import numpy as np

SHAPES = ("line", "parabola", "circle", "bent, outliers")
N_ROWS, N_GROUPS, SIZE, N_NOISE = 500, 5, 4, 20
#: Share of values that are outliers, and how far off.
OUTLIERS, FAR = 0.02, 30


def related_table(shape: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a table, and the group of every feature, -1 for noise."""
    rng = np.random.default_rng(seed)
    columns, truth = [], []
    for group in range(N_GROUPS):
        columns += list(_group(shape, rng).T)
        truth += [group] * SIZE
    columns += list(rng.standard_normal((N_NOISE, N_ROWS)))
    return np.column_stack(columns), np.array(truth + [-1] * N_NOISE)


def _group(shape: str, rng: np.random.Generator) -> np.ndarray:
    x, noise = rng.standard_normal(N_ROWS), rng.standard_normal((N_ROWS, SIZE))
    if shape == "line":
        loading = rng.uniform(0.5, 0.8, SIZE)
        return loading * x[:, None] + np.sqrt(1 - loading**2) * noise
    if shape == "parabola":
        signs = np.array([0, 1, 1, -1])
        return np.where(signs == 0, x[:, None], signs * x[:, None] ** 2) + 0.4 * noise
    if shape == "circle":
        angle = rng.uniform(0, 2 * np.pi, N_ROWS)
        # multiples of an angle: no two of these have a correlation
        both = [np.cos(angle), np.sin(angle), np.cos(2 * angle), np.sin(2 * angle)]
        return np.column_stack(both) + 0.15 * noise
    bent = np.exp(1.5 * (0.8 * x[:, None] + 0.6 * noise))
    far = rng.random(bent.shape) < OUTLIERS
    return np.where(far, FAR * np.abs(rng.standard_cauchy(bent.shape)), bent)
