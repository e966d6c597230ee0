"""Compiles the leaves, C of some rooms, for a wheel or an editable install; where nothing compiles, it goes without.

The wheel of a machine with a compiler is for its platform and each Python from 3.11 on; any other is pure Python.
"""

import re
import sys
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOMS = ("index/text", "crawl/content")  # each has its C in the folder `leaf`, and what is built beside it as `_leaf`
LIMITED = "cp311-abi3"
OLDEST_GLIBC = 17  # glibc 2.17, as manylinux2014: no Python of 3.11 or newer is built for an older one


class CompileLeaves(BuildHookInterface[Any]):
    """The build hook that pyproject.toml names."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        is_editable = version == "editable"
        self._scratch = TemporaryDirectory()
        try:
            built = {room: compile_leaf(root, room, self._folder(room, is_editable)) for room in ROOMS}
        except Exception as error:  # whatever a compiler lacks: the program runs without
            self.app.display_warning(f"the leaves are not compiled, so parsing and indexing take longer: {error}")
            return
        build_data |= {"pure_python": False, "tag": f"{LIMITED}-{platform_of(built.values())}"}
        if not is_editable:  # that finds them beside the modules which import them
            build_data["force_include"] |= {str(file): f"{room}/{file.name}" for room, file in built.items()}

    def _folder(self, room: str, is_editable: bool) -> Path:
        folder = Path(self.root if is_editable else self._scratch.name) / room
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._scratch.cleanup()


def compile_leaf(root: Path, room: str, folder: Path, flags: tuple[str, ...] = ()) -> Path:
    """Compile the leaf of a room of a checkout into a folder, and return the file.

    Raises what setuptools raises where there is no compiler, or no header of Python.
    """
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    files = sorted((root / room / "leaf").glob("*.[ch]"))
    digest = sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    extension = Extension(
        "_leaf",
        [str(file) for file in files if file.suffix == ".c"],
        define_macros=[("LEAF_SOURCES", f'"{digest}"')],
        # -g0: what describes the sources to a debugger names the folder of the build
        extra_compile_args=["-std=c11", "-O2", "-g0", *flags] if sys.platform != "win32" else ["/O2"],
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


def platform_of(built: Iterable[Path]) -> str:
    """Name the platform of a wheel. With glibc, it is the oldest glibc that has all symbols which the files need."""
    from packaging.tags import sys_tags

    here = [tag.platform for tag in sys_tags() if tag.interpreter.startswith("cp")]
    named = next((each for each in here if not each.startswith("linux_")), here[0])  # "linux_" promises no C library
    needed = [int(minor) for file in built for minor in re.findall(rb"GLIBC_2\.(\d+)", file.read_bytes())]
    return re.sub(r"^manylinux_2_\d+", f"manylinux_2_{max([OLDEST_GLIBC, *needed])}", named)
