"""Large packages from peers are proved beside the event loop."""

import threading

from store.writing.proof_thread import LARGE_BYTES, ProofThread


async def test_proving_much_leaves_the_loop_free() -> None:
    proofs, here = ProofThread(), threading.get_ident()
    assert await proofs.run(threading.get_ident, LARGE_BYTES - 1) == here
    assert await proofs.run(threading.get_ident, LARGE_BYTES) != here
