"""Compiles a leaf for tests, and runs a program with one that gcc's sanitizers watch."""

import os
import random
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
FUZZ_S = float(os.environ.get("LEAF_FUZZ_S", 120))  # of a prove test


def compiled(room: str, folder: Path, *flags: str) -> Path:
    pytest.importorskip("setuptools", reason="setuptools is not installed: pip install -e '.[dev]'")
    hatch_build = pytest.importorskip("hatch_build", reason="hatchling is not installed: pip install -e '.[dev]'")
    try:
        file: Path = hatch_build.compile_leaf(ROOT, room, folder, flags)
    except Exception as error:
        pytest.skip(f"nothing compiles here: {error}")
    return file


def module_of(file: Path) -> ModuleType:
    """The compiled module that a file has."""
    spec = spec_from_file_location("_leaf", file)
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_sanitizers_find_nothing(room: str, folder: Path, program: str) -> None:
    """Have a program compare texts for FUZZ_S seconds."""
    file = compiled(room, folder, *SANITIZED)
    library = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, timeout=60)
    around = {
        **os.environ, "LD_PRELOAD": library.stdout.strip(), "PYTHONMALLOC": "malloc", "PYTHONPATH": str(ROOT),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps what it has until it ends
    }  # fmt: skip
    command = [sys.executable, program, str(FUZZ_S), str(random.randrange(1 << 30)), str(file)]
    done = subprocess.run(command, env=around, capture_output=True, text=True, timeout=FUZZ_S + 300)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
