"""Vocabularies: what each agent's tools mean. One module an agent."""
