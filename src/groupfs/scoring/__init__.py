"""Score groups of features against chance."""
