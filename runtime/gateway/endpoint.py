"""Where to reach a model: an alias resolved to an address and a key on this host."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from ...schema.host.models import EMBEDDED, INBOX, Effort, Model
from ...schema.values.errors import InputError
from ...schema.values.hints import did_you_mean
from .chat.body import Body
from .chat.messages import ChatRequest
from .environment import (
    HEADER,
    check_address,
    first_key,
    password_of,
    proxy_for,
    without_login,
)
from .http.apis import spoken
from .providers import BEARER, PROVIDERS, Provider, is_known, provider_names
from .wires import WIRES

RESPONSES = "responses"
"""The API that accepts efforts but no number of thinking tokens
(developers.openai.com/api/docs/guides/reasoning)."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An address for calls, with the settings that each call needs.

    Attributes:
        kind: `openai` for an HTTP endpoint that is called directly, `local` for the embedded
            server, `inbox` for a folder of questions, `litellm` for every other provider.
        wire: The API to use, one of `WIRES`.
        api_base: The address, up to and with `/v1`; for `openai` only.
        api_version: The API version to request besides the path; None if there is only one.
        key: The key to send, or None. Never shown.
        weights: The model file of a `local` endpoint; None for the built-in one.
        folder: The folder of an `inbox` for its questions; None for one in the calling run's
            folder.
        proxy: The proxy to use; None for a direct connection. Never shown.
        effort: How long the model thinks if a request does not say.
        thinking: The most tokens to think if a request has no effort.
        extra: Further fields of every request. The request's own fields take precedence.
        headers: Headers of every request, besides those of its API. Never shown.
        hidden: The secret values among these headers.
    """

    kind: Literal["openai", "local", "inbox", "litellm"]
    wire: str = "chat"
    model: str
    api_base: str = ""
    api_version: str | None = None
    key: str | None = field(default=None, repr=False)
    key_header: str = BEARER
    weights: Path | None = None
    folder: Path | None = None
    proxy: str | None = field(default=None, compare=False, repr=False)
    stream: bool = field(default=True, compare=False)
    effort: Effort | None = field(default=None, compare=False)
    thinking: int | None = field(default=None, compare=False)
    top_p: float | None = field(default=None, compare=False)
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any], compare=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], compare=False, repr=False)
    hidden: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    @cached_property
    def shown(self) -> str:
        """The address to show in messages; the model if the provider has no address."""
        return self.at(WIRES[self.wire].path) if self.api_base else self.model

    def at(self, path: str) -> str:
        """Return the URL of a path of its API."""
        version = f"?api-version={self.api_version}" if self.api_version else ""
        return f"{self.api_base}{path}{version}"

    @cached_property
    def templates(self) -> dict[Any, Body]:
        """A cache of request bodies without messages, by all their other settings."""
        return {}

    @property
    def credentials(self) -> Mapping[str, str]:
        """The header with the key; empty without a key."""
        if not self.key:
            return {}
        return {self.key_header: f"Bearer {self.key}" if self.key_header == BEARER else self.key}

    @cached_property
    def sent_headers(self) -> Mapping[str, str]:
        """The headers of each request, including the key."""
        usual = {"Content-Type": "application/json"}
        return {**usual, **WIRES[self.wire].headers, **self.credentials, **self.headers}

    @cached_property
    def secrets(self) -> frozenset[str]:
        """Secret values that calls send and nothing may record: keys, passwords, header values."""
        keys = (self.key, password_of(self.proxy) if self.proxy else None)
        return self.hidden | {key for key in keys if key}

    def thinks(self, request: ChatRequest) -> tuple[Effort | None, int | None]:
        """Return how long the model may think: an effort, or else a number of tokens.

        The request takes precedence over the host's settings for all requests.
        """
        if request.effort is not None:
            return request.effort, None
        return (None, self.thinking) if self.thinking is not None else (self.effort, None)


_CALLS = ("/chat/completions", "/responses", "/messages", "/v2/chat", "/api/chat", "/api/generate")
"""Endings of addresses copied from an example."""
_ADDRESS = re.compile(
    r"(?:(?P<name>.+)@)?(?P<address>(?:[\w.-]+|\[[0-9a-f:.]+\]):\d+(?:/.*)?)", re.IGNORECASE
)
"""`127.0.0.1:8000/v1`, optionally with a model's name before it."""


_SECRET = re.compile("KEY$|TOKEN$|SECRET$")
"""Endings of variables that hold a key, rather than a name or a file."""


