"""MCP servers: which there are, connections to them, and what their tools give back."""
