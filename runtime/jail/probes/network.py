"""Attacks through sockets and terminals."""

from __future__ import annotations

from .probe import probes

NETWORK = probes(
    {
        "connect_tcp": "socket.create_connection(('127.0.0.1', port), 1)",
        "connect_tcp6": "socket.socket(socket.AF_INET6, socket.SOCK_STREAM).fileno()",
        "send_udp": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
        ".sendto(b'x', ('127.0.0.1', port))",
        "connect_abstract": "socket.socket(socket.AF_UNIX).connect('\\0' + mark)",
        "connect_path": "socket.socket(socket.AF_UNIX).connect(outside + '/socket')",
        "open_netlink": "socket.socket(16, 3, 0).fileno()",
        "open_packet": "socket.socket(17, 3, 0).fileno()",
        "open_vsock": "socket.socket(40, 1, 0).fileno()",
        "open_raw": "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).fileno()",
        "type_into_terminal": "C.ioctl(0, 0x5412, b'x') == 0 or ctypes.get_errno() != 1",
        "open_any_family": """
gained = []
for family in range(2, 64):
    for kind in (1, 2, 3, 5):
        try:
            gained.append((family, socket.socket(family, kind).fileno()))
        except OSError:
            pass
gained
""",
        "pair_of_any_family": """
gained = []
for family in range(2, 64):
    try:
        gained.append((family, socket.socketpair(family, 1)))
    except OSError:
        pass
gained
""",
        "open_terminal": "open('/dev/tty', 'r+b', 0) and True",
    },
    alone=False,
)
"""Attacks that reach for anything outside, or type into the host's terminal."""
