"""Bytes to records: containers and framings. Knows no agent and no API."""
