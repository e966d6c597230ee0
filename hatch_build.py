"""Compiles the text leaf (index/text/leaf) for a wheel or an editable install; where nothing compiles, it goes without.

The wheel of a machine with a compiler is for its platform and each Python from 3.11 on; any other is pure Python.
"""

import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES, BUILT = "index/text/leaf", "index/text/_leaf"
LIMITED = "cp311-abi3"


class CompileTextLeaf(BuildHookInterface[Any]):
    """The build hook that pyproject.toml names."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        is_editable = version == "editable"
        try:
            self._scratch = TemporaryDirectory()
            built = compile_leaf(root, folder=(root / BUILT).parent if is_editable else Path(self._scratch.name))
        except Exception as error:  # whatever a compiler lacks: the program runs without
            self.app.display_warning(f"the text leaf is not compiled, so indexing takes longer: {error}")
            return
        build_data |= {"pure_python": False, "tag": f"{LIMITED}-{_platform()}"}
        if not is_editable:  # that finds it beside the module which imports it
            build_data["force_include"][str(built)] = f"{Path(BUILT).parent.as_posix()}/{built.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._scratch.cleanup()


def compile_leaf(root: Path, folder: Path, flags: tuple[str, ...] = ()) -> Path:
    """Compile the leaf of a checkout into a folder, and return the file.

    Raises what setuptools raises where there is no compiler, or no header of Python.
    """
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    files = sorted((root / SOURCES).glob("*.[ch]"))
    digest = sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    extension = Extension(
        "_leaf",
        [str(file) for file in files if file.suffix == ".c"],
        define_macros=[("LEAF_SOURCES", f'"{digest}"')],
        extra_compile_args=["-std=c11", "-O2", *flags] if sys.platform != "win32" else ["/O2"],
        extra_link_args=list(flags),
        depends=[str(file) for file in files],
        py_limited_api=True,
    )
    with TemporaryDirectory() as scratch:
        build = build_ext(Distribution({"ext_modules": [extension]}))
        build.build_lib, build.build_temp = scratch, scratch
        build.ensure_finalized()
        build.run()
        made = Path(build.get_outputs()[0])
        built = folder / made.name
        built.unlink(missing_ok=True)  # not written over: a node may have loaded it
        built.write_bytes(made.read_bytes())
    return built


def _platform() -> str:
    from packaging.tags import sys_tags

    return next(tag.platform for tag in sys_tags() if tag.interpreter.startswith("cp"))
