"""Tools: what agents may do besides talking. They run on the host, whichever agent calls them.

A tool is one of three things: a `Tool` registered under its name in the entry-point group
`coterie.tools`; a part of a `Toolkit` that is registered there and granted as a whole; or a tool of
a server in the host's tools.yaml. A team file grants tools to agents by name; the host defines what
a name means.
"""

from typing import TYPE_CHECKING

from ...schema.values.first_use import on_first_use

if TYPE_CHECKING:
    from .tool import GrantedTool, Tool, ToolError, Toolkit
    from .toolbox import Toolbox

__all__ = ["GrantedTool", "Tool", "ToolError", "Toolbox", "Toolkit"]

__getattr__ = on_first_use(__name__)
