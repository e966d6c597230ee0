"""The list of all that a release runs with, as a CycloneDX document (SBOM) of the same bytes for the same input.

Pure: reads what `pip install --report` reported, in which each file has its digest.
"""

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, unquote, urlsplit
from uuid import NAMESPACE_URL, uuid5

Json = dict[str, Any]
CLASSIFIER = "License :: "


def sbom_of(report: Json, name: str, made_at: int) -> str:
    """Describe the program `name` and all that was installed with it; `made_at`: Unix seconds of its commit."""
    components = {each["metadata"]["name"].lower(): _component(each) for each in report["install"]}
    program = components.pop(name)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(made_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {**program, "type": "application"},
        },
        "components": [components[each] for each in sorted(components)],
    }
    number = uuid5(NAMESPACE_URL, json.dumps(document, sort_keys=True))
    return json.dumps({**document, "serialNumber": f"urn:uuid:{number}"}, indent=2, sort_keys=True) + "\n"


def _component(installed: Json) -> Json:
    about, source = installed["metadata"], installed["download_info"]
    file = unquote(urlsplit(source["url"]).path.rpartition("/")[2])
    purl = f"pkg:pypi/{about['name'].lower().replace('_', '-')}@{about['version']}"
    component = {
        "type": "library",
        "name": about["name"],
        "version": about["version"],
        "licenses": _licences(about),
        "purl": f"{purl}?file_name={quote(file)}",
        "bom-ref": purl,
        "hashes": [{"alg": "SHA-256", "content": source["archive_info"]["hashes"]["sha256"]}],
    }
    return {key: value for key, value in component.items() if value}


def _licences(about: Json) -> list[Json]:
    """Return the SPDX expression of a distribution, else its classifiers, else the first line of its licence."""
    if expression := about.get("license_expression"):
        return [{"expression": expression}]
    names = [each.rpartition(" :: ")[2] for each in about.get("classifier", []) if each.startswith(CLASSIFIER)]
    names = names or about.get("license", "").strip().splitlines()[:1]
    return [{"license": {"name": name}} for name in names]
