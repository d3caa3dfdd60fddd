"""Where agents' code runs: killable, without network, with only the task's files.

`Jails.open` returns the strongest jail that this machine supports (`detect` reports which), or
refuses. A `PythonWorker` (one warm interpreter) and a `Shell` (one command at a time) run in a
jail. The adapters for smolagents and mini-swe-agent are in `smol_executor` and `mini_environment`,
which import these libraries; nothing else here does. `battery` attacks a jail and reports which
attacks it stopped.
"""

from typing import TYPE_CHECKING

from ...schema.values.first_use import on_first_use

if TYPE_CHECKING:
    from .code.shell import Shell
    from .code.worker import CellResult, PythonWorker
    from .jail import Jail
    from .jails import Jails
    from .process import JailKilled, JailLost
    from .protocol import AnyJail, AnyProcess, JailPlace
    from .request import JailLimits, JailRequest

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
]

__getattr__ = on_first_use(__name__)
