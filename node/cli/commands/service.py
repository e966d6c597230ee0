"""Does the verbs that have systemd run the node: service install, remove and status."""

import os
import pwd
import shutil
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

from node.cli.commands.output import print_facts, print_json
from node.cli.commands.target_node import data_dir
from node.config.data_dir import DataDir
from node.errors import BadUnit
from node.process.service_unit import FINAL_CODES, MARK, NAME, STATE_DIR, ServiceUnit

SYSTEM_UNITS = Path("/etc/systemd/system")
PACKAGED_UNITS = Path("/usr/lib/systemd/system")  # of the Debian package, which `packaging/build_deb.sh` builds
CLOSED = ("/home", "/root", "/run/user")  # to a system unit that is shut in
ASK_S = 10.0  # systemctl answers within parts of a second
SHOWN = ("ActiveState", "SubState", "Result", "MainPID", "NRestarts", "StatusText")


def install(arguments: Namespace) -> int:
    """Write the unit and say what it is and what comes next; or print it and write nothing."""
    unit = _unit(arguments)
    text = unit.text()
    if arguments.is_dry:
        print(text, end="")
        return 0
    if not unit.is_system:
        DataDir(Path(unit.data_dir)).check()
    file = _file(arguments)
    _check_own(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".new")
        draft.write_text(text)
        draft.replace(file)
    except PermissionError:
        raise BadUnit(str(file), "may not be written by this account", "use sudo, or --user for your own") from None
    print(text)
    print(f"wrote {file}, as above")
    _say_next(unit)
    return 0


def remove(arguments: Namespace) -> int:
    """Take the unit away with the link that starts it; what runs is not ended."""
    file = _file(arguments)
    if not file.exists():
        raise BadUnit(str(file), "is not there", "nothing is to be removed; `service status` looks for both kinds")
    _check_own(file)
    try:
        for link in file.parent.glob(f"*.target.wants/{NAME}"):
            link.unlink()
        file.unlink()
    except PermissionError:
        raise BadUnit(str(file), "may not be removed by this account", "use sudo") from None
    print(f"removed {file}; what the node keeps is where it was")
    if shutil.which("systemctl"):
        print(f"next: {_systemctl(arguments.system)} stop {NAME} && {_systemctl(arguments.system)} daemon-reload")
    return 0


def status(arguments: Namespace) -> int:
    """Say whether the unit is there and what systemd says of it; 0 where it is active, else 1."""
    file = _file(arguments)
    missing = f"make it: dse-node service install{' --system' * arguments.system}"
    state, why_not = _ask_systemd(arguments) if file.exists() else ({}, missing)
    if arguments.json:
        print_json({"unit": str(file), "is_there": file.exists(), "state": state, "reason": why_not})
    else:
        facts = [("unit", f"{file}{'' if file.exists() else '  (not there)'}")]
        print_facts([*facts, *((name, value) for name, value in state.items() if value)])
        print(why_not, end="\n" * bool(why_not))
    return 0 if state.get("ActiveState") == "active" else 1


def _unit(arguments: Namespace) -> ServiceUnit:
    chosen = arguments.data_dir is not None or arguments.config is not None
    is_made_up = arguments.system and not chosen
    place = STATE_DIR if is_made_up else str(data_dir(arguments).root)
    script = Path(sys.executable).parent / "dse-node"
    program = (str(script),) if os.access(script, os.X_OK) else (sys.executable, "-m", "node")
    source = "" if len(program) == 1 else str(Path(__file__).parents[3])
    if arguments.system:
        for path in (program[0], place):
            _check_reachable(path)
    config = ("--config", str(Path(arguments.config).expanduser().resolve())) if arguments.config else ()
    return ServiceUnit(
        (*program, "run", "--data-dir", place, *config),
        place,
        working_dir=source,
        is_system=arguments.system,
        owner=_owner(place) if arguments.system and chosen else "",
        has_namespaces=arguments.system or _has_namespaces(),
    )


def _check_reachable(path: str) -> None:
    real = str(Path(path).resolve())
    if any(real.startswith(f"{home}/") for home in CLOSED):
        remedy = "install the program and keep the node elsewhere (pipx install --global, /var/lib), or use --user"
        raise BadUnit(path, "lies in somebody's own files, which a system service does not see", remedy)


def _owner(place: str) -> str:
    try:
        owner = pwd.getpwuid(Path(place).stat().st_uid).pw_name
    except (OSError, KeyError):
        raise BadUnit(place, "is not there, or belongs to nobody known", "make the node first: dse-node init") from None
    if owner == "root":
        raise BadUnit(place, "belongs to root, as whom no node should run", "give it to an account: chown -R")
    return owner


def _has_namespaces() -> bool:
    """Tell whether this account may make the namespaces that shut a unit in; some systems let only root do so."""
    probe = ["unshare", "--user", "--map-root-user", "--mount", "true"]
    try:
        return subprocess.run(probe, capture_output=True, timeout=ASK_S, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _file(arguments: Namespace) -> Path:
    if arguments.system:
        own, packaged = SYSTEM_UNITS / NAME, PACKAGED_UNITS / NAME
        return packaged if packaged.exists() and not own.exists() else own
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "systemd" / "user" / NAME


def _check_own(file: Path) -> None:
    if file.parent == PACKAGED_UNITS:
        raise BadUnit(str(file), "belongs to the package dse-node", f"systemctl edit {NAME}, or apt remove dse-node")
    if file.is_symlink() or (file.exists() and not file.read_text(errors="replace").startswith(MARK)):
        raise BadUnit(str(file), "was not written by this command", "move it away, or go on with it as it is")


def _systemctl(is_system: bool) -> str:
    return "sudo systemctl" if is_system else "systemctl --user"


def _say_next(unit: ServiceUnit) -> None:
    if not unit.has_namespaces:
        print("this system gives your account no namespaces, so the unit is less shut in than it could be")
    if not shutil.which("systemctl"):
        print(
            "systemctl is not on this machine. Copy the unit to one that has systemd, or have another manager run:\n"
            f"  {' '.join(unit.command)}\n"
            f"and start it again whenever it ends, but for exit codes 0 and {', '.join(FINAL_CODES.split())}"
        )
        return
    steps = []
    if unit.is_system and not unit.owner and not (Path(STATE_DIR) / "config.toml").exists():
        steps.append(f"sudo dse-node init --data-dir {STATE_DIR}")
    tool = _systemctl(unit.is_system)
    steps += [f"{tool} daemon-reload", f"{tool} enable --now {NAME}"]
    if not unit.is_system:
        steps.append("loginctl enable-linger    # so that it runs while you are not logged in")
    print("next:", *steps, sep="\n  ")


def _ask_systemd(arguments: Namespace) -> tuple[dict[str, str], str]:
    """Return what systemd says of the unit, and why it says nothing."""
    instead = "start the node by hand: dse-node run"
    if not (tool := shutil.which("systemctl")):
        return {}, f"systemctl is not on this machine; {instead}"
    command = [tool, *(["--user"] if not arguments.system else []), "show", NAME, "-p", ",".join(SHOWN)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=ASK_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return {}, f"systemd does not answer ({error}); {instead}"
    if done.returncode:
        reason = done.stderr.strip().partition("\n")[0] or f"exit code {done.returncode}"
        return {}, f"systemd does not answer here ({reason}); {instead}"
    said = dict(line.partition("=")[::2] for line in done.stdout.splitlines() if "=" in line)
    return {name: said[name] for name in SHOWN if name in said}, ""
