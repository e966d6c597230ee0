"""Names the settings that most volunteers want, in the units in which people think of them.

Pure: values only. docs/volunteer.md has the same list.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from node.owner.setting_list import SettingRow


@dataclass(frozen=True, slots=True)
class SettingControl:
    """Describes how one setting is changed: by a number of `unit` each, a text, or a line for each of several."""

    key: str
    kind: Literal["number", "text", "lines"] = "number"
    unit: int = 1

    @property
    def name(self) -> str:
        """Return the last part of its key, by which its texts are found."""
        return self.key.partition(".")[2]


CONTROLS = (
    SettingControl("crawl.max_bytes_s", unit=1_000),
    SettingControl("crawl.hours", "text"),
    SettingControl("store.quota_bytes", unit=1_000_000_000),
    SettingControl("store.reserve_bytes", unit=1_000_000_000),
    SettingControl("crawl.max_open_fetches"),
    SettingControl("dht.operator", "text"),
    SettingControl("crawl.refuse", "lines"),
)


def shown_controls(rows: Sequence[SettingRow]) -> list[tuple[SettingControl, str]]:
    """Return each control with its value in its own unit: what the next start takes over, where that is another one."""
    values = {row.key: row.value if row.waiting is None else row.waiting for row in rows}
    return [(each, _shown(each, values[each.key] or "")) for each in CONTROLS]


def typed_value(key: str, typed: str) -> str:
    """Return what was typed into a control as its setting takes it; what is no number stays as it is."""
    unit = next((each.unit for each in CONTROLS if each.key == key), 1)
    try:
        return typed if unit == 1 else f"{round(float(typed) * unit)}"
    except (ValueError, OverflowError):
        return typed


def _shown(control: SettingControl, value: str) -> str:
    if control.unit != 1:
        return f"{float(value) / control.unit:.12g}"
    return value.replace(", ", "\n") if control.kind == "lines" else value
