"""Requests and answers as values, whatever the provider: messages, bodies, usage, errors."""
