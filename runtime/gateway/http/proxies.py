"""The proxy for a host's requests, from environment variables.

Only the variables count. Files such as `.netrc` are not read: they hold keys of other hosts.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from ....schema.values.errors import InputError


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
    """Return whether a host is this machine."""
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
            f"the environment variable {name.upper()} does not name a proxy that can be used here."
            " Write http://HOST:PORT or https://HOST:PORT, or unset it."
        )
    return whole
