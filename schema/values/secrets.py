"""Recognises secret keys in texts, and the secret values of an environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

_FORMS = (
    ("sk-", r"(?=[a-z_-]{0,40}+[A-Z0-9])[A-Za-z0-9_-]{20,}"),  # OpenAI, Anthropic and others
    ("gsk", r"[_-][A-Za-z0-9]{20,}"),  # Groq
    ("hf", r"[_-][A-Za-z0-9]{20,}"),  # Hugging Face
    ("r8", r"[_-][A-Za-z0-9]{20,}"),  # Replicate
    ("xai", r"[_-][A-Za-z0-9]{20,}"),
    ("pplx", r"[_-][A-Za-z0-9]{20,}"),  # Perplexity
    ("AKIA", r"[A-Z0-9]{16}\b"),  # AWS
    ("AIza", r"[A-Za-z0-9_-]{30,}"),  # Google
    ("gh", r"[pousr]_[A-Za-z0-9]{30,}"),  # GitHub
    ("github_pat_", r"[A-Za-z0-9_]{30,}"),
    ("xox", r"[abprs]-[A-Za-z0-9-]{10,}"),  # Slack
)
"""The prefixes of providers' keys, each with the pattern of the rest."""

_PRIVATE_KEY = r"""
    -----BEGIN\ (?:[A-Z]+\ )*PRIVATE\ KEY-----
    (?: (?:\s|\\+[nr])* [A-Za-z0-9+/=]{16,} )*    # its lines, as they are or in JSON
    (?: (?:\s|\\+[nr])* (?: [A-Za-z0-9+/=]{1,15} (?:\s|\\+[nr])* )?
        -----END\ (?:[A-Z]+\ )*PRIVATE\ KEY----- )?
"""


def _at_an_edge(mark: str) -> str:
    """Return the pattern of a mark that is not preceded by a letter or digit of the same word.

    A letter of a JSON or URL escape before it does not count. The pattern looks back from the
    mark's end: looking before every character would be slow, and this runs over every written line.
    """
    size = len(mark)
    escapes = (r"\\[bfnrt]", r"\\u[0-9A-Fa-f]{4}", "%[0-9A-Fa-f]{2}")
    ends = "|".join(f"(?<={escape}.{{{size}}})" for escape in escapes)
    return f"{re.escape(mark)}(?:(?<![A-Za-z0-9].{{{size}}})|{ends})"


_SECRET = re.compile(
    "|".join((*(_at_an_edge(mark) + rest for mark, rest in _FORMS), _PRIVATE_KEY)), re.VERBOSE
)
"""Matches texts that look like a key."""

_SIGNS = (
    re.compile(r"-(?:(?<=(?:sk|hf|r8)-)|(?<=(?:xai|plx)-)|(?<=xox[abprs]-)|----BEGIN)"),
    re.compile(r"_(?:(?<=(?:sk|hf|r8)_)|(?<=(?:xai|plx|pat)_)|(?<=gh[pousr]_))"),
    re.compile(r"A(?:KIA|Iza)"),
)
"""Every text that looks like a key matches one of these, and most texts match none. `re` finds a
pattern with a fixed first character ten times as fast as a general pattern."""

LOOKS_LIKE_A_KEY = (
    "this looks like a secret key. Keep keys in the environment: models.yaml names the variable"
    " (key_env)."
)
"""The message for a place with a key, without the key."""

# In a variable's name: `OPENAI_API_KEY`, `PGPASSWORD`, `NPM_TOKEN_2`, but not `KEYBOARD`.
_SECRET_WORD = re.compile(
    r"""
    (?: KEY | TOKEN | SECRET | PASS(?:WORD|WD|PHRASE)? | PWD | CREDENTIAL | AUTH | (?<![A-Z])PAT )
    S? \d* (?![A-Z])
    """,
    re.VERBOSE,
)
_ABOUT_A_SECRET = re.compile(
    r"""
    _ (?: NAME | ID | USER | USERNAME | URL | URI | HOST | PORT | PATH | FILE | DIR | FOLDER | STORE
        | SOCK | TYPE | MODE | METHOD | PROVIDER | REGION | TTL | TIMEOUT | LENGTH ) $
    """,
    re.VERBOSE,
)
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:|/[a-z][a-z0-9._-]*|/[A-Z][a-z]+)(?:[/\\]|$)")
_WORD_OR_NUMBER = re.compile(r"[A-Z]?[a-z]{0,15}|[A-Z]{1,16}|[-+.\d]{1,12}")
_IN_URL = re.compile(r"[a-z][a-z0-9+.-]*://(?P<user>[^\s/:@]*)(?::(?P<password>[^\s/@]+))?@", re.I)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S*", re.I)
_WHO_AND_WHERE = ("HOME", "HOSTNAME", "LOGNAME", "USER", "USERNAME")
SHORTEST_VALUE = 8
SHORTEST_USER = 16
"""The minimum characters for a user name without a password to count as a token."""


def keys_in(text: str) -> Iterator[re.Match[str]]:
    """Return matches of texts that look like a secret key."""
    return _SECRET.finditer(text) if _has_sign(text) else iter(())


def looks_secret(text: str) -> bool:
    """Return whether a text contains anything that looks like a key."""
    return any(keys_in(text))


def scrubbed(text: str, values: Iterable[str] = ()) -> str:
    """Replace everything that looks like a secret key, and all known secrets, in a text."""
    for secret in sorted(values, key=len, reverse=True):
        text = text.replace(secret, "[secret]")
    return _SECRET.sub("[secret]", text) if _has_sign(text) else text


def _has_sign(text: str) -> bool:
    return any(sign.search(text) for sign in _SIGNS)


def secrets_of(environment: Mapping[str, str]) -> frozenset[str]:
    """Return the secret values of an environment.

    These are the value of every variable with a telling name (`…_KEY`, `…TOKEN`, `…PASSWORD` and
    the like), and the password in every URL. A value that could occur in any text is left out: a
    word, a number, a path, an address or the user's name. Hiding it would damage texts and protect
    nothing.
    """
    usual = {environment[name] for name in _WHO_AND_WHERE if name in environment}
    texts = {secret for value in environment.values() for secret in _in_urls(value)}
    texts |= {value.strip() for name, value in environment.items() if _names_secret(name)}
    return frozenset(value for value in texts - usual if _can_be_secret(value))


def _names_secret(name: str) -> bool:
    upper = name.upper()
    return _SECRET_WORD.search(upper) is not None and _ABOUT_A_SECRET.search(upper) is None


def _can_be_secret(value: str) -> bool:
    return (
        len(value) >= SHORTEST_VALUE
        and not _WORD_OR_NUMBER.fullmatch(value)
        and not _PATH.match(value)
        and not _ADDRESS.fullmatch(value)
    )


def _in_urls(text: str) -> Iterator[str]:
    """Yield the passwords of the URLs in a text, as written and as decoded."""
    for result in _IN_URL.finditer(text):
        user, password = result["user"], result["password"]
        if password:
            yield from (password, unquote(password))
        elif len(user) >= SHORTEST_USER:
            yield from (user, unquote(user))
