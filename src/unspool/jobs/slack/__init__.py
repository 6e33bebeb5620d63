"""A run told in a Slack thread, beside the terminal: in order, one call a second, and never in anybody's way."""
