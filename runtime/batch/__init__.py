"""Calls through the batch APIs of providers, which answer within a day at a lower price.

Requests that wait at the same time are one batch. `batch_client` collects, submits and polls them
and hands each answer to its call; `batch_apis` is what OpenAI's and Anthropic's APIs differ in.
"""

from __future__ import annotations

from .batch_client import collecting

__all__ = ["collecting"]
