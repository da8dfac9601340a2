"""A Bloom filter in Python alone, as several packages have it: a bytearray, and probes from two
halves of a hash. It is here to be measured, not to be used."""
import hashlib
import math


class PlainFilter:
    def __init__(self, items, fpr):
        self.m = max(8, math.ceil(items * math.log(1 / fpr) / math.log(2) ** 2))
        self.k = max(1, round(self.m / items * math.log(2)))
        self.bits = bytearray((self.m + 7) // 8)

    def probes(self, key):
        digest = hashlib.blake2b(key.encode(), digest_size=16).digest()
        a = int.from_bytes(digest[:8], "little")
        b = int.from_bytes(digest[8:], "little") | 1
        return [(a + i * b) % self.m for i in range(self.k)]

    def add(self, key):
        for at in self.probes(key):
            self.bits[at >> 3] |= 1 << (at & 7)

    def __contains__(self, key):
        return all(self.bits[at >> 3] >> (at & 7) & 1 for at in self.probes(key))
