"""The units of systemd: what they promise, and that systemd itself finds nothing wrong."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from node.cli.main import TWIN
from node.errors import BadUnit
from node.process.service_unit import FINAL_CODES, MARK, PACKAGED, ServiceUnit

SYSTEM = ServiceUnit(("/usr/bin/true", "run"), "/var/lib/dse-node", is_system=True)
USER = ServiceUnit(("/usr/bin/true", "run"), "/home/ann/dse")
OWNED = ServiceUnit(("/usr/bin/true", "run"), "/srv/dse", is_system=True, owner="ann")


@pytest.mark.parametrize("unit", [SYSTEM, USER, OWNED, PACKAGED])
def test_a_killed_node_is_back_in_time_and_one_that_cannot_start_is_left_alone(unit: ServiceUnit) -> None:
    text = unit.text()
    assert (
        text.startswith("# ")
        and (text.startswith(MARK) is not unit.is_packaged)
        and "\nType=notify\n" in text
        and "\nRestart=on-failure\n" in text
    )
    assert re.search(r"^RestartSec=[0-4]$", text, re.M) and re.search(r"^WatchdogSec=[1-9][0-9]*$", text, re.M)
    assert f"\nRestartPreventExitStatus={FINAL_CODES}\n" in text and str(TWIN) in FINAL_CODES.split()


def test_only_its_own_directory_is_written_to() -> None:
    assert "\nReadWritePaths=/home/ann/dse\n" in USER.text() and "\nUser=ann\nReadWritePaths=/srv/dse\n" in OWNED.text()
    assert (
        "\nDynamicUser=yes\nStateDirectory=dse-node\n" in SYSTEM.text()
        and "User=" not in USER.text().split("Private")[0]
    )
    assert all("\nProtectSystem=strict\n" in unit.text() for unit in (SYSTEM, USER, OWNED))


def test_a_packages_unit_makes_its_node_at_its_first_start_and_says_who_takes_it_away() -> None:
    assert "ConditionPathExists" not in PACKAGED.text() and "service remove" not in PACKAGED.text()


def test_odd_paths_stay_one_word_and_impossible_ones_are_refused() -> None:
    text = ServiceUnit(('/opt/a "b"/dse', "--data-dir", "/d/50% $x"), "/d/50% $x", working_dir="/a b%").text()
    assert 'ExecStart="/opt/a \\"b\\"/dse" --data-dir "/d/50%% $$x"\n' in text
    assert 'ReadWritePaths="/d/50%% $x"\n' in text and "WorkingDirectory=/a b%%\n" in text
    with pytest.raises(BadUnit, match="no unit takes"):
        ServiceUnit(("/bin/dse", "a\nExecStartPre=/bin/evil"), "/d").text()


def analyze(*words: str) -> subprocess.CompletedProcess[str]:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze on this machine")
    return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("unit", [SYSTEM, USER, OWNED, replace(PACKAGED, command=SYSTEM.command)])
def test_systemd_finds_no_fault_and_little_exposure(unit: ServiceUnit, tmp_path: Path) -> None:
    file = tmp_path / "dse-node.service"
    file.write_text(unit.text())
    verified = analyze("verify", "--man=no", str(file))
    assert not verified.returncode and not verified.stderr, verified.stderr
    found = analyze("security", "--offline=true", str(file)).stdout
    level = re.search(r"Overall exposure level for dse-node.service: ([0-9.]+)", found)
    assert level and float(level[1]) <= 2.0, found
