"""Seconds and memory of fits, of what comes after them, and of the first import."""

from groupfs import GroupFS, GroupFSPath

from .tables import planted


class Fit:
    """A default fit, as samples or features grow."""

    params = [(200, 1000), (20, 200)]
    param_names = ["samples", "features"]
    timeout = 120

    def setup(self, n_samples, n_features):
        self.X = planted(n_samples, n_features)

    def time_fit(self, n_samples, n_features):
        GroupFS(random_state=0, device="cpu").fit(self.X)

    def peakmem_fit(self, n_samples, n_features):
        GroupFS(random_state=0, device="cpu").fit(self.X)

    def track_features_kept(self, n_samples, n_features):
        """Not a time: a version that is faster because it finds less shows here."""
        return int(GroupFS(random_state=0, device="cpu").fit(self.X).get_support().sum())


class Paper:
    """The published method: memberships and gates are trained."""

    timeout = 120

    def setup(self):
        self.X = planted(300, 30)

    def time_fit(self):
        GroupFS(5, preset="paper", max_epochs=20, random_state=0, device="cpu").fit(self.X)

    def time_path(self):
        GroupFSPath(max_epochs=5, random_state=0, device="cpu").fit(self.X)


class Fitted:
    """What is done with a fitted selector."""

    def setup(self):
        self.X = planted(1000, 200)
        self.selector = GroupFS(random_state=0, device="cpu").fit(self.X)

    def time_transform(self):
        self.selector.transform(self.X)

    def time_select_another_budget(self):
        self.selector.select(n_features_to_select=20)

    def time_report(self):
        from groupfs.report import render, summarize

        render(summarize(self.selector, self.X))


class Import:
    """What everybody waits for."""

    def timeraw_import(self):
        return "from groupfs import GroupFS"
