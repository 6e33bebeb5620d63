"""The capture proxy: forwards bytes as they come, and keeps them beside. It knows HTTP and no API."""
