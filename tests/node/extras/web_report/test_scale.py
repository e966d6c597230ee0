"""Ten million links on one machine: as much memory as the document says, and no more."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

WEB = Path(__file__).with_name("measured_web.py")


@pytest.mark.prove
def test_ten_million_links_are_measured_in_two_gigabytes() -> None:
    around = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, str(WEB), "10000000"], env=around, stdout=subprocess.PIPE, check=True)
    told = json.loads(done.stdout)
    print(told)
    assert told["links"] > 9_500_000 and told["megabytes"] < 2000
