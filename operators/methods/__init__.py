"""Strategies: loops that say which operator acts when, one screen each; found by entry point."""
