"""Where a batch runs: it takes functions and hands back their results."""
