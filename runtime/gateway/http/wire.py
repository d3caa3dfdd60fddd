"""A wire: how to use an API. Pure; the client sends and receives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from ..chat.body import Body
    from ..chat.messages import ChatAnswer, ChatRequest
    from ..endpoint import Endpoint


class Assembly(Protocol):
    """Assembles the events of one streamed answer.

    * `body` must return the response as it would be without streaming, so that later code treats
      both alike. Before the end, it returns the part received so far.
    * Must accept whatever an endpoint sends, in any order, without an error.
    """

    @property
    def is_whole(self) -> bool:
        """Whether the answer is complete; some endpoints send no event for it."""
        ...

    def add(self, event: Mapping[str, Any]) -> str:
        """Add an event; return its text, for live display."""
        ...

    def body(self) -> Mapping[str, Any]:
        """Return the response, including reported usage even if the answer is incomplete."""
        ...


class WireFormat(Protocol):
    """The differences between one API and the others."""

    @property
    def path(self) -> str:
        """The path after an endpoint's address."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of each request besides the key."""
        ...

    def body(self, endpoint: Endpoint, request: ChatRequest, refused: AbstractSet[str]) -> Body:
        """Return the body of a request.

        Args:
            refused: The forms of parameters that the model refuses; see `Body.of`.
        """
        ...

    def answer(self, body: Mapping[str, Any], source: str) -> ChatAnswer:
        """Extract the answer from a response.

        Raises:
            CallError: The response has no answer in this API's form.
        """
        ...

    def assembly(self) -> Assembly:
        """Return an empty assembly for a streamed answer."""
        ...
