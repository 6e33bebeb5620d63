"""Watch an agent's run: where its stream comes from, what happens in it, and where that is shown."""
