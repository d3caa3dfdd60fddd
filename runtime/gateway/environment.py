"""Addresses, keys and proxies from environment variables, validated like those of models.yaml.

Only the variables count. Files such as `.netrc` are not read: they hold keys of other hosts.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from ...schema.values.errors import InputError
from ...schema.values.problems import quoted

MISWRITTEN = {
    r"(?i)bearer\s": "begins with Bearer, which is added to every key",
    r"\$": "begins with $: it names a variable instead of the key",
    r"(export )?[A-Z0-9_]+_(KEY|TOKEN)=": "begins with a variable name",
    r"\S+ #": "ends with a comment",
}
"""Beginnings and endings of text that is not a key, and what is wrong with it."""
HEADER = re.compile("[ -~]{1,4096}")
"""The value of a header: one line of ASCII, as in models.yaml."""
QUOTES = ('"', "'", "`")
_LOGIN = re.compile(r"(?<=//)[^/\s]*@")


def first_key(names: tuple[str, ...], environment: Mapping[str, str]) -> str | None:
    """Return the key in the first variable that is set; None if none is.

    Raises:
        InputError: The key cannot be sent unchanged. The message contains no part of it.
    """
    for name in names:
        if key := environment.get(name):
            if why := _unsendable(key):
                raise InputError(f"the environment variable {name} {why}. Set it to the key alone.")
            return key
    return None


def check_address(address: str, where: str) -> None:
    """Refuse an address that cannot be called.

    Raises:
        InputError: The address is invalid. The message contains no password.
    """
    if why := _uncallable(address):
        shown = quoted(without_login(address))
        raise InputError(f"{where}: {shown} {why}. Write http://HOST:PORT/v1, or https.")


def without_login(address: str) -> str:
    """Return an address without its user name and password."""
    return _LOGIN.sub("[secret]@", address)


def _unsendable(key: str) -> str:
    """Return what is wrong with a key; empty if valid."""
    if key != key.strip():
        what = "a space" if key.strip("\r\n") == key else "a line end"
        return f"begins or ends with {what}, perhaps copied from a file"
    if key[0] in QUOTES and key[-1] == key[0]:
        return "is in quotes"
    for pattern, why in MISWRITTEN.items():
        if re.match(pattern, key):
            return why
    return "" if HEADER.fullmatch(key) else "has a character that is invalid in keys"


def _uncallable(address: str) -> str:
    """Return what is wrong with an address; empty if valid."""
    if address.startswith(QUOTES) or address.endswith(QUOTES):
        return "is in quotes"
    if not address.lower().startswith(("http://", "https://")):
        return "does not begin with http:// or https://"
    try:
        parts = urlsplit(address)
        is_place = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return "has no host or an invalid port"
    if "@" in address:
        return "contains a user name or a password. Use key_env or header_env for keys"
    if "?" in address or "#" in address:
        return "contains a query or a fragment. Set a version with api_version in models.yaml"
    is_valid = is_place and not re.search(r"[\s\\<>]", address)
    return "" if is_valid else "has no host or invalid characters"


def proxy_for(url: str, environment: Mapping[str, str]) -> str | None:
    """Return the proxy for an address; None for a direct connection.

    `HTTP_PROXY`, `HTTPS_PROXY` and `ALL_PROXY` name proxies, by the scheme of the address;
    `NO_PROXY` names the hosts to reach directly. Lower-case names take precedence. This machine
    itself is never reached through a proxy.
    """
    address = urlsplit(url)
    if _is_loopback(address.hostname or ""):
        return None
    for name in (f"{address.scheme}_proxy", "all_proxy"):
        if proxy := _value(name, environment):
            break
    else:
        return None
    if _is_exempt(address.netloc.rpartition("@")[2], _value("no_proxy", environment)):
        return None
    return _address(name, proxy)


def shown_proxy(proxy: str) -> str:
    """Return a proxy's address for messages, without its password."""
    return urlsplit(proxy).netloc.rpartition("@")[2]


def password_of(proxy: str) -> str | None:
    """Return the password in a proxy's address; None if it has none."""
    password = urlsplit(proxy).password
    return unquote(password) if password else None


def _is_exempt(place: str, listed: str) -> bool:
    """Return whether `NO_PROXY` covers a host: by name, suffix, network, or `*`.

    Args:
        place: The host, with its port if the address has one.
        listed: The value of `NO_PROXY`, separated by commas.
    """
    host = urlsplit(f"//{place}").hostname or ""
    for name in (entry.strip().lower() for entry in listed.split(",")):
        if name in {"*", host, place.lower()} or (name and host.endswith(f".{name.lstrip('.')}")):
            return True
        if "/" in name and _is_in(host, name):
            return True
    return False


def _is_in(host: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _value(name: str, environment: Mapping[str, str]) -> str:
    return environment.get(name) or environment.get(name.upper()) or ""


def _address(name: str, proxy: str) -> str:
    """Validate a proxy's address. Messages do not show it, because it may contain a password."""
    whole = proxy if "://" in proxy else f"http://{proxy}"
    try:
        parts = urlsplit(whole)
        is_one = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        is_one = False
    if not is_one:
        raise InputError(
            f"the environment variable {name.upper()} does not name a supported proxy. Set it to"
            " http://HOST:PORT or https://HOST:PORT, or unset it."
        )
    return whole
