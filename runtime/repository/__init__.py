"""Repositories and workspaces: copied without a stranger's configuration, merged, handed in."""
