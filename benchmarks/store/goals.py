"""Holds the figures to reach."""

PUTS_PER_S = 20_000.0  # durable, in batches of 256, by the processor's time
PUTS_OF_LIMIT = 0.6  # of zstd, checksum and fdatasync alone
COLD_READS_PER_S = 5_000.0
SCAN_MB_PER_S = 400.0
DISK_OF_ALONE = 0.6  # bytes on disk ÷ zstd of each body alone
RECONCILED_KB = 700.0  # both ways, 10⁶ keys of which 0.1 % differ
RECONCILED_TRIPS = 3.0
EQUAL_BYTES = 500.0  # both ways, equal sets
TRANSFER_OF_TLS = 0.6  # package transfer, r = 2, of opaque bytes by the same transport
