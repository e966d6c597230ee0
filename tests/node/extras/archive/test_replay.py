"""pywb replays the sample web from a WACZ of ours: bodies, statuses, types and charsets as they were fetched."""

import json
import subprocess
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest

from node.extras.archive.wacz import write_wacz
from node.extras.demo.sample_web import unpack_sample
from tests.node.extras.archive.samples import HTML, MADE_AT, SAMPLES, capture


@pytest.mark.prove
@pytest.mark.skipif(find_spec("pywb") is None, reason="pywb is not installed")
def test_pywb_replays_the_sample_web(tmp_path: Path) -> None:
    unpack_sample(tmp_path / "web")
    pages = sorted((tmp_path / "web").rglob("*.html"))
    fetched = [capture(f"http://{path.relative_to(tmp_path / 'web')}", path.read_bytes(), HTML) for path in pages]
    wanted = [*fetched, *(sample for sample in SAMPLES if "odd" not in sample.url)]
    with (tmp_path / "x.wacz").open("wb") as file:
        write_wacz(wanted, file, MADE_AT)
    program = [sys.executable, str(Path(__file__).with_name("replay_by_pywb.py")), str(tmp_path / "x.wacz")]
    urls = "\n".join(page.url for page in wanted)
    ran = subprocess.run(program, input=urls, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    for page, (url, status, content_type, digest) in zip(wanted, json.loads(ran.stdout), strict=True):
        assert (url, status, digest) == (page.url, page.status, sha256(page.content).hexdigest())
        assert content_type == dict(page.headers).get("Content-Type", content_type)
    assert len(fetched) > 400
