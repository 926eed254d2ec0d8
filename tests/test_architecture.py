"""Imports go one way, the public list is one list, and importing the package costs nothing."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import rankproof
from rankproof.cli.main import VERBS

SOURCE = Path(rankproof.__file__).parent
ROOT = SOURCE.parents[1]

MAY_IMPORT = {
    "errors": set[str](),
    "demo": set[str](),
    "data": {"errors"},
    "measures": {"errors", "data"},
    "scoring": {"errors", "data", "measures"},
    "stats": {"errors"},
    "fusion": {"errors", "data"},
    "retrieval": {"errors", "data", "fusion"},
    "testing": {"errors", "data", "retrieval"},
    "project": {"errors", "data", "measures", "scoring", "fusion", "retrieval"},
    "comparison": {"errors", "data", "measures", "scoring", "stats"},
    "agreement": {"errors", "data", "measures", "scoring", "stats"},
    "planning": {"errors", "data", "measures", "scoring", "stats"},
    "tuning": {"errors", "data", "measures", "scoring", "stats", "fusion", "comparison"},
    "evaluation": {"errors", "data", "measures", "scoring", "stats", "retrieval", "comparison"},
    "failures": {"errors", "data", "scoring", "retrieval", "evaluation"},
    "self_test": {"errors", "data", "measures", "scoring"},
    "gate": {"errors", "measures", "scoring", "stats"},
    "baseline": {"errors", "data", "measures", "scoring"},
    "experiments": {"errors", "data", "scoring", "stats"},
    "report": {
        "errors",
        "data",
        "measures",
        "scoring",
        "stats",
        "retrieval",
        "comparison",
        "evaluation",
        "failures",
        "gate",
        "baseline",
    },
    "story": {"errors", "data", "measures", "scoring", "stats", "comparison", "retrieval"},
    "labeling": {"errors", "data", "stats"},
    "priorities": {"errors", "data", "measures", "scoring", "stats"},
    "ab": {"errors", "data", "scoring", "retrieval"},
}
"""Each layer, and the layers that it may import besides itself."""

MAY_IMPORT["reports"] = MAY_IMPORT.keys() - {"demo", "testing", "project"}
MAY_IMPORT["terminal"] = {"errors", "data", "labeling"}
MAY_IMPORT["web"] = MAY_IMPORT.keys() - {"demo", "testing", "terminal"}
MAY_IMPORT["cli"] = MAY_IMPORT.keys() - {"testing"}
MAY_IMPORT["pytest_plugin"] = {"errors", "gate", "project", "reports", "cli"}
MAY_IMPORT["__main__"] = {"cli"}

HEAVY = ("numpy", "polars", "scipy", "pandas", "pyarrow", "rich", "pydantic", "textual")


class Import(NamedTuple):
    """One imported name, and where."""

    importer: str
    module: str
    name: str | None
    line: int
    on_load: bool
    """Whether it happens when the importer is loaded, not in a function or for type checking only."""

    @property
    def target(self) -> str:
        """The module that is imported, be it the name itself or the module that holds it."""
        inner = f"{self.module}.{self.name}"
        return inner if inner in MODULES else self.module


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(SOURCE.rglob("*.py"))}


def layer(module: str) -> str:
    """The layer of a module; that of the package itself is the empty string."""
    return f"{module}.".split(".")[1]


def imports_of(module: str) -> Iterator[Import]:
    """What a module imports from the package, wherever in it that stands."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    later = {id(inner) for node in ast.walk(tree) if _is_deferred(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found: list[tuple[str, str | None]] = [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno} is a relative import"
            found = [(node.module or "", alias.name) for alias in node.names]
        else:
            continue
        for target, name in found:
            if target.split(".")[0] == "rankproof":
                yield Import(module, target, name, node.lineno, id(node) not in later)


def _is_deferred(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return True
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def wrong(found: Import) -> bool:
    """Whether the import goes against the direction."""
    own, target = layer(found.importer), layer(found.target)
    if target == "":
        return found.name != "__version__"
    return target != own and target not in MAY_IMPORT[own]


def test_every_module_belongs_to_a_layer() -> None:
    assert {layer(module) for module in MODULES} == {"", *MAY_IMPORT}


@pytest.mark.parametrize("module", [module for module in MODULES if module != "rankproof"])
def test_no_module_imports_against_the_direction(module: str) -> None:
    assert [found for found in imports_of(module) if wrong(found)] == []


def test_the_package_itself_imports_nothing_of_its_own_when_it_is_loaded() -> None:
    assert [found for found in imports_of("rankproof") if found.on_load] == []


@pytest.mark.parametrize(
    ("importer", "module", "name", "expected"),
    [
        ("rankproof.data.run", "rankproof.errors", "BadInput", False),
        ("rankproof.data.run", "rankproof.data.table", "Table", False),
        ("rankproof.data.run", "rankproof.scoring.rules", "Rules", True),
        ("rankproof.data.run", "rankproof.scoring", "rules", True),
        ("rankproof.errors", "rankproof.data", None, True),
        ("rankproof.reports.text", "rankproof.cli.output", "remark", True),
        ("rankproof.cli.main", "rankproof", "__version__", False),
        ("rankproof.cli.main", "rankproof", "evaluate", True),
        ("rankproof.data.run", "rankproof", "errors", False),
        ("rankproof.data.run", "rankproof", "cli", True),
    ],
)
def test_an_import_against_the_direction_would_be_noticed(
    importer: str, module: str, name: str | None, expected: bool
) -> None:
    assert wrong(Import(importer, module, name, 1, True)) is expected


def test_no_module_waits_for_itself_while_it_is_loaded() -> None:
    # A module needs the packages that it lies in; one that a package imports must not need the package back.
    graph = {
        module: {found.target for found in imports_of(module) if found.on_load and found.target != module}
        for module in MODULES
    }
    assert set(graphlib.TopologicalSorter(graph).static_order()) == set(MODULES)


def type_checking_imports() -> dict[str, str]:
    """Name → module, as rankproof/__init__.py tells a type checker."""
    return {str(found.name): found.module for found in imports_of("rankproof")}


def test_what_is_fetched_on_first_use_is_what_a_type_checker_sees() -> None:
    assert {name: f"rankproof.{home}" for name, home in rankproof._HOME.items()} == type_checking_imports()


@pytest.mark.parametrize("name", rankproof.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(rankproof, name) is not None


def test_a_name_that_is_not_public_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'evaluated'"):
        _ = rankproof.evaluated


@pytest.mark.parametrize("name", sorted(rankproof._HOME))
def test_every_public_name_is_documented(name: str) -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    assert any(name in page.read_text(encoding="utf-8") for page in pages)


def loaded_after(code: str) -> list[str]:
    """Which heavy libraries a fresh interpreter has loaded after running the code."""
    script = f"import sys\n{code}\nprint([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    found: list[str] = ast.literal_eval(done.stderr)
    return found


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_after("import rankproof") == []


@pytest.mark.parametrize("arguments", [["--help"], *([verb, "--help"] for verb in VERBS)])
def test_help_loads_nothing_heavy_and_exits_0(arguments: list[str]) -> None:
    assert loaded_after(f"from rankproof.cli.main import run\nassert run({arguments}) == 0") == []


def test_what_is_heavy_would_be_noticed() -> None:
    assert loaded_after("import rankproof\nrankproof.evaluate") == ["numpy"]
