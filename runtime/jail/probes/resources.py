"""Attacks on the machine's resources: memory, disk, processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..code.worker import MOST_CALLS
from .probe import probes

if TYPE_CHECKING:
    from ..battery import Scene
    from ..code.worker import CellResult


def _flooded(scene: Scene, execution: CellResult) -> str:
    size = len(execution.logs.encode())
    return "" if size < scene.limits.output + 1000 else f"{size} bytes of output were kept"


def _called_without_end(scene: Scene, _: CellResult) -> str:
    return "" if scene.calls <= MOST_CALLS else f"it called a tool {scene.calls} times"


def _went_beyond(_: Scene, execution: CellResult) -> str:
    error = execution.error or ""
    stopped = "held more than" in error or "grew by more than" in error
    return "" if stopped else f"no limit ended it: {error[-200:]}"


_CHECKS = {
    "take_memory_together": _went_beyond,
    "fill_disk": _went_beyond,
    "fill_disk_unseen": _went_beyond,
    "fill_disk_hidden": _went_beyond,
    "fill_folders": _went_beyond,
    "print_flood": _flooded,
    "call_tools_without_end": _called_without_end,
}
RESOURCES = probes(
    {
        "take_memory": "bytearray(memory + (64 << 20)) and True",
        "take_memory_together": """
for _ in range(4):
    if os.fork() == 0:
        taken = bytearray(memory // 2)
        taken[::4096] = b'x' * len(taken[::4096])
        time.sleep(100)
time.sleep(100)
""",
        # beyond its limit, in what is not mapped any more
        "hold_shared_memory": """
C.mmap.restype = ctypes.c_void_p
C.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
C.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
size = 16 << 20
def hold(flags, handle):
    address = C.mmap(None, size, 3, flags, handle, 0)
    if address == 2**64 - 1:
        raise OSError(ctypes.get_errno())
    ctypes.memset(address, 1, size)
    C.munmap(address + 4096, size - 4096)  # the kernel keeps the content while a page is mapped
    return address
def zero():
    return os.open('/dev/zero', os.O_RDWR)
def memfd():
    handle = os.memfd_create('memory')
    os.truncate(handle, size)
    return handle
gained = []
for source, flags in ((lambda: -1, 0x21), (zero, 0x01), (memfd, 0x01)):
    held = []
    try:
        while len(held) * size <= memory:
            held.append(hold(flags, source()))
        gained.append(len(held) * size)
    except OSError:
        pass
    for address in held:
        C.munmap(address, 4096)
gained
""",
        "fork_bomb": """
started = 0
try:
    while started <= processes:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        started += 1
except OSError:
    pass
started > processes
""",
        "thread_bomb": """
import threading
threading.stack_size(1 << 16)
try:
    for _ in range(processes + 1):
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
    gained = True
except RuntimeError:
    gained = False
gained
""",
        "huge_file": """
with open('huge', 'wb') as file:
    file.truncate(file_size + 1)
True
""",
        # room that the disk keeps for a file
        "allocate_beyond_end": """
import struct
gained = []
def fallocate(handle, size):
    C.fallocate(handle, 1, ctypes.c_long(0), ctypes.c_long(size))  # FALLOC_FL_KEEP_SIZE
def reserve(handle, size):
    C.ioctl(handle, 0x4030582A, struct.pack('hhxxxxqqiI16x', 0, 0, 0, size, 0, 0))  # RESVSP64
def extend(handle, size):
    C.fallocate(handle, 0, ctypes.c_long(0), ctypes.c_long(size))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for take in (fallocate, reserve, extend):
    with open(take.__name__, 'wb') as file:
        take(file.fileno(), 2 * file_size)
        if os.fstat(file.fileno()).st_blocks * 512 > file_size:
            gained.append(take.__name__)
gained
""",
        "fill_disk": """
for number in range(3 * disk // (8 << 20)):
    with open(f'file{number}', 'wb') as file:
        file.write(bytes(8 << 20))
    time.sleep(0.1)
time.sleep(100)
""",
        # fill the disk with files that are deleted but still open
        "fill_disk_unseen": """
files = []
for number in range(3 * disk // (8 << 20)):
    files.append(open('/tmp/unseen' if has_mounts else work + '/unseen', 'wb'))
    os.unlink(files[-1].name)
    files[-1].write(bytes(8 << 20))
    files[-1].flush()
    time.sleep(0.1)
time.sleep(100)
""",
        # fill the disk in a folder that nobody may look into
        "fill_disk_hidden": """
os.mkdir('hidden')
for number in range(3 * disk // (8 << 20)):
    os.chmod('hidden', 0o700)
    with open(f'hidden/file{number}', 'wb') as file:
        os.chmod('hidden', 0o000)
        file.write(bytes(8 << 20))
    time.sleep(0.1)
time.sleep(100)
""",
        "fill_folders": """
for number in range(3 * disk // 4096):
    open(f'{number}', 'wb').close()
time.sleep(100)
""",
        # fill a file system that is in memory
        "fill_memory_disk": """
gained = []
for folder in ('/', '/dev', '/run', '/sys', '/proc', '/usr', '/etc', '/root', '/var'):
    try:
        open(folder + '/fill', 'wb').close()
    except OSError:
        continue
    # What is the jail's own is on the disk, as /tmp is, and counts.
    if not (has_mounts and os.stat(folder).st_dev == os.stat('/tmp').st_dev):
        gained.append(folder)
gained
""",
        "print_flood": """
for _ in range(64):
    print('x' * (1 << 20))
    os.write(1, b'y' * (1 << 16))
""",
        "call_tools_without_end": f"""
for _ in range({2 * MOST_CALLS}):
    granted_tool()
""",
        "open_files": """
opened = []
try:
    while len(opened) <= open_files:
        opened.append(open('/dev/null'))
except OSError:
    pass
len(opened) > open_files
""",
    },
    checks=_CHECKS,
    timeouts=dict.fromkeys(_CHECKS, 600.0),  # a slow machine takes long to reach a limit
    harmful=("fill_memory_disk",),
)
"""Attacks that exceed their limits."""
