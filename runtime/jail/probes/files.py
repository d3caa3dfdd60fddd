"""Attacks on the host's files."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ....schema.values.errors import JailError
from ..workspace import read_file
from .probe import probes

if TYPE_CHECKING:
    from ..battery import Scene
    from ..code.worker import CellResult


def _host_reads_link(scene: Scene, _: CellResult) -> str:
    gained: list[str] = []
    for name in ("link", "folder/secret", "hard", "pipe", "../secret"):
        with contextlib.suppress(JailError):
            gained.append(read_file(scene.work, name, limit=1000).decode("utf-8", "replace"))
    return "the host read its own secret" if scene.token in "".join(gained) else ""


FILES = probes(
    {
        "read_passwords": "open('/etc/shadow').read()",
        "read_secret": "open(secret).read()",
        "read_home": "home_file and open(home_file, 'rb').read(1)",
        "read_through_link": "os.symlink(secret, 'link'); open('link').read()",
        "read_through_hard_link": "os.link(secret, 'hard'); open('hard').read()",
        "read_through_descriptor": """
found = []
for handle in range(3, 1024):
    try:
        found.append(os.pread(handle, 100, 0))
    except OSError:
        pass
prefix.encode() in b''.join(found)
""",
        "read_through_processes": """
found = []
for process in all_processes():
    for way in ('root', 'cwd' + '/..' * 20):
        try:
            found.append(open(f'/proc/{process}/{way}{secret}').read())
        except OSError:
            pass
prefix in ''.join(found)
""",
        "leave_links_for_host": """
os.symlink(secret, 'link')
os.symlink(os.path.dirname(secret), 'folder')
os.mkfifo('pipe')
os.link(secret, 'hard')
""",
        "write_outside": "open(outside + '/new', 'w').write('x')",
        "overwrite_secret": "open(secret, 'r+').write('mine'); os.truncate(secret, 0)",
        "change_mode": "os.chmod(secret, 0o600)",
        "write_system": """
opened = []
for path in (os.__file__, sys.executable, '/usr/bin/env', '/bin/sh', '/etc/passwd'):
    try:
        open(path, 'r+b').close()
    except OSError:
        continue
    opened.append(path)
opened
""",
        "write_kernel_settings": """
opened = []
for path in ('/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/sys/kernel/uevent_helper'):
    try:
        open(path, 'r+').close()
    except OSError:
        continue
    opened.append(path)
opened
""",
        "read_memory_device": """
gained = []
for path in ('/dev/mem', '/dev/kmem', '/dev/port', '/proc/kcore'):
    try:
        gained.append(open(path, 'rb').read(1))
    except OSError:
        pass
gained
""",
        "make_device": """
os.mknod('disk', 0o60600, root_device)
open('disk', 'rb').read(1)
""",
        "share_memory": "open(shared).read()",
        "write_shared_memory": "open(shared, 'r+').write('mine')",
        "leave_rights": """
with open('program', 'w') as file:
    file.write('#!/bin/sh')
os.chmod('program', 0o6777)
os.close(os.open('other', os.O_CREAT, 0o6777))
""",
        "set_attribute": "os.setxattr(secret, 'user.mine', b'1') or True",
        "watch_file": "C.inotify_add_watch(C.inotify_init(), secret.encode(), 0xFFF) >= 0",
        "lock_files": """
import fcntl
def lease(file): return fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
def flock(file): return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
def lock(file): return fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
gained = []
for path in (os.__file__, sys.executable, '/usr/bin/env'):
    for take in (lease, flock, lock):
        try:
            take(open(path, 'rb'))
            gained.append((take.__name__, path))
        except OSError:
            pass
gained
""",
        "break_out_of_root": """
os.mkdir('root')
gained = []
for leave in (lambda: os.chroot('root'), lambda: os.chdir('/..' * 30)):
    try:
        leave()
        gained.append(open('..' + '/..' * 30 + secret).read())
    except OSError:
        pass
gained
""",
    },
    checks={"leave_links_for_host": _host_reads_link},
)
"""Attacks that read, change or create files outside the work folder, or leave traps in it."""
