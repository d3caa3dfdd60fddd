"""A search among candidates within one episode: parents, children, admission."""
