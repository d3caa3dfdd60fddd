"""How acts are written as the object by which an agent acts that has no tools."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from coterie.runtime.agents.acts import Finalize, Send, Start

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from coterie.runtime.agents.acts import Act

__all__ = ["Form"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """The form of an object by which an agent acts.

    Attributes:
        kinds: The acts that are possible, each with its arguments' schemas.
    """

    kinds: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, schema: Mapping[str, Any] | None) -> Self | None:
        """Read it off the schema of an answer; None: the agent does not act.

        Args:
            schema: The schema.
        """
        properties = (schema or {}).get("properties", {})
        if "acts" not in properties:
            return None
        choices = properties["acts"].get("items", {}).get("anyOf", ())
        return cls(kinds={one["properties"]["act"]["const"]: one["properties"] for one in choices})

    @property
    def candidates(self) -> frozenset[str]:
        """Name who can be started."""
        return frozenset(self.kinds.get("start_agent", {}).get("agent", {}).get("enum", ()))

    def written(self, acts: Iterable[Act], report: str) -> str:
        """Write an object; an act that is not possible is left out.

        Args:
            acts: What is done.
            report: What the turn comes to.
        """
        return json.dumps({"acts": [*self._possible(acts)], "report": report})

    def _possible(self, acts: Iterable[Act]) -> Iterator[Mapping[str, str]]:
        for act in acts:
            said = _fields(act)
            known = self.kinds.get(said["act"])
            if known is not None and all(
                said[name] in form["enum"] for name, form in known.items() if "enum" in form
            ):
                yield said


def _fields(act: Act) -> Mapping[str, str]:
    match act:
        case Send():
            return {"act": "send", "to": act.to, "text": act.text}
        case Start():
            return {"act": "start_agent", "agent": act.agent, "text": act.text}
        case Finalize():
            return {"act": "finalize", "answer": act.answer}
        case _:
            raise TypeError(f"nobody in the world does this: {act!r}")
