"""A wire: how an API is spoken to. Pure; sending and receiving is the client's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from ..chat.body import Body
    from ..chat.messages import ChatAnswer, ChatRequest
    from ..endpoint import Endpoint


class Assembly(Protocol):
    """Puts the events of one streamed answer together.

    * Must give in `body` what the response would have been without streaming, so that everything
      behind it reads both alike. Before the end it is as much of it as there is.
    * Must take whatever an endpoint sends, in any order, without an error.
    """

    @property
    def is_whole(self) -> bool:
        """Whether the answer has ended; not every endpoint says so after it."""
        ...

    def add(self, event: Mapping[str, Any]) -> str:
        """Take an event; give the words that came with it, for people who watch."""
        ...

    def body(self) -> Mapping[str, Any]:
        """Give the response. Usage that was told is in it, also of an answer that is not whole."""
        ...


class WireFormat(Protocol):
    """What one API differs in from others."""

    @property
    def path(self) -> str:
        """What follows an endpoint's address."""
        ...

    def headers(self, endpoint: Endpoint) -> Mapping[str, str]:
        """Return the headers of a request, the key in them."""
        ...

    def body(self, endpoint: Endpoint, request: ChatRequest, refused: AbstractSet[str]) -> Body:
        """Write a request.

        Args:
            refused: The forms of parameters that the model does not take; see `Body.of`.
        """
        ...

    def answer(self, body: Mapping[str, Any], source: str) -> ChatAnswer:
        """Take the answer out of a response.

        Raises:
            CallError: There is none in it, as this API has it.
        """
        ...

    def assembly(self) -> Assembly:
        """Begin to put a streamed answer together."""
        ...
