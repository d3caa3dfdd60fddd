"""Checks documents and values against JSON Schemas."""
