"""Pure steps between what was read and what is written: clean up, redact, select, validate."""
