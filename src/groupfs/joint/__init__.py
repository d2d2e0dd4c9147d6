"""The published method: memberships and gates, learned together."""
