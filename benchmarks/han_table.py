"""Makes index/text/han.txt anew: traditional Chinese characters, each with the simplified one that stands for it.

    pip install opencc==1.4.2
    python -m benchmarks.han_table > index/text/han.txt

Only this script needs OpenCC; its version would be part of the analyzer's otherwise.
"""

import sys

HAN = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0x20000, 0x2A6E0))
ROW_PAIRS = 50


def pairs() -> list[str]:
    """Return each character that has a simplified one, with that: of Taiwan's and Hong Kong's variants, too."""
    from opencc import OpenCC  # type: ignore[import-not-found]

    steps = [OpenCC(name) for name in ("tw2s", "hk2s", "t2s")]

    def simplified(character: str) -> str:
        before = ""
        while before != character:
            before = character
            for step in steps:
                character = step.convert(character)
        return character

    found = []
    for character in (chr(code) for first, end in HAN for code in range(first, end)):
        other = simplified(character)
        if other != character and len(other) == 1 and ord(character) < 0x10000 and ord(other) < 0x10000:
            found.append(character + other)
    return found


def main() -> None:
    """Print the table."""
    found = pairs()
    for start in range(0, len(found), ROW_PAIRS):
        sys.stdout.write("".join(found[start : start + ROW_PAIRS]) + "\n")


if __name__ == "__main__":
    main()
