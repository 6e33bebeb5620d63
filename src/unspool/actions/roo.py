"""Roo's tools: Cline's, from which it came. Each took over what the other thought of."""

from unspool.actions import cline
from unspool.actions.vocabulary import Vocabulary

VOCABULARY = Vocabulary("roo", cline.TOOLS, cline.server)
