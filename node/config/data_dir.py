"""Knows a node's directory: what lies where, which format it has, who uses it, and its administrator's token.

- config.toml: the settings
- network.toml: the network file
- format: the number FORMAT below
- lock: the process id of the node that uses the directory
- identity.key, identity.puzzle: the node's key, and its solved puzzle
- admin.token: the token for the web API
- passwords: the hashes of the passwords by which browsers log in
- keys/: the publisher's keys
- founder: the node's id, where it is the first node of its network and starts though nobody answers
- invitation: the invitation that lets the node in
- vouchers/: the vouchers of invitations that this node handed out in words
- leaving: exists while the node hands everything over to leave its network for good
- first-site: the address that the node crawls at its first start
- welcome: exists until the owner of a node that was made without questions has answered or skipped them in a browser
- joins: the network that the owner chose in a browser, until the node has joined it
- owner-told: the open matters that the hook reported to the owner
- hosts.json: the hosts that the owner paused or refuses
- schedule.json: the last crawl jobs, and those that the node submits again every day or week
- asked-removals.json: what site owners asked the owner to remove
- room.json: the step of room that the node takes part with
- figures.sqlite: the figures of a year, for the owner's plots
- traps: the traps of sites that the crawler has learned
- dht/, store/, index/: the files of one package each
"""

import errno
import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dht import others_may_read, write_secret
from node.errors import BadDataDir, DataDirLocked

FORMAT = 1  # raised when a newer node could not read an older directory, or the other way round
TOKEN_BYTES = 32
FIRST_DEPTH = 3  # links that are followed from the first site, within its host
_BESIDE = {"lock", "lost+found"}  # a node's lock, and what a file system of its own has
_NO_WRITING = (errno.EROFS, errno.EACCES, errno.EPERM)


