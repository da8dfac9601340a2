"""The part of the second reader that reads distinct sketches: see docs/FORMAT.md, *48 distinct*.

It also builds sections from keys and estimates their number, in other ways than src/distinct: by
sets of values, and by bisection over the likelihood.
"""
import math
import struct

from reader_sealed import need

WINDOW = 24
LEVELS = 63


def value_of(lo):
    """The value of a key: 4 for each zero bit before the first one, and two more bits."""
    rest = format(lo >> 2, "062b")
    zeros = len(rest) - len(rest.lstrip("0"))
    return 4 * zeros + lo % 4 + 1


def probability(value):
    level = (value - 1) // 4
    return 2.0 ** -(level + 3 if level < LEVELS - 1 else level + 2)


class Distinct:
    def __init__(self, entry, cells):
        role, kind, self.variant, cell_bits, k, _, self.m, items, *_, length = entry
        self.p = self.m.bit_length() - 1
        need(role == 1 and kind == 48 and k == 1 and items == 0, "a distinct section")
        need(self.m == 1 << self.p and 4 <= self.p <= 26, "m")
        if self.variant == 1:
            need(cell_bits == 64 and length % 8 == 0, "tokens")
            need(1 <= length // 8 <= min(self.m // 2, 2048), "number of tokens")
            tokens = struct.unpack("<%dQ" % (length // 8), cells)
            self.tokens = [] if tokens == (0,) else list(tokens)
            need(self.tokens == sorted(set(self.tokens)), "order of the tokens")
            need(all(1 <= t % 256 <= 252 for t in self.tokens), "values of the tokens")
        else:
            need(cell_bits == 32 and length == 4 * self.m, "registers")
            self.registers = [self.values(r) for r in struct.unpack("<%dI" % self.m, cells)]

    @staticmethod
    def values(register):
        """The values that a register has: its greatest, and those of the 24 below it."""
        u, bits = register >> WINDOW, register % (1 << WINDOW)
        need(u <= 252 and (u > 0 or bits == 0), "greatest value of a register")
        had = [u - j for j in range(1, WINDOW + 1) if bits >> WINDOW - j & 1]
        need(all(v >= 1 for v in had), "values below 1")
        return frozenset([u, *had]) if u else frozenset()

    def has(self, lo, hi):
        value = value_of(lo)
        if self.variant == 1:
            return hi // 256 * 256 + value in self.tokens
        had = self.registers[hi >> 64 - self.p]
        return bool(had) and (value in had or value < max(had) - WINDOW)

    def shape(self):
        return self.variant, self.m


def build(p, hashes, registers=False):
    """The cells of a section of 2^p registers after these hashes, and its variant."""
    tokens = sorted({hi // 256 * 256 + value_of(lo) for lo, hi in hashes})
    if not registers and len(tokens) <= min(2 ** p // 2, 2048):
        return struct.pack("<%dQ" % max(1, len(tokens)), *tokens or [0]), 1
    had = [set() for _ in range(2 ** p)]
    for lo, hi in hashes:
        had[hi >> 64 - p].add(value_of(lo))
    words = [max(v) << WINDOW | sum(1 << WINDOW - max(v) + x for x in v
                                    if 1 <= max(v) - x <= WINDOW) if v else 0 for v in had]
    return struct.pack("<%dI" % len(words), *words), 0


def estimate(sections):
    """The number of distinct keys in the union of sections, which are of equal shape."""
    if sections[0].variant == 1:
        return len(sections[0].tokens)
    received, missing = {}, 0.0
    for had in zip(*(s.registers for s in sections)):
        all_had = frozenset().union(*had)
        greatest = max(all_had, default=0)
        for value in range(max(1, greatest - WINDOW), 253):
            if value in all_had:
                received[value] = received.get(value, 0) + 1
            else:
                missing += probability(value)
    if not received:
        return 0

    def slope(x):
        """The derivative of the log-likelihood for x keys per register."""
        return sum(n * probability(v) / math.expm1(min(700, probability(v) * x))
                   for v, n in received.items()) - missing

    low, high = 1e-9, 1e25
    for _ in range(300):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    m = sections[0].m
    return m * low / (1 + 0.0917 / m)