def endpoint_of(model: Model, environment: Mapping[str, str]) -> Endpoint:
    """Resolve a model to its endpoint, without calling it or importing a provider's library.

    Raises:
        InputError: The model names no provider or an unknown one, or is an address. The variable
            for its key, its address or a proxy is unset or invalid. litellm lacks a requirement for
            it, or its API differs from models.yaml.
    """
    endpoint = spoken(model, _reached(model, environment))
    if not endpoint.api_base:
        return endpoint
    return replace(endpoint, proxy=proxy_for(endpoint.api_base, environment))


def configured(endpoint: Endpoint, model: Model, environment: Mapping[str, str]) -> Endpoint:
    """Return an endpoint with the host's settings for every request.

    Raises:
        InputError: A variable for a header is not set, or the API accepts no number of thinking
            tokens.
    """
    if model.thinking_tokens is not None and (
        endpoint.kind in {"local", "inbox"} or endpoint.wire == RESPONSES
    ):
        raise InputError(
            f"model {model.model!r} (alias {model.alias!r}) does not support thinking_tokens"
            f" ({endpoint.shown}). Write effort instead, or leave it out."
        )
    hidden = {name: _held(model, name, environment) for name in model.header_env}
    return replace(
        endpoint,
        effort=model.effort,
        thinking=model.thinking_tokens,
        top_p=model.top_p,
        extra=model.body,
        stream=model.stream,
        headers={**model.headers, **hidden},
        hidden=frozenset(hidden.values()),
    )


def _held(model: Model, header: str, environment: Mapping[str, str]) -> str:
    variable = model.header_env[header]
    value = environment.get(variable)
    if value and not HEADER.fullmatch(value):
        raise InputError(
            f"the environment variable {variable}, which holds the header {header} of model"
            f" {model.model!r}, is not one line of ASCII. Set it to the value alone."
        )
    if not value:
        raise InputError(
            f"model {model.model!r} (alias {model.alias!r}) sends the header {header}, but its"
            f" environment variable {variable} is not set. Set it, or remove the header from"
            " header_env in models.yaml."
        )
    return value


def _reached(model: Model, environment: Mapping[str, str]) -> Endpoint:
    if model.api_base is not None:
        address = _trimmed(model.api_base)
        if model.api_version is None:
            address = _versioned(address)
        check_address(address, f"model {model.model!r} (alias {model.alias!r})")
        # Only Azure's addresses take a version.
        header = PROVIDERS["azure"].key_header if model.api_version else BEARER
        return Endpoint(
            kind="openai",
            model=model.model,
            api_base=address,
            api_version=model.api_version,
            key=_declared_key(model, environment),
            key_header=header,
        )
    if model.model == EMBEDDED:
        return Endpoint(kind="local", model=EMBEDDED)
    if model.model.startswith(f"{EMBEDDED}:"):
        path = Path(model.model.removeprefix(f"{EMBEDDED}:")).expanduser()
        return Endpoint(kind="local", model=path.stem, weights=path)
    if model.is_inbox:
        folder = model.model.removeprefix(INBOX)
        place = Path(folder).expanduser() if folder else None
        return Endpoint(kind="inbox", model=model.model, folder=place)
    name, provider = _provider(model)
    key = _declared_key(model, environment) or first_key(provider.key_in, environment)
    if provider.wire in WIRES and (key or not provider.has_login(environment)):
        return _direct(model, name, provider, environment, key)
    return _through_litellm(model, provider, environment)


def _provider(model: Model) -> tuple[str, Provider]:
    """Split a model string into the provider's name for the model, and the provider."""
    _refuse_address(model)
    provider, _, name = model.model.partition("/")
    if not name:
        raise InputError(
            f"model {model.model!r} (alias {model.alias!r}) names no provider. Write"
            f" PROVIDER/{model.model}, for instance openai/{model.model}, or add its api_base."
        )
    if not is_known(provider):
        raise InputError(
            f"model {model.model!r} (alias {model.alias!r}): there is no provider"
            f" {provider!r}.{did_you_mean(provider, provider_names())} Write PROVIDER/NAME, as"
            f" openai/gpt-4o-mini, or for a server of yours {model.model}@http://HOST:PORT/v1."
        )
    return name, PROVIDERS.get(provider, Provider(wire=""))


def _refuse_address(model: Model) -> None:
    """Refuse an address in place of a model, which would be read as a provider's name."""
    shown = without_login(model.model)
    if "://" in model.model:
        head, _, place = shown.partition("://")
        name, _, scheme = head.rpartition("@")
        known = scheme if scheme in {"http", "https"} else "http"
        meant = f"{name or 'NAME'}@{known}://{place}"
    elif result := _ADDRESS.fullmatch(model.model):
        meant = f"{result['name'] or 'NAME'}@http://{result['address']}"
    else:
        return
    raise InputError(
        f"model {shown!r} (alias {model.alias!r}) is an address. Did you mean --model"
        f" {model.alias}={meant}, where NAME is the server's name for the model? In models.yaml,"
        " write model and api_base."
    )


