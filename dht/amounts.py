"""Writes numbers of things for people.

Pure: numbers and nouns in, texts out.
"""


def counted(number: int, noun: str, plural: str = "") -> str:
    """Write how many of something there are: "1 page", "1,200 pages". `plural`: of a noun that takes no s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
