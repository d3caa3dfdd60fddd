"""Providers: their address, key and API, by the part of a model string before the first slash.

litellm's model strings and environment variables have the same meaning here. The table lists the
providers that we call directly, and the requirements of others; litellm knows more by name. It is
never imported here, which would take seconds.
"""

from __future__ import annotations

import functools
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

BEARER = "Authorization"
VENDOR_FILE = Path("/sys/class/dmi/id/sys_vendor")
"""Where Linux names the machine's vendor: Amazon's and Google's machines have a role."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """The requirements for calling a provider.

    Attributes:
        wire: The API to use, one of `WIRES`; empty if only litellm can call it.
        address: Its address, up to and with the version; empty if every account has its own.
        address_in: Variables that override the address; the first that is set counts.
        ending: The ending of such an address's path; its missing part is added.
        versioned: The ending for a given API version; `{model}` stands for the model.
        version_in: The variable with the API version; empty if there are none.
        key_in: Variables that may hold the key; the first that is set counts.
        key_header: The header for the key, if the wire leaves it open.
        needs_key: Whether its own address requires a key.
        model_prefix: The prefix of its models' names; added if missing.
        logins: Other logins that litellm supports: the variables that each requires.
        login_files: Files in the user's home that also serve litellm as a login.
        file_in: Variables of a login that name a file, or hold the file's JSON.
        vendor: The vendor whose machines have access by their role.
        package: The package that litellm imports for it, if litellm does not install it.
        batch_price: The share of the usual price that batch calls cost; None without a batch API.
    """

    wire: str = "chat"
    address: str = ""
    address_in: tuple[str, ...] = ()
    ending: str = ""
    versioned: str = ""
    version_in: str = ""
    key_in: tuple[str, ...] = ()
    key_header: str = BEARER
    needs_key: bool = True
    model_prefix: str = ""
    logins: tuple[tuple[str, ...], ...] = ()
    login_files: tuple[str, ...] = ()
    file_in: tuple[str, ...] = ()
    vendor: str = ""
    package: str = ""
    batch_price: float | None = None

    def has_login(self, environment: Mapping[str, str]) -> bool:
        """Return whether litellm has a login other than a key."""
        if any(all(environment.get(name) for name in login) for login in self.logins):
            return True
        home = Path(environment.get("HOME") or Path.home())
        if any((home / file).is_file() for file in self.login_files):
            return True
        return bool(self.vendor) and self.vendor in _machine_vendor()

    def missing_file(self, environment: Mapping[str, str]) -> str | None:
        """Return the variable that names a missing file; None if there is none."""
        named = ((name, environment.get(name, "").strip()) for name in self.file_in)
        return next(
            (
                name
                for name, file in named
                if file and not file.startswith("{") and not Path(file).expanduser().is_file()
            ),
            None,
        )

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of each login, as users write them: `A`, `B and C`."""
        return (*self.key_in, *(" and ".join(login) for login in self.logins))


def _named(
    name: str,
    address: str = "",
    *,
    address_in: tuple[str, ...] = (),
    key_in: tuple[str, ...] = (),
    **others: Any,
) -> Provider:
    """Return a provider; its variables are `NAME_API_BASE` and `NAME_API_KEY` unless given."""
    return Provider(
        address=address,
        address_in=address_in or (f"{name}_API_BASE",),
        key_in=key_in or (f"{name}_API_KEY",),
        **others,
    )


def _keyed(name: str) -> Provider:
    """Return a provider that litellm calls with the key in `NAME_API_KEY`."""
    return Provider(wire="", key_in=(f"{name}_API_KEY",))


_OLLAMA = _named("OLLAMA", "http://127.0.0.1:11434/v1", ending="/v1", needs_key=False)
_VLLM_ADDRESS = "http://127.0.0.1:8000/v1"
_LLAMA_ADDRESS = "http://127.0.0.1:8080/v1"
_COHERE = _named(
    "COHERE",
    "https://api.cohere.ai/compatibility/v1",
    ending="/compatibility/v1",
    key_in=("COHERE_API_KEY", "CO_API_KEY"),
)
_AWS = Provider(
    wire="",
    key_in=("AWS_BEARER_TOKEN_BEDROCK",),
    logins=(
        ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
        ("AWS_PROFILE",),
        ("AWS_ROLE_ARN",),
        ("AWS_WEB_IDENTITY_TOKEN_FILE",),
        ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",),
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI",),
    ),
    login_files=(".aws/credentials", ".aws/config"),
    file_in=("AWS_WEB_IDENTITY_TOKEN_FILE",),
    vendor="Amazon EC2",
    package="botocore",
)
_VERTEX = Provider(
    wire="",
    logins=(("GOOGLE_APPLICATION_CREDENTIALS",), ("VERTEXAI_CREDENTIALS",)),
    login_files=(".config/gcloud/application_default_credentials.json",),
    file_in=("GOOGLE_APPLICATION_CREDENTIALS", "VERTEXAI_CREDENTIALS"),
    vendor="Google",
    package="google.auth",
)

PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {
        "openai": _named(
            "OPENAI",
            "https://api.openai.com/v1",
            address_in=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
            batch_price=0.5,  # developers.openai.com/api/docs/guides/batch
        ),
        "anthropic": _named(
            "ANTHROPIC",
            "https://api.anthropic.com/v1",
            wire="anthropic",
            address_in=("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"),
            ending="/v1",
            logins=(("ANTHROPIC_AUTH_TOKEN",),),
            batch_price=0.5,  # platform.claude.com/docs/en/build-with-claude/batch-processing
        ),
        # https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle: the v1 API
        # needs no version; a dated version goes with the deployment's name.
        "azure": _named(
            "AZURE",
            ending="/openai/v1",
            versioned="/openai/deployments/{model}",
            version_in="AZURE_API_VERSION",
            key_in=("AZURE_OPENAI_API_KEY", "AZURE_API_KEY"),
            key_header="api-key",
            logins=(
                ("AZURE_AD_TOKEN",),
                ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"),
            ),
        ),
        # https://ai.google.dev/gemini-api/docs/openai
        "gemini": _named(
            "GEMINI",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            ending="/v1beta/openai",
            key_in=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        ),
        "mistral": _named("MISTRAL", "https://api.mistral.ai/v1", ending="/v1"),
        "groq": _named("GROQ", "https://api.groq.com/openai/v1"),
        "deepseek": _named("DEEPSEEK", "https://api.deepseek.com/v1"),
        "xai": _named("XAI", "https://api.x.ai/v1", ending="/v1"),
        "together_ai": _named(
            "TOGETHER_AI",
            "https://api.together.ai/v1",
            key_in=(
                "TOGETHER_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHERAI_API_KEY", "TOGETHER_AI_TOKEN"
            ),
        ),
        "openrouter": _named("OPENROUTER", "https://openrouter.ai/api/v1"),
        "fireworks_ai": _named(
            "FIREWORKS",
            "https://api.fireworks.ai/inference/v1",
            key_in=(
                "FIREWORKS_API_KEY",
                "FIREWORKS_AI_API_KEY",
                "FIREWORKSAI_API_KEY",
                "FIREWORKS_AI_TOKEN",
            ),
            model_prefix="accounts/fireworks/models/",
        ),
        "cerebras": _named("CEREBRAS", "https://api.cerebras.ai/v1"),
        "nvidia_nim": _named("NVIDIA_NIM", "https://integrate.api.nvidia.com/v1"),
        # Its chat completions ended in September 2026 (docs.stigg.io, providers/perplexity).
        "perplexity": _named(
            "PERPLEXITY",
            "https://api.perplexity.ai/v1",
            wire="responses",
            ending="/v1",
            key_in=("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
        ),
        "sambanova": _named("SAMBANOVA", "https://api.sambanova.ai/v1"),
        "moonshot": _named("MOONSHOT", "https://api.moonshot.ai/v1"),
        "dashscope": _named("DASHSCOPE", "https://dashscope.aliyuncs.com/compatible-mode/v1"),
        "zai": _named("ZAI", "https://api.z.ai/api/paas/v4"),
        "deepinfra": _named("DEEPINFRA", "https://api.deepinfra.com/v1/openai"),
        # https://docs.cohere.com/docs/compatibility-api
        "cohere": _COHERE,
        "cohere_chat": _COHERE,
        "ollama": _OLLAMA,
        "ollama_chat": _OLLAMA,
        "hosted_vllm": _named("HOSTED_VLLM", _VLLM_ADDRESS, needs_key=False),
        "vllm": _named("VLLM", _VLLM_ADDRESS, needs_key=False),
        "llamacpp": _named("LLAMACPP", _LLAMA_ADDRESS, needs_key=False),
        "llamafile": _named("LLAMAFILE", _LLAMA_ADDRESS, needs_key=False),
        "lm_studio": _named("LM_STUDIO", "http://127.0.0.1:1234/v1", needs_key=False),
        "litellm_proxy": _named("LITELLM_PROXY", "http://127.0.0.1:4000/v1", needs_key=False),
        "bedrock": _AWS,
        "bedrock_converse": _AWS,
        "sagemaker": _AWS,
        "sagemaker_chat": _AWS,
        "vertex_ai": _VERTEX,
        "vertex_ai_beta": _VERTEX,
        "ai21": _keyed("AI21"),
        "ai21_chat": _keyed("AI21"),
        "baseten": _keyed("BASETEN"),
        "codestral": _keyed("CODESTRAL"),
        "featherless_ai": _keyed("FEATHERLESS_AI"),
        "modelscope": _keyed("MODELSCOPE"),
        "nebius": _keyed("NEBIUS"),
        "novita": _keyed("NOVITA"),
        "replicate": _keyed("REPLICATE"),
        "vercel_ai_gateway": _keyed("VERCEL_AI_GATEWAY"),
        "volcengine": _keyed("VOLCENGINE"),
        "wandb": _keyed("WANDB"),
    }
)  # fmt: skip
"""The providers that we call directly, and the requirements of those that litellm calls.

The variables and addresses are those of litellm 1.105.3 (`get_llm_provider`, `main.completion`)."""


def is_known(provider: str) -> bool:
    """Return whether we or litellm can call a provider."""
    return provider in PROVIDERS or provider in _litellm_names()


def provider_names() -> frozenset[str]:
    """Return the names of all providers."""
    return frozenset(PROVIDERS) | _litellm_names()


@functools.cache
def _litellm_names() -> frozenset[str]:
    """Read litellm's provider names from its files, since importing it would take seconds."""
    supported = litellm_file("provider_endpoints_support_backup.json").get("providers", {})
    alike = litellm_file("llms/openai_like/providers.json")
    return frozenset(name for name in (*supported, *alike) if "/" not in name)


def litellm_file(name: str) -> Mapping[str, Any]:
    """Read a JSON file of the installed litellm; empty if litellm is not installed."""
    spec = importlib.util.find_spec("litellm")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / name
        if path.is_file():
            return json.loads(path.read_text(encoding="utf-8"))
    return {}


@functools.cache
def _machine_vendor() -> str:
    try:
        return VENDOR_FILE.read_text(encoding="utf-8")
    except OSError:
        return ""
