"""Functions of ours as source text that runs without coterie, with all that they need."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import resolve_name
from types import MappingProxyType

from . import standing_in

STAND_INS: Mapping[str, str] = MappingProxyType(
    {name: name for name in ("is_list", "is_mapping", "scrubbed")}
    | {"AgentError": "NoAnswer", "_checker": "checker"}
)
"""Names of ours for which smaller definitions stand in, with what those are called."""


def source_of(functions: Iterable[Callable[..., object]]) -> str:
    """Return the source of functions, of whatever they use of ours, and their imports.

    Annotations are left out, and so are comments. Two private names that are the same in two
    modules are told apart by the name of the module.

    Args:
        functions: Functions at the top of modules of ours.
    """
    source = _Source()
    for function in functions:
        source.name_of(function.__module__, function.__name__)
    return "\n\n\n".join(["\n".join(sorted(source.imports)), *source.definitions]).strip()


@dataclass(kw_only=True, slots=True)
class _Source:
    """What is carried so far: definitions come after those that they use."""

    imports: set[str] = field(default_factory=set[str])
    definitions: list[str] = field(default_factory=list[str])
    _names: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    _modules: dict[str, Mapping[str, ast.stmt]] = field(
        default_factory=dict[str, "Mapping[str, ast.stmt]"]
    )

    def name_of(self, module: str, name: str) -> str | None:
        """Carry a name of a module; return what it is called in the text, None where unknown."""
        if name in STAND_INS:
            module, name = standing_in.__name__, STAND_INS[name]
        if (module, name) in self._names:
            return self._names[module, name]
        statement = self._statements(module).get(name)
        match statement:
            case None:
                return None
            case ast.ImportFrom(level=level) if level:
                target = resolve_name(
                    "." * level + (statement.module or ""), module.rpartition(".")[0]
                )
                original = next(alias.name for alias in statement.names if _bound(alias) == name)
                return self.name_of(target, original)
            case ast.Import() | ast.ImportFrom():
                alias = next(alias for alias in statement.names if _bound(alias) == name)
                imported = ast.unparse(ast.Import(names=[alias]))
                of = f"from {statement.module} " if isinstance(statement, ast.ImportFrom) else ""
                self.imports.add(f"{of}{imported}")
                return name
            case _:
                return self._define(module, name, statement)

    def _define(self, module: str, name: str, statement: ast.stmt) -> str:
        is_taken = name in self._names.values()
        called = f"{module.rpartition('.')[2]}{name}" if is_taken else name
        self._names[module, name] = called
        bare = _Bare().visit(statement)
        used = dict.fromkeys(node.id for node in ast.walk(bare) if isinstance(node, ast.Name))
        names = {word: self.name_of(module, word) or word for word in used}
        text = ast.unparse(
            ast.fix_missing_locations(_Renamed(names={**names, name: called}).visit(bare))
        )
        self.definitions.append(text)
        return called

    def _statements(self, module: str) -> Mapping[str, ast.stmt]:
        """Return the statements at a module's top, by the names that they bind."""
        if module not in self._modules:
            tree = ast.parse(inspect.getsource(importlib.import_module(module)))
            self._modules[module] = {
                name: statement for statement in tree.body for name in _binds(statement)
            }
        return self._modules[module]


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _binds(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [_bound(alias) for alias in names]
        case _:
            return []


class _Bare(ast.NodeTransformer):
    """Leaves out annotations."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.Pass()
        return self.generic_visit(ast.Assign(targets=[node.target], value=node.value))


@dataclass
class _Renamed(ast.NodeTransformer):
    """Calls names as they are called in the text."""

    names: Mapping[str, str]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self.names.get(node.name, node.name)
        return self.generic_visit(node)
