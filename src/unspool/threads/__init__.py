"""Conversations that we hold ourselves: turns, what they inherit, and the context that a model is given."""