def _direct(
    model: Model, name: str, provider: Provider, environment: Mapping[str, str], key: str | None
) -> Endpoint:
    """Return the endpoint of a provider that we call directly."""
    version = model.api_version or (
        environment.get(provider.version_in) if provider.version_in else None
    )
    if version in {"v1", "latest", "preview"}:
        version = None  # all three are the API without dated versions
    ending = provider.versioned.format(model=name) if version else provider.ending
    own = _own_address(provider, environment)
    if key is None and provider.needs_key and not (own and provider.address):
        raise _locked_out(model, provider)
    if not own and not provider.address:
        raise InputError(
            f"model {model.model!r} (alias {model.alias!r}) needs an address: the environment"
            f" variable {' or '.join(provider.address_in)} is not set."
        )
    return Endpoint(
        kind="openai",
        wire=provider.wire,
        model=_prefixed(name, provider.model_prefix),
        api_base=_completed(own, ending) if own else provider.address,
        api_version=version,
        key=key,
        key_header=provider.key_header,
    )


def _through_litellm(model: Model, provider: Provider, environment: Mapping[str, str]) -> Endpoint:
    """Return the endpoint of a provider that litellm calls; refuse missing requirements."""
    key = _declared_key(model, environment)
    has_key = key is not None or first_key(provider.key_in, environment) is not None
    for name in (name for login in provider.logins for name in login if _SECRET.search(name)):
        first_key((name,), environment)  # which litellm would send unchecked
    if provider.variables and not has_key and not provider.has_login(environment):
        raise _locked_out(model, provider)
    if variable := provider.missing_file(environment):
        raise _missing(
            model,
            f"the environment variable {variable} names the file {environment[variable]!r}, which"
            " does not exist. Correct it",
        )
    if provider.package and not _is_installed(provider.package):
        package = provider.package.replace(".", "-")
        raise InputError(
            f"model {model.model!r} (alias {model.alias!r}) needs the package {package}. Run: pip"
            f" install {package}"
        )
    return Endpoint(kind="litellm", model=model.model, key=key)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _own_address(provider: Provider, environment: Mapping[str, str]) -> str | None:
    """Return the address from a variable, if it differs from the provider's usual one."""
    name = next((name for name in provider.address_in if environment.get(name)), None)
    if name is None:
        return None
    own = _trimmed(environment[name])
    check_address(own, f"the environment variable {name}")
    return None if own == provider.address else own


def _trimmed(address: str) -> str:
    """Remove the endings that follow the base address."""
    address = address.strip().rstrip("/")
    for call in _CALLS:
        address = address.removesuffix(call)
    return address.rstrip("/")


def _versioned(address: str) -> str:
    """Return an address with the path that Ollama, vLLM and others serve, if it has none."""
    return address if "/" in address.partition("://")[2] else f"{address}/v1"


def _completed(address: str, ending: str) -> str:
    """Add the missing part of an ending: for `/v1beta/openai`, complete `http://h/v1beta`."""
    if not ending:
        return _versioned(address)
    parts = ending.split("/")
    for count in range(len(parts), 0, -1):
        begun = "/".join(parts[:count])
        if address.endswith(begun):
            return address + ending.removeprefix(begun)
    return address + ending


def _prefixed(name: str, prefix: str) -> str:
    first = prefix.partition("/")[0]
    return name if not prefix or name.startswith(f"{first}/") else prefix + name


def _declared_key(model: Model, environment: Mapping[str, str]) -> str | None:
    """Return the key from the variable that models.yaml names for a model."""
    if model.key_env is None:
        return None
    if key := first_key((model.key_env,), environment):
        return key
    raise _missing(model, f"the environment variable {model.key_env} is not set. Set it")


def _locked_out(model: Model, provider: Provider) -> InputError:
    if len(provider.variables) == 1:
        return _missing(
            model, f"the environment variable {provider.variables[0]} is not set. Set it"
        )
    files = "".join(f", no file ~/{file}" for file in provider.login_files)
    names = ", ".join(provider.variables)
    return _missing(model, f"none of these environment variables is set: {names}{files}. Set one")


def _missing(model: Model, need: str) -> InputError:
    return InputError(
        f"model {model.model!r} (alias {model.alias!r}) needs a key: {need}, or choose another"
        f" model with --model {model.alias}=PROVIDER/NAME; --model {model.alias}=local needs no"
        " key."
    )
