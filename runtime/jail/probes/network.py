"""Attacks through sockets and terminals."""

from __future__ import annotations

from .probe import Probe

NETWORK = (
    Probe(name="connect_tcp", code="socket.create_connection(('127.0.0.1', port), 1)", alone=False),
    Probe(
        name="connect_tcp6",
        code="socket.socket(socket.AF_INET6, socket.SOCK_STREAM).fileno()",
        alone=False,
    ),
    Probe(
        name="send_udp",
        code="socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', port))",
        alone=False,
    ),
    Probe(
        name="connect_abstract",
        code="socket.socket(socket.AF_UNIX).connect('\\0' + mark)",
        alone=False,
    ),
    Probe(
        name="connect_path",
        code="socket.socket(socket.AF_UNIX).connect(outside + '/socket')",
        alone=False,
    ),
    *(
        Probe(
            name=f"open_{family}",
            code=f"socket.socket({number}, {kind}, 0).fileno()",
            alone=False,
        )
        for family, number, kind in (("netlink", 16, 3), ("packet", 17, 3), ("vsock", 40, 1))
    ),
    Probe(
        name="open_raw",
        code="socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).fileno()",
        alone=False,
    ),
    Probe(
        name="type_into_terminal",
        code="C.ioctl(0, 0x5412, b'x') == 0 or ctypes.get_errno() != 1",
        alone=False,
    ),
    Probe(
        name="open_any_family",
        code="""
gained = []
for family in range(2, 64):
    for kind in (1, 2, 3, 5):
        try:
            gained.append((family, socket.socket(family, kind).fileno()))
        except OSError:
            pass
gained
""",
        alone=False,
    ),
    Probe(
        name="pair_of_any_family",
        code="""
gained = []
for family in range(2, 64):
    try:
        gained.append((family, socket.socketpair(family, 1)))
    except OSError:
        pass
gained
""",
        alone=False,
    ),
    Probe(name="open_terminal", code="open('/dev/tty', 'r+b', 0) and True", alone=False),
)
"""They reach for anything that is outside, or type into the host's terminal."""
