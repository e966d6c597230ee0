"""Finds out by what dictionary the parts of records are packed best, from those that were written lately.

Pure but for a lock. Samples are kept in memory, every n-th part that is written, so that a bounded number stands for
all that came since the last training. A new dictionary is tried on samples that it was not made of.
"""

import threading
from collections.abc import Sequence

from store.record.zstd import Dictionary, squeeze, train

SAMPLES_BYTES = 6 << 20  # in memory; of 12 MB a dictionary is no better
SAMPLE_BYTES = 32_768  # the beginning of a part says enough
FIRST_TIMES = 32  # as many bytes as the dictionary has make the first one worth its room
SPARED = 4  # of a resting node every so-manieth sample stays
TRIED = 16  # every so-manieth sample is kept back to try the dictionary on
GAIN = 0.97  # one that saves less than 3 in 100 of what is packed now is not worth another segment


class DictionaryTraining:
    """Gathers samples in the thread that writes, and trains in any other."""

    def __init__(self, dictionary_bytes: int, segment_bytes: int, level: int) -> None:
        """`dictionary_bytes`: 0 for none; none either where segments are so small that it would not pay."""
        self._size = dictionary_bytes if 64 * dictionary_bytes <= segment_bytes else 0
        self._most_bytes, self._level = 8 * segment_bytes, level  # training costs 4 in 100 of writing then
        self._lock = threading.Lock()
        self._samples: list[bytes] = []
        self._sampled_bytes = self._written_bytes = self._seen = 0
        self._stride = 1
        self._is_training = False
        self._era = 0  # what was gathered before is not to be used any more
        self._trained: Dictionary | None = None

    def take(self, *parts: bytes) -> None:
        """Take note of parts that are being written."""
        if not self._size:
            return
        for part in parts:
            self._written_bytes += len(part)
            self._seen += 1
            if part and self._seen % self._stride == 0:
                with self._lock:
                    self._samples.append(part[:SAMPLE_BYTES])
                    self._sampled_bytes += len(self._samples[-1])
                    if self._sampled_bytes > SAMPLES_BYTES:
                        self._thin(2)

    def spare(self) -> None:
        """Keep a part of the samples, which stands for all of them as well."""
        with self._lock:
            if self._sampled_bytes > SAMPLES_BYTES // (2 * SPARED):
                self._thin(SPARED)

    def _thin(self, part: int) -> None:
        self._samples = self._samples[::part]
        self._stride *= part
        self._sampled_bytes = sum(map(len, self._samples))

    def is_due(self, used_bytes: int) -> bool:
        """Tell whether so much was written since the last training that another one may pay, beside so many bytes."""
        least = max(FIRST_TIMES * self._size, min(3 * used_bytes, self._most_bytes))
        return bool(self._size) and not self._is_training and self._written_bytes >= least

    def train(self, now: Dictionary | None) -> None:
        """Train, and keep what came of it where it is better than what is used `now`."""
        with self._lock:
            samples, era = self._samples, self._era
            self._is_training = True
            self._samples, self._sampled_bytes, self._written_bytes, self._stride = [], 0, 0, 1
        tried, others = samples[::TRIED], [part for n, part in enumerate(samples) if n % TRIED]
        made = train(others, self._size, self._level)
        better = Dictionary(made, self._level) if made else None
        if better is not None and _packed(tried, better) > GAIN * _packed(tried, now and Dictionary(now.data)):
            better = None
        with self._lock:
            self._is_training = False
            if era == self._era:
                self._trained = better

    def forget(self) -> None:
        """Forget all samples and what is made of them: something of theirs must not stay."""
        with self._lock:
            self._era += 1
            self._samples, self._sampled_bytes, self._written_bytes, self._stride = [], 0, 0, 1
            self._trained = None

    def trained(self) -> Dictionary | None:
        """Return a dictionary that turned out better, once."""
        if self._trained is None:
            return None
        with self._lock:
            better, self._trained = self._trained, None
        return better


def _packed(parts: Sequence[bytes], dictionary: Dictionary | None) -> int:
    """How many bytes parts take packed, each alone."""
    return sum(len(dictionary.squeeze(part) if dictionary else squeeze(part)) for part in parts)
