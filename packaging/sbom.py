"""The list of all that a release runs with, as a CycloneDX document (SBOM): equal wheels give equal bytes."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import Message
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5
from zipfile import ZipFile

Json = dict[str, Any]
CLASSIFIER = "License :: "


def sbom_of(wheels: Iterable[Path], name: str, made_at: int) -> str:
    """Describe the program `name` and the others of these wheels; `made_at`: Unix seconds of its commit."""
    found = sorted((_component(wheel) for wheel in wheels), key=lambda each: str(each["bom-ref"]))
    (program,) = (each for each in found if each["name"] == name)
    others = [each for each in found if each is not program]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(made_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {**program, "type": "application"},
        },
        "components": others,
        "dependencies": [{"ref": program["bom-ref"], "dependsOn": [each["bom-ref"] for each in others]}],
    }
    number = uuid5(NAMESPACE_URL, json.dumps(document, sort_keys=True))
    return json.dumps({**document, "serialNumber": f"urn:uuid:{number}"}, indent=2, sort_keys=True) + "\n"


def _component(wheel: Path) -> Json:
    with ZipFile(wheel) as packed:
        names = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA") and name.count("/") == 1)
        about = message_from_bytes(packed.read(next(names)))
    name, version = about["Name"], about["Version"]
    purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
    component = {
        "type": "library",
        "name": name,
        "version": version,
        "licenses": _licences(about),
        "purl": f"{purl}?file_name={quote(wheel.name)}",
        "bom-ref": purl,
        "hashes": [{"alg": "SHA-256", "content": sha256(wheel.read_bytes()).hexdigest()}],
    }
    return {key: value for key, value in component.items() if value}


def _licences(about: Message) -> list[Json]:
    """Return the SPDX expression of a distribution, else its classifiers, else the first line of its licence."""
    if expression := about["License-Expression"]:
        return [{"expression": expression}]
    names = [each.rpartition(" :: ")[2] for each in about.get_all("Classifier", []) if each.startswith(CLASSIFIER)]
    names = [each for each in names if each != "OSI Approved"] or (about["License"] or "").strip().splitlines()[:1]
    return [{"license": {"name": each}} for each in names]
