"""Attacks on the host's files."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ....schema.errors import JailError
from ..workspace import read_file
from .probe import Probe

if TYPE_CHECKING:
    from ..battery import Scene
    from ..worker import Execution

__all__ = ["FILES"]


def _host_reads_link(scene: Scene, _: Execution) -> str:
    gained: list[str] = []
    for name in ("link", "folder/secret", "hard", "pipe", "../secret"):
        with contextlib.suppress(JailError):
            gained.append(read_file(scene.work, name, limit=1000).decode("utf-8", "replace"))
    return "the host read its own secret" if scene.token in "".join(gained) else ""


FILES = (
    Probe(
        name="read_passwords",
        attempt="read the host's password hashes",
        code="open('/etc/shadow').read()",
    ),
    Probe(name="read_secret", attempt="read a file of the host", code="open(secret).read()"),
    Probe(
        name="read_home",
        attempt="read a file in the user's home folder",
        code="home_file and open(home_file, 'rb').read(1)",
    ),
    Probe(
        name="read_through_link",
        attempt="read a file of the host through a symbolic link in the work folder",
        code="os.symlink(secret, 'link'); open('link').read()",
    ),
    Probe(
        name="read_through_hard_link",
        attempt="read a file of the host through a hard link in the work folder",
        code="os.link(secret, 'hard'); open('hard').read()",
    ),
    Probe(
        name="read_through_descriptor",
        attempt="read a file of the host that was left open",
        code="""
found = []
for handle in range(3, 1024):
    try:
        found.append(os.pread(handle, 100, 0))
    except OSError:
        pass
prefix.encode() in b''.join(found)
""",
    ),
    Probe(
        name="read_through_processes",
        attempt="read a file of the host through the root or work folder of another process",
        code="""
found = []
for process in all_processes():
    for way in ('root', 'cwd' + '/..' * 20):
        try:
            found.append(open(f'/proc/{process}/{way}{secret}').read())
        except OSError:
            pass
prefix in ''.join(found)
""",
    ),
    Probe(
        name="leave_links_for_host",
        attempt="make the host read its own secret through links in the work folder",
        code="""
os.symlink(secret, 'link')
os.symlink(os.path.dirname(secret), 'folder')
os.mkfifo('pipe')
os.link(secret, 'hard')
""",
        check=_host_reads_link,
    ),
    Probe(
        name="write_outside",
        attempt="make a file outside of the work folder",
        code="open(outside + '/new', 'w').write('x')",
    ),
    Probe(
        name="overwrite_secret",
        attempt="change a file that everybody may write",
        code="open(secret, 'r+').write('mine'); os.truncate(secret, 0)",
    ),
    Probe(
        name="change_mode",
        attempt="change the mode of a file of the host",
        code="os.chmod(secret, 0o600)",
    ),
    Probe(
        name="write_system",
        attempt="change the system's programs or the interpreter's library",
        code="""
opened = []
for path in (os.__file__, sys.executable, '/usr/bin/env', '/bin/sh', '/etc/passwd'):
    try:
        open(path, 'r+b').close()
    except OSError:
        continue
    opened.append(path)
opened
""",
    ),
    Probe(
        name="write_kernel_settings",
        attempt="open the kernel's settings for writing",
        code="""
opened = []
for path in ('/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/sys/kernel/uevent_helper'):
    try:
        open(path, 'r+').close()
    except OSError:
        continue
    opened.append(path)
opened
""",
    ),
    Probe(
        name="read_memory_device",
        attempt="read the machine's memory",
        code="""
gained = []
for path in ('/dev/mem', '/dev/kmem', '/dev/port', '/proc/kcore'):
    try:
        gained.append(open(path, 'rb').read(1))
    except OSError:
        pass
gained
""",
    ),
    Probe(
        name="make_device",
        attempt="make a device file for the disk and read it",
        code="""
os.mknod('disk', 0o60600, root_device)
open('disk', 'rb').read(1)
""",
    ),
    Probe(
        name="share_memory",
        attempt="read memory that processes of the host share",
        code="open(shared).read()",
    ),
    Probe(
        name="write_shared_memory",
        attempt="change memory that processes of the host share",
        code="open(shared, 'r+').write('mine')",
    ),
    Probe(
        name="leave_rights",
        attempt="leave a program that runs with its owner's rights, whoever starts it",
        code="""
with open('program', 'w') as file:
    file.write('#!/bin/sh')
os.chmod('program', 0o6777)
os.close(os.open('other', os.O_CREAT, 0o6777))
""",
    ),
    Probe(
        name="set_attribute",
        attempt="set an extended attribute of a file of the host",
        code="os.setxattr(secret, 'user.mine', b'1') or True",
    ),
    Probe(
        name="watch_file",
        attempt="watch what the host does with a file",
        code="C.inotify_add_watch(C.inotify_init(), secret.encode(), 0xFFF) >= 0",
    ),
    Probe(
        name="lock_files",
        attempt="hold up the host's programs by a lock of a file that it may only read",
        code="""
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
    ),
    Probe(
        name="break_out_of_root",
        attempt="walk out of its root folder",
        code="""
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
    ),
)
"""They read, change or make files outside of the work folder, or leave some in it as traps."""
