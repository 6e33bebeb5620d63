"""A run as people watch it: what happens in it, moment after moment, and how each moment looks."""
