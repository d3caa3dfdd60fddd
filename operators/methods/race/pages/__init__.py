"""A race's part of its evolution's page: candidates by tasks, how beliefs closed, the last word."""

from .page import race_page

__all__ = ["race_page"]
