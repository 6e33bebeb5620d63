"""Compare what an earlier revision and the working tree produce from the same inputs.

`make against REV=a1bda54` runs it; CONTRIBUTING.md explains how to read its report and how to allow a difference.
"""
