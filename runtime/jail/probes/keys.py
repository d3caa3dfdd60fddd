"""Attacks on the host's keys, and on the line to the host."""

from __future__ import annotations

from .probe import Probe, went_on

KEYS = (
    Probe(
        name="read_environment",
        code="[name for name, value in os.environ.items() if value.startswith(prefix)]",
    ),
    Probe(
        name="read_every_environment",
        code="""
found = []
for process in all_processes():
    try:
        if prefix.encode() in open(f'/proc/{process}/environ', 'rb').read():
            found.append(process)
    except OSError:
        pass
found
""",
    ),
    Probe(name="format_to_globals", code="prefix in '{0.__globals__[os].environ}'.format(tool)"),
    Probe(
        name="format_of_everything",
        code="""
import builtins, re
paths = ('__globals__[os].environ', '__self__.__dict__', '__init__.__globals__[sys].modules[os]',
         'gi_frame.f_back.f_globals', '__code__.co_consts', '__class__.__mro__[1].__dict__')
found = []
for thing in (*vars(builtins).values(), (one for one in [1]), tool, os.environ, sys):
    for path in paths:
        try:
            found.append(('{0.' + path + '}').format(thing))
        except Exception:
            pass
bool(re.search(prefix + '[0-9a-f]{16}', ''.join(found)))
""",
    ),
    Probe(
        name="frame_to_host",  # climb the frames under a generator to the host's variables
        code="""
generator = (sys._getframe() for _ in [1])
inner = (inner.gi_frame.f_back for _ in [1])
names = set()
for frame in (next(generator), next(inner), sys._getframe()):
    while frame is not None:
        names |= {*frame.f_locals, *frame.f_globals}
        frame = frame.f_back
host_name in names
""",
    ),
    Probe(
        name="call_ungranted_tool",
        code="""
import json
forged = json.dumps({'op': 'call', 'name': 'forbidden', 'args': [], 'kwargs': {}}) + '\\n'
for handle in range(3, 64):
    try:
        os.write(handle, forged.encode())
    except OSError:
        pass
""",
    ),
    Probe(
        name="forge_messages",
        code="""
for text in (b'[' * 100000, b'{}', b'\\xff\\xfe', b'1e999', b'"\\\\ud800"', b'x' * (1 << 24)):
    for handle in range(3, 64):
        try:
            os.write(handle, text + b'\\n')
        except OSError:
            pass
""",
        check=went_on,
    ),
    Probe(
        name="objects_to_host",  # find a key of the host among all objects of the interpreter
        code="""
import gc
texts = {one for thing in gc.get_objects() for one in gc.get_referents(thing) if type(one) is str}
[one for one in texts if one.startswith(prefix) and one != prefix]
""",
    ),
    Probe(
        name="interleave_messages",
        code="""
import threading
def shout():
    while True:
        for handle in range(3, 64):
            try:
                os.write(handle, b'{"op": "done", "value": null}\\n{"op": "do')
            except OSError:
                pass
threading.Thread(target=shout, daemon=True).start()
time.sleep(0.2)
""",
    ),
    Probe(
        name="half_a_message",  # mix half of a message with those of its interpreter
        code="""
for handle in range(3, 64):
    try:
        os.write(handle, b'{"op": "call", "name": "tool", "args": [')
    except OSError:
        pass
""",
        check=went_on,
    ),
    Probe(
        name="deep_message",
        code="""
for handle in range(3, 64):
    for depth in (70, 500, 900):
        try:
            os.write(handle, b'{"op": "done", "value": ' + b'[' * depth + b']' * depth + b'}\\n')
        except OSError:
            pass
""",
        check=went_on,
    ),
    Probe(
        name="infinite_message",
        code="""
for handle in range(3, 64):
    try:
        os.write(handle, b'{"op": "done", "value": 1e999}\\n')
    except OSError:
        pass
""",
        check=went_on,
    ),
)
"""They look for a key that the host has in its environment, or forge messages to the host."""
