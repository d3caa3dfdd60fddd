"""Attacks on the host's keys, and on the connection to the host."""

from __future__ import annotations

from .probe import probes, went_on

KEYS = probes(
    {
        "read_environment": "[name for name, value in os.environ.items()"
        " if value.startswith(prefix)]",
        "read_every_environment": """
found = []
for process in all_processes():
    try:
        if prefix.encode() in open(f'/proc/{process}/environ', 'rb').read():
            found.append(process)
    except OSError:
        pass
found
""",
        "format_to_globals": "prefix in '{0.__globals__[os].environ}'.format(tool)",
        "format_of_everything": """
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
        # climb the frames under a generator to the host's variables
        "frame_to_host": """
generator = (sys._getframe() for _ in [1])
inner = (inner.gi_frame.f_back for _ in [1])
names = set()
for frame in (next(generator), next(inner), sys._getframe()):
    while frame is not None:
        names |= {*frame.f_locals, *frame.f_globals}
        frame = frame.f_back
host_name in names
""",
        "call_ungranted_tool": """
import json
forged = json.dumps({'op': 'call', 'name': 'forbidden', 'args': [], 'kwargs': {}}) + '\\n'
for handle in range(3, 64):
    try:
        os.write(handle, forged.encode())
    except OSError:
        pass
""",
        "forge_messages": """
for text in (b'[' * 100000, b'{}', b'\\xff\\xfe', b'1e999', b'"\\\\ud800"', b'x' * (1 << 24)):
    for handle in range(3, 64):
        try:
            os.write(handle, text + b'\\n')
        except OSError:
            pass
""",
        # find a key of the host among all objects of the interpreter
        "objects_to_host": """
import gc
texts = {one for thing in gc.get_objects() for one in gc.get_referents(thing) if type(one) is str}
[one for one in texts if one.startswith(prefix) and one != prefix]
""",
        "interleave_messages": """
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
        # mix half of a message with those of its interpreter
        "half_a_message": """
for handle in range(3, 64):
    try:
        os.write(handle, b'{"op": "call", "name": "tool", "args": [')
    except OSError:
        pass
""",
        "deep_message": """
for handle in range(3, 64):
    for depth in (70, 500, 900):
        try:
            os.write(handle, b'{"op": "done", "value": ' + b'[' * depth + b']' * depth + b'}\\n')
        except OSError:
            pass
""",
        "infinite_message": """
for handle in range(3, 64):
    try:
        os.write(handle, b'{"op": "done", "value": 1e999}\\n')
    except OSError:
        pass
""",
    },
    checks=dict.fromkeys(
        ("forge_messages", "half_a_message", "deep_message", "infinite_message"), went_on
    ),
)
"""Attacks that look for a key in the host's environment, or forge messages to the host."""
