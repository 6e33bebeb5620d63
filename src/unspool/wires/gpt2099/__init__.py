"""Requests and answers just as gpt2099 (version 0.6) makes them, losses and refusals included.

For whoever moves from it, or compares with it: the same contexts give the same bodies (without a model), the same
errors, the same messages out of the same streams. It works on the normalised JSON itself, because what gpt2099 does
not understand it passes on or drops by the name of its key. Nothing else in unspool uses it.
"""

from unspool.wires.gpt2099.answers import aggregate, stream
from unspool.wires.gpt2099.bodies import context_of, prepare

PROVIDERS = ("anthropic", "openai", "gemini", "cohere", "cerebras")

__all__ = ["PROVIDERS", "aggregate", "context_of", "prepare", "stream"]
