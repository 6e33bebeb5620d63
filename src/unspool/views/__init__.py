"""How things look to people: a session as rows, rows as text or Markdown."""
