from groupfs.utils.types import FloatArray, IntArray

def communities(
    starts: IntArray,
    neighbors: IntArray,
    edges: IntArray,
    ties: FloatArray,
    resolution: float,
    tries: int = 1,
) -> IntArray:
    """Divide graphs whose nodes have the same neighbours, with other ties, (R, E), to (R, n)."""
