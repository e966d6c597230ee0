"""Scales the weights of rendezvous hashing by steps of room, in whole numbers alone: all machines get the same order.

Pure. A weight is a hash h of 64 bits. With L(h) = -log2((h + 1/2) / 2^64), members rank by L(h) * 2^(2 - step), the
least first. One step up halves that number, so the member owns twice as much of what it is a candidate for. L counts
in units of 2^-32. It is read from a table of 1,024 logarithms, with straight lines between them.
Source: Schindelhauer & Schomaker 2005 (the logarithmic method).
"""

from functools import cache

from dht.wire.room_step import HIGHEST_STEP, LOWEST_STEP

WEIGHT_BITS = 64
TABLE_BITS = 10  # of a mantissa: which entry of the table comes before it
LOG_BITS = 32  # of the fraction of a logarithm
_BETWEEN_BITS = WEIGHT_BITS - TABLE_BITS


def scaled(weight: int, step: int) -> int:
    """Return by what a member of this step ranks, the least first; `weight`: 64 bits."""
    return minus_log2(weight) << (HIGHEST_STEP - max(step, LOWEST_STEP))


def minus_log2(weight: int) -> int:
    """Return -log2((weight + 1/2) / 2^64) in units of 2^-32."""
    odd = 2 * weight + 1  # twice the number, below 2^65
    exponent = odd.bit_length() - 1
    mantissa = (odd << (WEIGHT_BITS - exponent)) - (1 << WEIGHT_BITS)  # of 64 bits, what stands after the 1
    table, entry = logarithms(), mantissa >> _BETWEEN_BITS
    beyond = mantissa & ((1 << _BETWEEN_BITS) - 1)
    log = table[entry] + ((table[entry + 1] - table[entry]) * beyond >> _BETWEEN_BITS)
    return (WEIGHT_BITS + 1 - exponent << LOG_BITS) - log


@cache
def logarithms() -> tuple[int, ...]:
    """Return log2(1 + n / 1024) for n from 0 to 1,024, in units of 2^-32, cut off."""
    return (*(_log2(n) for n in range(1 << TABLE_BITS)), 1 << LOG_BITS)


def _log2(entry: int) -> int:
    """Find a logarithm bit by bit: a number is squared, and a bit is set where the square reaches 2."""
    number, found = (1 << WEIGHT_BITS) + (entry << _BETWEEN_BITS), 0
    for _ in range(LOG_BITS):
        number = number * number >> WEIGHT_BITS
        carry = number >> (WEIGHT_BITS + 1)
        number >>= carry
        found = found << 1 | carry
    return found
