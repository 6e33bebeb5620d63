"""Open anything: what lies in files becomes exchanges and notes."""
