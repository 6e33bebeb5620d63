"""Readers: what we know of the logs and live streams of agents. One module or folder an agent."""
