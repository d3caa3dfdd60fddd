"""Doubles that answer as providers do: they check what a client sends as strictly, and keep books.

Each provider is a description of what it takes, refuses and tells, with the pages that say so.
`ProviderDouble` serves one on this machine; its `books` say what was asked and what it costs.
"""

from __future__ import annotations

from .anthropic import ANTHROPIC
from .deepseek import DEEPSEEK
from .google import GEMINI
from .local import LLAMA_CPP, OLLAMA, VLLM, VLLM_WITHOUT_PARSER
from .mistral import MISTRAL
from .openai import AZURE, OPENAI, OPENAI_RESPONSES
from .provider import KEY, Provider, Speech
from .routed import FIREWORKS, GROQ, OPENROUTER, TOGETHER
from .said import Refusal, Said
from .server import Entry, ProviderDouble
from .xai import XAI

__all__ = [
    "KEY",
    "PROVIDERS",
    "Entry",
    "Provider",
    "ProviderDouble",
    "Refusal",
    "Said",
    "Speech",
]

PROVIDERS = (
    OPENAI,
    OPENAI_RESPONSES,
    AZURE,
    ANTHROPIC,
    GEMINI,
    DEEPSEEK,
    MISTRAL,
    XAI,
    GROQ,
    FIREWORKS,
    TOGETHER,
    OPENROUTER,
    OLLAMA,
    VLLM,
    VLLM_WITHOUT_PARSER,
    LLAMA_CPP,
)
"""Every provider that is known."""
