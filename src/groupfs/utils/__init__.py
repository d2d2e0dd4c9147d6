"""Small helpers that know nothing of groups or features."""
