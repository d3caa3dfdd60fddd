"""Calls through the batch APIs of providers, which answer within a day at a lower price.

Requests that wait at the same time form one batch. `batch_client` collects, submits and polls
batches and returns each answer to its call; `batch_apis` holds the differences between OpenAI's and
Anthropic's APIs.
"""

from __future__ import annotations

from .batch_client import collecting

__all__ = ["collecting"]
