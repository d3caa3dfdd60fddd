"""What looks like a secret key, wherever it is written."""

from __future__ import annotations

import re

__all__ = ["SECRET", "looks_secret", "scrubbed"]

SECRET = re.compile(
    r"""
    \b (?:
        sk- (?= [a-z_-]{0,40} [A-Z0-9] ) [A-Za-z0-9_-]{20,}    # OpenAI, Anthropic and others
      | (?: gsk | hf | r8 | xai | pplx ) [_-] [A-Za-z0-9]{20,}
      | AKIA [A-Z0-9]{16} \b                     # AWS
      | AIza [A-Za-z0-9_-]{30,}                  # Google
      | gh[pousr]_ [A-Za-z0-9]{30,}              # GitHub
      | github_pat_ [A-Za-z0-9_]{30,}
      | xox[abprs]- [A-Za-z0-9-]{10,}            # Slack
    )
    | -----BEGIN\ (?:[A-Z]+\ )*PRIVATE\ KEY-----
    """,
    re.VERBOSE,
)
"""Forms of keys that providers give out."""


def looks_secret(text: str) -> bool:
    """Tell whether a text holds something of a key's form."""
    return SECRET.search(text) is not None


def scrubbed(text: str) -> str:
    """Give a text without what looks like a secret key."""
    return SECRET.sub("[secret]", text)
