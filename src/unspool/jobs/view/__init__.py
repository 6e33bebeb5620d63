"""What the viewer shows: reels (traces, sessions), and pages of data about them. HTTP is in `unspool.web`."""
