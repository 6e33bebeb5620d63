"""A run as Slack messages: what is said of it, in blocks that Slack takes. Nothing here calls Slack."""
