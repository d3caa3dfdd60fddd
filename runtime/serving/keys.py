"""The clients' API keys."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...schema.values.errors import InputError
from .refusals import Refusal

VARIABLE = "MAS_SERVE_KEYS"
SHORTEST = 16
"""The fewest characters of a key."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys that clients may send; if empty, everyone on this machine is a client."""

    texts: frozenset[str] = frozenset()

    @classmethod
    def read(cls, file: Path | None, environment: Mapping[str, str]) -> Keys:
        """Read the keys of a file, one a line, and those of the environment, separated by blanks.

        Raises:
            InputError: The file cannot be read or has no key, or a key is too short.
        """
        keys = environment.get(VARIABLE, "").split()
        if file is not None:
            keys += _lines_of(file)
        for key in keys:
            if len(key) < SHORTEST or not key.isascii():
                raise InputError(
                    f"a client key has {len(key)} characters. Use at least {SHORTEST} ASCII"
                    " characters, for instance from: openssl rand -hex 24."
                )
        return cls(frozenset(keys))

    def caller(self, headers: Mapping[str, str]) -> str:
        """Return the digest of a request's key; empty if no key is needed.

        Every key is compared, in constant time.

        Raises:
            Refusal: The request carries none of the keys.
        """
        if not self.texts:
            return ""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        sent = _digest(token.strip() if scheme.lower() == "bearer" else "")
        if sum(hmac.compare_digest(sent, digest) for digest in map(_digest, self.texts)):
            return sent
        raise Refusal(
            401,
            "this server needs a key: Authorization: Bearer KEY. Ask its operator for one.",
            code="invalid_api_key",
        )


def _lines_of(file: Path) -> Iterable[str]:
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: the keys cannot be read: {error}.") from None
    keys = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not keys:
        raise InputError(f"{file}: contains no key. Write one on each line.")
    return keys


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
