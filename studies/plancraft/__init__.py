"""Plancraft's ceiling and floor, and our verdicts beside those of the published package."""
