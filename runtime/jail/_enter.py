"""The last step into a jail: take the jail's user and limits, then become the command.

Run inside the jail, by the interpreter alone, as

    python -I -S _enter.py folder=PATH [uid=N] [CPU=N] [AS=N] ... -- command [argument ...]

It is written for speed of starting: nothing is imported that the interpreter has not loaded, but
for `resource`.
"""

import os
import resource
import sys


def main(arguments: list[str]) -> None:
    """Set what stands before `--`, then execute what stands after it."""
    end = arguments.index("--")
    settings = dict(setting.split("=", 1) for setting in arguments[:end])
    uid, folder = settings.pop("uid", None), settings.pop("folder")
    for name, text in settings.items():
        bound = int(text)
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (bound, bound))
    if uid is not None:
        _become(int(uid))
    os.chdir(folder)
    os.umask(0o022)
    command = arguments[end + 1 :]
    os.execvp(command[0], command)


def _become(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


if __name__ == "__main__":
    main(sys.argv[1:])
