"""Rules and readers of the redaction: kinds of secrets, where they occur, and how they are written down."""
