"""Where code runs that an agent wrote: killable, without network, with only the task's files.

`Jails.open` returns a jail, confined as well as this machine can (`detect` says how), or refuses.
In a jail run a `PythonWorker` (one warm interpreter) and a `Shell` (a command at a time). The
adapters for smolagents and mini-swe-agent are in `smol_executor` and `mini_environment`, which
import these libraries; nothing else here does. `battery` attacks a jail and says what held.
"""

from .code.shell import Shell
from .code.worker import CellResult, PythonWorker
from .detect import detect
from .jail import Jail
from .jails import Jails
from .limits import JailLimits
from .process import JailKilled, JailLost
from .protocol import AnyJail, AnyProcess, JailPlace, JailRequest

__all__ = [
    "AnyJail",
    "AnyProcess",
    "CellResult",
    "Jail",
    "JailKilled",
    "JailLimits",
    "JailLost",
    "JailPlace",
    "JailRequest",
    "Jails",
    "PythonWorker",
    "Shell",
    "detect",
]
