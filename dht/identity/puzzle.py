"""An identity costs work: a nonce for which a hash of public key and nonce begins with enough zero bits.

Pure: values only. An attacker that wants an id near a point tries keys until one lies there, and solves the puzzle for
each identity that it uses. An honest node solves it once. Checking costs one hash. Sources: Back 2002 (Hashcash);
Baumgart & Mies 2007 (S/Kademlia: crypto puzzles bound to node ids).
"""

from hashlib import blake2b

PERSON = b"dse-node puzzle"
HASH_BITS = 64  # of which the strategy may ask 28
NONCE_BYTES = 8
STEP_TRIES = 20_000  # some 15 ms: whoever waits for the interpreter's lock meanwhile hardly notices


def work_of(public_key: bytes, nonce: int) -> int:
    """Count the leading zero bits of BLAKE2b-8(public key ‖ nonce, 8 bytes big-endian)."""
    data = public_key + nonce.to_bytes(NONCE_BYTES, "big")
    digest = blake2b(data, digest_size=HASH_BITS // 8, person=PERSON).digest()
    return HASH_BITS - int.from_bytes(digest, "big").bit_length()


def solve(public_key: bytes, bits: int, first: int = 0, tries: int = STEP_TRIES) -> int | None:
    """Find the least nonce from `first` on with that many bits of work; None where `tries` were not enough."""
    begun = blake2b(public_key, digest_size=HASH_BITS // 8, person=PERSON)
    limit = (1 << HASH_BITS - bits).to_bytes(HASH_BITS // 8 + 1, "big")
    for nonce in range(first, first + tries):
        state = begun.copy()
        state.update(nonce.to_bytes(NONCE_BYTES, "big"))
        if b"\0" + state.digest() < limit:
            return nonce
    return None


def solve_all(public_key: bytes, bits: int) -> int:
    """Find the least nonce with that many bits of work; takes 2**bits tries on average."""
    first = 0
    while (found := solve(public_key, bits, first)) is None:
        first += STEP_TRIES
    return found
