"""
Faces: which pixels change together
===================================

In a set of faces, pixels do not change one by one. A mouth opens, both eyes close, light falls from
one side. So the natural unit of a selection is a part of the face, and nobody has to say what the
parts are.
"""

# %%
# Faces drawn at random
# ---------------------
# Every face has its own mouth, its own eyes and its own light, strong or weak at random and
# independent of each other. All else is noise of the camera.

import matplotlib.pyplot as plt
import numpy as np

HEIGHT, WIDTH = 20, 16
down, across = np.mgrid[:HEIGHT, :WIDTH]


def ellipse(row, column, tall, wide):
    return ((down - row) / tall) ** 2 + ((across - column) / wide) ** 2 <= 1


head = ellipse(9.5, 7.5, 9.5, 7.5)
eyes = ellipse(7, 4, 1.5, 1.5) | ellipse(7, 11, 1.5, 1.5)
mouth = ellipse(14, 7.5, 1.5, 3.5)
skin = head & ~eyes & ~mouth
light = skin & (across < 4)

rng = np.random.default_rng(0)
faces = 0.6 * head + 0.1 * rng.standard_normal((400, HEIGHT, WIDTH))
for part, strength in [(eyes, -0.5), (mouth, -0.4), (light, 0.4)]:
    faces += strength * part * rng.uniform(size=(400, 1, 1))
X = faces.reshape(400, HEIGHT * WIDTH)

figure, axes = plt.subplots(1, 6, figsize=(9, 2), layout="constrained")
for ax, face in zip(axes, faces, strict=False):
    ax.imshow(face, cmap="gray", vmin=-0.2, vmax=1.2)
    ax.set_axis_off()

# %%
# Find the parts
# --------------
# Columns are standardised, so the noise of the background is as loud as the mouth. The 36
# pixels that explain most of the others are asked for. Each colour is a group: the two eyes share
# one. Strong colours are the pixels selected, pale ones the rest of their groups.

from groupfs import FeatureGroups
from groupfs.plotting import plot_groups, plot_image_groups

selector = FeatureGroups(n_features_to_select=36, random_state=0).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
plot_image_groups(selector, (HEIGHT, WIDTH), order="C", ax=axes[0])
plot_groups(selector, ax=axes[1])
plt.show()
# sphinx_gallery_thumbnail_number = 2

# %%
# With photographs
# ----------------
# The tables of the paper have three sets of faces. With one of their files at hand the same lines
# do (their images are stored column by column, which is what ``plot_image_groups`` expects by
# default):
#
# .. code-block:: python
#
#    from groupfs.datasets import fetch_dataset
#
#    yale = fetch_dataset("yale")
#    selector = FeatureGroups(random_state=0).fit(yale.data)
#    plot_image_groups(selector, yale.image_shape)