class DataDir:
    """Names the paths below one root; nothing is touched until a method is called."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config = root / "config.toml"
        self.network = root / "network.toml"
        self.identity = root / "identity.key"
        self.puzzle = root / "identity.puzzle"
        self.founder = root / "founder"
        self.invitation, self.vouchers = root / "invitation", root / "vouchers"
        self.leaving, self.owner_told, self.joins = root / "leaving", root / "owner-told", root / "joins"
        self.admin_token, self.passwords = root / "admin.token", root / "passwords"
        self.format, self.first_site, self.welcome = root / "format", root / "first-site", root / "welcome"
        self.keys, self.dht, self.store = root / "keys", root / "dht", root / "store"
        self.index, self.seen = root / "index", root / "seen"
        self.evidence, self.host_wishes = root / "evidence", root / "hosts.json"
        self.schedule, self.asked_removals = root / "schedule.json", root / "asked-removals.json"
        self.figures, self.traps = root / "figures.sqlite", root / "traps"
        self.strategies = self.dht / "strategy"  # its accepted versions
        self.room, self.report = root / "room.json", root / "report"

    def create(self) -> None:
        """Make the directory (0700), its parts, format and token; leaves alone what is there."""
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            for part in (self.keys, self.dht, self.store, self.index):
                part.mkdir(exist_ok=True, mode=0o700)
            if not self.format.exists():
                self.format.write_text(f"{FORMAT}\n")
            if not self.admin_token.exists():
                write_secret(self.admin_token, secrets.token_urlsafe(TOKEN_BYTES) + "\n")
        except OSError as error:
            raise _unusable(self.root, error) from None

    def check(self) -> None:
        """Raise BadDataDir unless this is a node's directory of the format that this version reads."""
        try:
            found = self.format.read_text().strip()
        except (FileNotFoundError, NotADirectoryError):
            raise BadDataDir(str(self.root), "no node lives here", "make one with `dse-node init`") from None
        except OSError as error:
            raise _unusable(self.root, error) from None
        if found != str(FORMAT):
            raise BadDataDir(
                str(self.format),
                f"format {found[:20]!r}, but this version reads {FORMAT}",
                "use the version that made it, or another --data-dir",
            )

    def check_identity(self) -> None:
        """Raise BadDataDir where a node has left data here and its key is gone. With another key, it would be another
        node: peers would wait for the first one, and the data would belong to nobody."""
        if self.identity.exists():
            return
        parts = (part for part in (self.dht, self.store, self.index, self.seen) if part.is_dir())
        left = [self.puzzle, self.founder, *(path for part in parts for path in part.iterdir())]
        if found := next((path for path in left if path.exists()), None):
            raise BadDataDir(
                str(self.identity),
                f"is missing, though a node's data is here ({found.name})",
                f"put it back from a backup; to start as a new node, move {self.root} away and run `dse-node init`",
            )

    def is_unused(self) -> bool:
        """Tell whether nobody has set a node up here yet, and none has left data; not where that cannot be seen."""
        try:
            parts = [part for part in (self.dht, self.store, self.index, self.seen) if part.is_dir()]
            left = (self.config, self.network, *(path for part in parts for path in part.iterdir()))
            return not any(path.exists() for path in left)
        except OSError:
            return False

    def check_vacant(self) -> None:
        """Raise BadDataDir where files lie here that belong to no node: someone named another directory by mistake."""
        known = {path.relative_to(self.root).parts[0] for path in vars(self).values() if path != self.root}
        try:
            names = {path.name for path in self.root.iterdir()} if self.root.exists() else set[str]()
        except OSError as error:
            raise _unusable(self.root, error) from None
        if found := sorted(name for name in names - known - _BESIDE if not name.startswith(".")):
            raise BadDataDir(str(self.root), f"has files of other programs ({found[0]})", "name an empty directory")

    def found(self, node_id: str) -> None:
        """Note that the node which lives here is the first of its network."""
        self.founder.write_text(f"{node_id}\n")

    def is_founded_by(self, node_id: str) -> bool:
        """Tell whether this node is the first of its network; a note copied from another node's directory is none."""
        try:
            return self.founder.read_text().strip() == node_id
        except FileNotFoundError:
            return False
        except (OSError, UnicodeDecodeError) as error:
            raise BadDataDir(str(self.founder), str(error), "delete it, or run `dse-node network begin`") from None

    def invite(self, invitation: str) -> None:
        """Keep an invitation, in place of one that is there."""
        draft = self.invitation.with_name("invitation.new")
        draft.unlink(missing_ok=True)
        write_secret(draft, invitation + "\n")
        draft.replace(self.invitation)

    def read_token(self) -> str:
        """Return the administrator's token; raises BadDataDir where it cannot be read, or other users may read it."""
        try:
            mode, token = self.admin_token.stat().st_mode, self.admin_token.read_text().strip()
        except FileNotFoundError:
            raise BadDataDir(str(self.root), "no node lives here", "name its directory with --data-dir") from None
        except OSError as error:
            raise _unusable(self.admin_token, error) from None
        if others_may_read(self.admin_token):
            remedy = f"delete it: `dse-node run` makes another; or run: chmod 600 {self.admin_token}"
            raise BadDataDir(str(self.admin_token), f"other users may read it (mode {mode & 0o777:o})", remedy)
        if len(token) < 20:
            raise BadDataDir(
                str(self.admin_token), "too short to be a token", "delete it; `dse-node run` makes another"
            )
        return token

    def read_first_site(self) -> str:
        """Return the address that the node crawls at its first start; "" where there is none, or it was crawled."""
        return self.first_site.read_text().strip() if self.first_site.exists() else ""

    @contextmanager
    def lock(self, *, only_reads: bool = False) -> Iterator[None]:
        """Hold the directory for this process; raises DataDirLocked at once where another has it. `only_reads`: also
        where this process may write nothing there.

        The kernel drops the lock with the process, however it ends, so a stale one cannot be.
        """
        path, is_mine = self.root / "lock", True
        try:
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                if not only_reads or error.errno not in _NO_WRITING:
                    raise
                is_mine, descriptor = False, os.open(path if path.exists() else self.root, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise _unusable(path, error) from None
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise DataDirLocked(str(self.root), _pid(descriptor)) from None
            if is_mine:
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            yield
        finally:
            os.close(descriptor)


def default_root() -> Path:
    """Return where a data directory belongs by this system's own conventions."""
    import platformdirs

    return Path(platformdirs.user_data_dir("dse-node", appauthor=False))


def _pid(descriptor: int) -> int | None:
    text = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
    return int(text) if text.isdecimal() else None


def _unusable(path: Path, error: OSError) -> BadDataDir:
    return BadDataDir(
        str(path), error.strerror or str(error), "check its owner and rights, or choose another --data-dir"
    )
