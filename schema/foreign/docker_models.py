"""Converts the models of a docker-agent file to models.yaml, including unused ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from ..host.models import DEFAULT_ALIAS
from ..values.hints import did_you_mean
from ..values.problems import Path, quoted
from ..values.values import is_mapping
from .docker_names import AUTO, MODEL_RUNNER, PROVIDERS
from .source import ForeignFile, ill_fitting

LONGEST_ALIAS = 100
NUMBERS = ("max_tokens", "temperature", "top_p")
IN_BODY = ("frequency_penalty", "presence_penalty")
OF_MODELS = ("effort", "top_p")
"""Settings of agents that models.yaml can hold too."""
EFFORTS = frozenset({"none", "minimal", "low", "medium", "high"})
MOST_THINKING = 1_000_000
_VARIANT = re.compile(r"(.+)-\d+")
_NO_ALIAS = re.compile(r"[^A-Za-z0-9_.:/-]+")
_KEY_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """An agent's model: its alias, and the settings that go to the agent."""

    alias: str
    settings: Mapping[str, Any]


@dataclass(kw_only=True, slots=True)
class Models:
    """The models of a file, as its agents choose them.

    Attributes:
        fields: The fields for models.yaml collected so far, by alias.
    """

    source: ForeignFile
    fields: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    _models: dict[str, Chosen] = field(default_factory=dict[str, Chosen])

    def of_agent(self, path: Path) -> Chosen:
        """Read an agent's model and its fallbacks."""
        chosen = self.chosen((*path, "model"))
        paths = self.source.items((*path, "fallback", "models"))
        others = dict.fromkeys(self.chosen(path).alias for path in paths)
        names = [alias for alias in others if alias in self.fields and alias != chosen.alias]
        if not names:
            return chosen
        if chosen.alias not in self.fields:
            self.source.lose((*path, "fallback"), "Its model has no name here. Name it yourself.")
            return chosen
        fields = {**self.fields[chosen.alias], "fallback": names}
        alias = self._alias(chosen.alias, chosen.alias, fields)
        return Chosen(alias=alias, settings=chosen.settings)

    def chosen(self, path: Path) -> Chosen:
        """Read the model named at a path."""
        first, *others = [name.strip() for name in self.source.text(path).split(",")]
        if others:
            self.source.warn(path, f"an agent has one model. This one has {quoted(first)}.")
        if not first or (first == AUTO and not self.source.has(("models", AUTO))):
            return Chosen(alias=DEFAULT_ALIAS, settings={})
        if first not in self._models:
            self._models[first] = self._read(first, path)
        return self._models[first]

    def keep_unused(self) -> None:
        """Add an alias for each unused model, so that users can switch to it."""
        for name in self.source.keys(("models",)):
            path = ("models", name)
            if name in self._models:
                continue
            if self._provider(name) and self.source.text((*path, "model")):
                self._keep(name)
            else:
                self.source.lose(path, "No agent uses it.")

    def _keep(self, name: str) -> None:
        fields, settings = self._entry(name)
        for key in OF_MODELS:
            if key in settings:
                fields[key] = settings.pop(key)
        for key in settings:
            message = "It belongs to an agent, and none uses this model."
            self.source.lose(("models", name, key), message)
        self._alias(name, name, fields)

    def _read(self, name: str, path: Path) -> Chosen:
        entries = self.source.keys(("models",))
        if name in entries and not self._provider(name):
            return self._other(name)
        if name in entries:
            fields, settings = self._entry(name)
            return Chosen(alias=self._alias(self._basis(name), name, fields), settings=settings)
        provider, slash, model = name.partition("/")
        if not slash:
            hint = did_you_mean(name, entries) or " Write PROVIDER/NAME."
            self.source.refuse(path, f"no model {quoted(name)} under models.{hint}")
            return Chosen(alias=DEFAULT_ALIAS, settings={})
        return Chosen(alias=self._alias(model, name, self._endpoint(provider, model)), settings={})

    def _other(self, name: str) -> Chosen:
        """Read a model that only names others, and return the first of them."""
        path = ("models", name, "model")
        self._models[name] = Chosen(
            alias=DEFAULT_ALIAS, settings={}
        )  # ends a model that names itself
        if not self.source.has(path):
            self.source.refuse(path, "the provider and the model are missing. Write both.")
        return self.chosen(path)

    def _entry(self, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the fields of a model for models.yaml, and the settings that go to agents."""
        path = ("models", name)
        fields = self._fields(name)
        settings = {key: self.source.number((*path, key)) for key in NUMBERS}
        budget = self._thinking((*path, "thinking_budget"))
        if isinstance(budget, int):
            fields["thinking_tokens"] = budget
        else:
            settings["effort"] = budget
        settings = {key: value for key, value in settings.items() if value is not None}
        for place, message in ill_fitting(settings):
            settings.pop(place, None)
            self.source.lose((*path, place), message)
        body = {key: self.source.number((*path, key)) for key in IN_BODY}
        body = {key: value for key, value in body.items() if value is not None}
        return {**fields, **({"body": body} if body else {})}, settings

    def _thinking(self, path: Path) -> Any:
        """Return an effort or a number of tokens; None if the model decides."""
        value = self.source.take(path)
        effort = value
        if is_mapping(value):
            effort = value.get("effort")
            for key in value.keys() - {"effort"}:
                self.source.lose((*path, key), "Only its effort is kept.")
        if isinstance(effort, int) and not effort:
            return "none"
        is_count = isinstance(effort, int) and 0 < effort <= MOST_THINKING and effort is not True
        if is_count or (isinstance(effort, str) and effort in EFFORTS):
            return effort
        if effort not in (None, -1):
            self.source.lose(path, f"{quoted(value)} is not an effort that coterie supports.")
        return None

    def _basis(self, name: str) -> str:
        """Return the base model of a variant: `fast` for `fast-2`, if both are alike."""
        match = _VARIANT.fullmatch(name)
        basis = match[1] if match else name
        entries = self.source.keys(("models",))
        is_variant = basis in entries and self._fields(basis) == self._fields(name)
        return basis if is_variant else name

    def _fields(self, name: str) -> dict[str, Any]:
        path = ("models", name)
        model = self.source.text((*path, "model"))
        if not model:
            self.source.refuse(path, "the model is missing. Write it: model.")
        return self._endpoint(self._provider(name), model, path)

    def _provider(self, name: str) -> str:
        """Return a model's provider, called `type` in the first version of the format."""
        path = ("models", name)
        return self.source.text((*path, "provider")) or self.source.text((*path, "type"))

    def _endpoint(self, provider: str, model: str, path: Path = ()) -> dict[str, Any]:
        custom = ("providers", provider)
        base = self._first("base_url", path, custom) or (MODEL_RUNNER if provider == "dmr" else "")
        key = self._first("token_key", path, custom)
        style = self.source.text((*custom, "api_type"))
        fields: dict[str, Any] = {"model": model}
        if base:
            fields["api_base"] = base
        else:
            fields["model"] = f"{PROVIDERS.get(provider, provider)}/{model}"
        if style == "openai_responses":
            fields["api"] = "responses"
        elif base and provider == "anthropic":
            fields["api"] = "anthropic"
        return {**fields, **({"key_env": key} if key else {})}

    def _first(self, name: str, *places: Path) -> str:
        """Return a field of a model, or else of its provider."""
        path = next(
            ((*place, name) for place in places if place and self.source.has((*place, name))), ()
        )
        value = self.source.text(path) if path else ""
        if name == "base_url" and "$" in value:
            self.source.lose(
                path, "variables in addresses are not supported. Write the address: api_base."
            )
            return ""
        if name == "token_key" and value and not _KEY_ENV.fullmatch(value):
            self.source.lose(path, "it is not the name of an environment variable.")
            return ""
        return value

    def _alias(self, wanted: str, whole: str, fields: dict[str, Any]) -> str:
        """Add the fields under an alias, and return it; a taken alias gets another name."""
        names = chain((wanted, whole), (f"{wanted}_{number}" for number in count(2)))
        aliases = (
            _NO_ALIAS.sub("_", name)[-LONGEST_ALIAS:].strip("_./:-") or "m" for name in names
        )
        return next(alias for alias in aliases if self.fields.setdefault(alias, fields) == fields)
