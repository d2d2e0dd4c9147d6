"""The order in which the examples are shown: from the plainest to the most particular."""

ORDER = ["two_moons", "pipeline", "questionnaire", "faces", "genes"]


def reading_order(file_name: str) -> int:
    return ORDER.index(file_name.removeprefix("plot_").removesuffix(".py"))
