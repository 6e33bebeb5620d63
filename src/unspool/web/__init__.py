"""The viewer's server: HTTP on the loopback, for one person and one browser."""
