"""A query's punctuation: text to words, quotes, filters and groups. The parser decides what they look for, and
`signs.py` which signs of other scripts mean the same.

Pure: values only; nothing that people or strangers type is an error. An open quotation or parenthesis is closed at the
end, and a closing parenthesis without an opening one is left out. Neither a number (`-40`) nor an option as one types
it in a shell (`-v`, `--help`, `rm -rf`) is an exclusion. In a sentence all in capitals AND is a word like others, and
in a text of several sentences a quotation is a wish. To demand either left 1 … 6 % of CACM's and NPL's original queries
without an answer and cost .03 … .04 nDCG@10. Depth is bounded, so recursion is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from index.query.filters import FILTERS, read_filter
from index.query.query_tree import ReadAs, Reading
from index.query.signs import in_ascii
from index.text.analyzer import is_unspaced

MAX_PIECE = 64  # characters told of what was read in another way
MAX_DEPTH = 16  # parentheses further inside are left out
SHOUTED_WORDS = 5  # in capitals and more make a sentence; a few may be names with operators between them
PROSE_WORDS = 9  # outside of its quotations a text of so many words tells more than they do
LOOKED_BACK = 128  # characters before a dash, in which a command may stand
MAX_CLUSTER = 3  # letters of options written together
NEAR = 2  # words before an option, other options apart, among which the command is looked for
_SPECIAL = '()"|'
_OPERATORS = ("AND", "OR", "NOT")
_QUOTATION = re.compile('"[^"]*"')
_NEXT_WORD = re.compile(r"\s+([^\s()\"|]+)")
# Commands that are no everyday words: `jaguar -car` and `cat -dog` mean what they say.
_COMMANDS = """
adb ansible apt awk bash btrfs bzip2 cargo chgrp chmod chown conda cp crontab curl dd df diff docker dpkg du ffmpeg
gcc g++ gdb git grep egrep fgrep gpg gunzip gzip ifconfig iptables journalctl kubectl ldd ln ls lsblk lsof mkdir
mkfs mv mvn netstat nmap npm nslookup openssl pip pip3 pkill podman ps psql rm rmdir rpm rsync scp sed sftp ssh
ssh-keygen strace su sudo systemctl tar tcpdump tmux uname unzip useradd usermod valgrind wget xargs yum zcat zip
zypper zsh
"""
_LONGER = {  # some commands are everyday words, too, and are known with their longer options
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


@dataclass(frozen=True, slots=True)
class Words:
    """A piece of text without spaces, or all between two quotation marks."""

    text: str


@dataclass(frozen=True, slots=True)
class Filter:
    """`name:value`; the name is one of those in `filters.FILTERS`."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Group:
    """Alternatives, each a sequence of items."""

    alternatives: tuple[tuple["Item", ...], ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One member of a sequence. `sign`: "+" demanded, "-" excluded, "" wished."""

    sign: str
    node: Words | Filter | Group


def read_syntax(text: str) -> tuple[Group, tuple[Reading, ...]]:
    """Return the whole query as a group, and how odd pieces of it were read."""
    reader = _Reader(in_ascii(text))
    return reader.read(), tuple(dict.fromkeys(reader.readings))


class _Reader:
    """Recursive descent over the characters."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._too_deep = 0  # parentheses that were left out and may still be closed
        outside = _QUOTATION.sub(" ", text).split()
        self._is_prose = len(outside) >= PROSE_WORDS
        is_shouted = text.isupper() and sum(word not in _OPERATORS for word in outside) >= SHOUTED_WORDS
        said = [word for word in _OPERATORS if is_shouted and word in outside]
        self.readings = [Reading(ReadAs.LITERAL, word) for word in said]
        self._operators = () if is_shouted else _OPERATORS

    def read(self) -> Group:
        return Group(self._alternatives(0))

    def _alternatives(self, depth: int) -> tuple[tuple[Item, ...], ...]:
        found = [self._sequence(depth)]
        while self._peek() == "|" or self._at_word("OR"):
            self._at += 1 if self._text[self._at] == "|" else 2
            found.append(self._sequence(depth))
        return tuple(items for items in found if items)

    def _sequence(self, depth: int) -> tuple[Item, ...]:
        items: list[Item] = []
        is_joined = False  # by AND, to the item before
        while (character := self._peek()) and character != "|" and not self._at_word("OR"):
            if character == ")":
                if self._closes(depth):
                    break
            elif self._at_word("AND"):
                self._at += 3
                is_joined = bool(items)
                if is_joined:
                    items[-1] = _demanded(items[-1])
            elif item := self._item(depth):
                items.append(_demanded(item) if is_joined else item)
                is_joined = False
        return tuple(items)

    def _closes(self, depth: int) -> bool:
        """Whether a closing parenthesis ends this sequence; one that ends nothing is stepped over."""
        if not self._too_deep and depth:
            return True
        if not self._too_deep:
            self.readings.append(Reading(ReadAs.UNPAIRED, ")"))
        self._too_deep = max(self._too_deep - 1, 0)
        self._at += 1
        return False

    def _item(self, depth: int) -> Item | None:
        sign = self._sign()
        character = self._peek() if sign == "NOT" else self._text[self._at : self._at + 1]
        sign = "-" if sign == "NOT" else sign
        if character == "(":
            group = self._parentheses(depth + 1)
            return Item(sign, group) if group else None
        if character == '"':
            return self._quoted(sign)
        return self._word(sign)

    def _sign(self) -> str:
        """Take what stands before an item."""
        text, at = self._text, self._at
        if self._at_word("NOT"):
            self._at += 3
            return "NOT"
        if text[at] not in "+-":
            return ""
        end = at + 1
        while end < len(text) and not text[end].isspace() and text[end] not in _SPECIAL:
            end += 1
        word = text[at + 1 : end]
        self._at += 1
        if text[at] == "-" and word and (read_as := self._no_exclusion(word, at)):
            self.readings.append(Reading(read_as, text[at : min(end, at + MAX_PIECE)]))
            return ""
        return text[at]

    def _no_exclusion(self, word: str, at: int) -> ReadAs | None:
        """Say what a word after a dash is where it is not excluded."""
        if word[0].isdigit():
            return ReadAs.LITERAL
        before = self._text[max(0, at - LOOKED_BACK) : at].split()
        return ReadAs.OPTION if _is_option(word, before) else None

    def _parentheses(self, depth: int) -> Group | None:
        self._at += 1
        if depth > MAX_DEPTH:
            self.readings.append(Reading(ReadAs.UNPAIRED, "("))
            self._too_deep += 1
            return None
        found = self._alternatives(depth)
        if self._peek() == ")":
            self._at += 1
        else:
            self.readings.append(Reading(ReadAs.CLOSED, "("))
        return Group(found) if found else None

    def _quoted(self, sign: str) -> Item | None:
        start, end = self._at + 1, self._text.find('"', self._at + 1)
        is_inch = end < 0 and start > 1 and self._text[start - 2].isdigit()
        if is_inch or (end < 0 and self._is_prose):
            self._at = start
            return None
        if end < 0:
            self.readings.append(Reading(ReadAs.CLOSED, '"'))
            end = len(self._text)
        self._at = min(end + 1, len(self._text))
        if self._is_prose and not sign:
            self.readings.append(Reading(ReadAs.LITERAL, self._text[start - 1 : self._at][:MAX_PIECE]))
            return Item("", Words(self._text[start:end]))
        return Item(sign or "+", Words(self._text[start:end]))

    def _word(self, sign: str) -> Item | None:
        start, text = self._at, self._text
        while self._at < len(text) and not text[self._at].isspace() and text[self._at] not in _SPECIAL:
            self._at += 1
        word = text[start : self._at]
        name, colon, value = word.partition(":")
        if colon and name.lower() in FILTERS:
            name = name.lower()
            return Item(sign, Filter(name, value or self._quoted_value() or self._value_behind(name)))
        if name.isascii() and name.isalpha() and len(name) > 1 and value[:1].isalnum():
            self.readings.append(Reading(ReadAs.NO_FIELD, f"{name}:"[:32]))
        return Item(sign, Words(word)) if word else None

    def _quoted_value(self) -> str:
        """Take what stands in quotation marks right after a filter's colon."""
        end = self._text.find('"', self._at + 1)
        if self._text[self._at : self._at + 1] != '"' or end < 0:
            return ""
        start, self._at = self._at + 1, end + 1
        return self._text[start:end]

    def _value_behind(self, name: str) -> str:
        """Take the word behind a filter's colon and a space, where it is a value of the filter."""
        found = _NEXT_WORD.match(self._text, self._at)
        if found is None or read_filter(name, found[1]) is None or (name == "site" and "." not in found[1]):
            return ""
        self._at = found.end()
        return found[1]

    def _peek(self) -> str:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _at_word(self, word: str) -> bool:
        end = self._at + len(word)
        if word not in self._operators or not self._text.startswith(word, self._at):
            return False
        return end == len(self._text) or self._text[end].isspace() or self._text[end] in _SPECIAL


def _demanded(item: Item) -> Item:
    return item if item.sign else Item("+", item.node)


def _is_option(word: str, before: Sequence[str]) -> bool:
    """Tell whether a word that stands after a dash is an option; `before` are the words in front of it.

    A letter by itself is never excluded (a character of Chinese is a word, and may be), nor what begins with two
    dashes. Short groups of letters are options only near the name of a command."""
    if (len(word) == 1 and not is_unspaced(word)) or word.startswith("-"):
        return True
    plain = [each.lower() for each in before if not each.startswith("-")]
    if any(word.partition("=")[0] in _NAMED.get(command, ()) for command in plain):
        return True
    is_cluster = len(word) <= MAX_CLUSTER and word.isascii() and word.isalpha()
    return is_cluster and not _NAMES.isdisjoint(plain[-NEAR:])


def said_in(group: Group) -> Iterator[tuple[Item, Words]]:
    """Yield all words that are looked for, each with the item that it stands in."""
    for item in (item for items in group.alternatives for item in items if item.sign != "-"):
        if isinstance(item.node, Group):
            yield from said_in(item.node)
        elif isinstance(item.node, Words):
            yield item, item.node


def filters_of(group: Group) -> Iterator[Filter]:
    """Yield all filters that narrow the query."""
    for item in (item for items in group.alternatives for item in items if item.sign != "-"):
        if isinstance(item.node, Group):
            yield from filters_of(item.node)
        elif isinstance(item.node, Filter):
            yield item.node
