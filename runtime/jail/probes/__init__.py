"""The attacks of the battery: what a hostile cell of Python tries in a jail.

Each is a cell whose last value is what it gained, anything false if that is nothing; a cell that
fails gained nothing either. Where only the host can tell, `check` does; and after each attack the
host looks whether anything of its own was harmed. The variables that cells find are those of the
battery's scene, and two functions: `call(name, *arguments)` makes a system call and returns None if
the kernel refuses it, `all_processes()` returns the ids that a process could have.
"""

from .files import FILES
from .kernel import KERNEL
from .keys import KEYS
from .network import NETWORK
from .probe import Probe
from .processes import PROCESSES
from .resources import RESOURCES

__all__ = ["PROBES", "Probe"]

PROBES: tuple[Probe, ...] = (*FILES, *KEYS, *PROCESSES, *NETWORK, *RESOURCES, *KERNEL)
"""All of them, the quick ones first."""
