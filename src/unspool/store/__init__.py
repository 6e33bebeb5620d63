"""Turns, messages and blobs: original data, in a database of their own that nothing rebuilds."""
