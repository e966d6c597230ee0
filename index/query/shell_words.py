"""Options of commands, as people paste them into a query: `rm -rf`, `ls -la`, `python -m venv`, `--help`.

Pure: words in, a verdict out. A letter by itself is never excluded (a character of Chinese is a word, and may be), nor
what begins with two dashes. Short groups of letters are options only near the name of a command that is no everyday
word, because `jaguar -car` and `cat -dog` mean what they say; some commands that are everyday words, too, are known
with their longer options.
"""

from collections.abc import Sequence

from index.text.analyzer import is_unspaced

MAX_CLUSTER = 3  # letters of options written together
NEAR = 2  # words before an option, other options apart, among which the command is looked for
_COMMANDS = """
adb ansible apt awk bash btrfs bzip2 cargo chgrp chmod chown conda cp crontab curl dd df diff docker dpkg du ffmpeg
gcc g++ gdb git grep egrep fgrep gpg gunzip gzip ifconfig iptables journalctl kubectl ldd ln ls lsblk lsof mkdir
mkfs mv mvn netstat nmap npm nslookup openssl pip pip3 pkill podman ps psql rm rmdir rpm rsync scp sed sftp ssh
ssh-keygen strace su sudo systemctl tar tcpdump tmux uname unzip useradd usermod valgrind wget xargs yum zcat zip
zypper zsh
"""
_LONGER = {
    "find": "atime ctime delete empty exec iname iregex maxdepth mindepth mtime name newer ok path perm print print0 "
    "prune regex size type user",
    "gcc": "std Wall Werror Wextra fPIC pthread",
    "g++": "std Wall Werror Wextra fPIC pthread",
    "java": "classpath cp jar version",
    "javac": "classpath cp version",
    "openssl": "days in newkey nodes noout out pubkey subj text x509",
}
_NAMES = frozenset(_COMMANDS.split())
_NAMED = {command: frozenset(options.split()) for command, options in _LONGER.items()}


def is_option(word: str, before: Sequence[str]) -> bool:
    """Tell whether a word that stands after a dash is an option; `before` are the words in front of it."""
    if (len(word) == 1 and not is_unspaced(word)) or word.startswith("-"):
        return True
    plain = [each.lower() for each in before if not each.startswith("-")]
    if any(word.partition("=")[0] in _NAMED.get(command, ()) for command in plain):
        return True
    is_cluster = len(word) <= MAX_CLUSTER and word.isascii() and word.isalpha()
    return is_cluster and not _NAMES.isdisjoint(plain[-NEAR:])
