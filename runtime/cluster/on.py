"""Where agents' code runs, as a user sets it with `--on`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec

from ...schema.values.errors import InputError
from ...schema.values.extras import how_to_get

_ADDRESS = re.compile(r"(?P<host>[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:]+\]):(?P<port>\d{1,5})")
_LAST_PORT = 65535
WAYS = (
    "Write ray for a new cluster on this machine, ray:auto or ray:HOST:PORT for the cluster that"
    " this machine belongs to, or ray://HOST:PORT for any other, through its Ray Client server."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class On:
    """A requested cluster.

    Attributes:
        address: In Ray's form: `local`, `auto`, `HOST:PORT` or `ray://HOST:PORT`.
        host: The address's host; empty if it has none.
    """

    text: str
    address: str
    host: str = ""
    port: int = 0

    @classmethod
    def parse(cls, text: str) -> On:
        """Parse the value of `--on`.

        Raises:
            InputError: The value is invalid, or Ray is not installed.
        """
        kind, _, rest = text.partition(":")
        result = _ADDRESS.fullmatch(rest.removeprefix("//"))
        if kind != "ray" or (result is None and text not in {"ray", "ray:auto"}):
            raise InputError(f"--on {text!r} is not a cluster. {WAYS}")
        if result is not None and not 0 < int(result["port"]) <= _LAST_PORT:
            raise InputError(f"--on {text!r}: invalid port {result['port']}. {WAYS}")
        if find_spec("ray") is None:
            raise InputError(
                f"--on {text} needs Ray, which is not installed. Run: {how_to_get('ray')}"
            )
        if result is None:
            return cls(text=text, address=rest or "local")
        address = text if rest.startswith("//") else rest
        return cls(
            text=text, address=address, host=result["host"].strip("[]"), port=int(result["port"])
        )
