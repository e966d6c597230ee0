"""Reads the file of site rules that a node's owner keeps, again whenever it changes."""

import logging
import os

from dht import InputError
from node.errors import ConfigError
from node.web.search.site_rules import MAX_TEXT_CHARS, SiteRules, read_rules

log = logging.getLogger(__name__)


class RulesFile:
    """Holds the rules of a file, none where no path is given."""

    def __init__(self, path: str) -> None:
        """Read the file; raises ConfigError where that cannot be."""
        self._path, self._changed = path, (0, 0)
        self._rules = SiteRules()
        try:
            self._refresh()
        except (OSError, InputError, ValueError) as error:
            raise ConfigError("node.site_rules", f"{path}: {error}", "mend it, or leave the setting empty") from None

    def rules(self) -> SiteRules:
        """Return the rules; of a file that cannot be read any more, those that it had."""
        try:
            self._refresh()
        except (OSError, InputError, ValueError) as error:
            log.warning("site rules stay as they were file=%s: %s", self._path, error)
        return self._rules

    def _refresh(self) -> None:
        if not self._path:
            return
        found = os.stat(self._path)
        changed = found.st_mtime_ns, found.st_size
        if changed != self._changed:
            self._changed = changed  # a broken one is complained of once
            with open(self._path, encoding="utf-8") as file:
                self._rules = read_rules(file.read(MAX_TEXT_CHARS + 1))
