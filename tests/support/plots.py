"""Quick fits and what a figure says, for the tests of plotting."""

from groupfs import FeatureGroups


def quick(X, **settings):
    return FeatureGroups(random_state=0, **settings).fit(X)


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]
