"""The conversation graph: how requests descend from one another."""
