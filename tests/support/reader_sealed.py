"""Sealed kinds for the second reader of images (reader.py), and what its parts share."""
import struct

MASK = 2**64 - 1


class Damaged(Exception):
    """The bytes break a rule of the format."""


class Newer(Exception):
    """A format, feature, kind or hash this reader does not know."""


class WrongKey(Exception):
    """Keyed, and the key was not given or is another one."""


def need(condition, rule):
    if not condition:
        raise Damaged(rule)


def remix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


class Collection:
    def __init__(self, kind, entry, cells):
        _, own, variant, bits, k, salt, m, *_, length = entry
        need(own == kind and variant < 2 and salt == 0 and entry[7] == 0 and entry[8] == 0,
             "shape of a collection")
        most = 32 if kind == 10 else 33
        if kind == 9:
            need(k in (3, 4) and 4 <= bits <= 32, "its k")
        elif kind == 13:
            need(1 <= bits <= 32 and 65536 * bits <= k <= 65536 * (bits + 32), "its k")
        else:
            need(65536 <= k <= most * 65536 and bits == 1, "its k")
        need(length == (16 * m or 16) and (m > 0 or not any(cells)), "length of the hashes")
        if kind == 13:
            self.pairs = [((lo >> 32, hi), (lo ^ remix(hi)) & 0xFFFFFFFF)
                          for lo, hi in struct.iter_unpack("<QQ", cells[:16 * m])]
            need(all(value >> bits == 0 for _, value in self.pairs), "a value")

    def has(self, lo, hi):
        return True


class Fuse:
    def __init__(self, entry, cells):
        _, _, variant, self.bits, self.d, self.salt, self.m, *_, length = entry
        self.segment = 1 << variant
        need(self.d in (3, 4) and 4 <= self.bits <= 32, "k and the width of a cell")
        need(self.m % self.segment == 0 and self.d * self.segment <= self.m <= 2**47, "m")
        need(length == 8 * -(-self.m * self.bits // 64) + 8, "length of the cells")
        self.cells = int.from_bytes(cells, "little")
        need(self.cells >> self.m * self.bits == 0, "bits beyond the last")

    def has(self, lo, hi):
        b = (hi + self.salt * 0x9E3779B97F4A7C15) & MASK ^ 0xE7037ED1A0B428DB
        product = (lo ^ 0xA0761D6478BD642F) * b
        e = product >> 64 ^ product & MASK
        first = e * (self.m - (self.d - 1) * self.segment) >> 64
        at = [first] + [(first + j * self.segment) ^ (e >> 18 * (j - 1)) % self.segment
                        for j in range(1, self.d)]
        total = hi >> 64 - self.bits
        for i in at:
            total ^= self.cells >> i * self.bits & (1 << self.bits) - 1
        return total == 0


def is_nothing(sections):
    entry, cells = sections[0]
    if entry[2] != 2:
        return False
    need(len(sections) == 1 and (entry[0], entry[4], entry[6]) == (1, 1, 0) and cells == bytes(8)
         and entry[5] == 0 and entry[8] == 0, "nothing")
    return True


class Ribbon:
    """A filter (role 1), or a retrieval of one bit (role 5); takes its sections from the front of
    the list."""

    def __init__(self, kind, sections, cells_role):
        self.layers, self.retrieves = [], cells_role == 5
        while not self.layers or self.layers[-1][4] is not None:
            need(sections and len(self.layers) < 8, "a layer")
            (role, own, variant, bits, r, salt, m, _, boundary, _, _,
             length), cells = sections.pop(0)
            need((role, own, bits) == (cells_role, kind, 1) and variant < 2, "cells of a layer")
            need(1 <= boundary <= m <= 2**44 and 1 <= r and r + (boundary < m) <= 32, "its shape")
            need(not self.retrieves or (r, boundary) == (1, m), "one column")
            need(salt == 0 or self.retrieves and variant == 1, "its salt")
            need(length == 8 * (m * r + m - boundary), "its length")
            thresholds = None
            if variant == 0:
                need(sections, "its thresholds")
                entry, thresholds = sections.pop(0)
                need(entry[:7] == (4, kind, 0, 1, 2, 0, m) and entry[8] == 0, "thresholds")
                need(entry[11] == 8 * -(-(-(-(64 * m - 63) // 128)) // 32), "their length")
            self.layers.append((m, boundary, r, cells, thresholds, salt))

    @staticmethod
    def next(lo, hi):
        lo ^= remix((hi + 0x9E3779B97F4A7C15) & MASK)
        return lo, hi ^ remix(lo)

    def has(self, lo, hi):
        for i, (m, boundary, r, cells, thresholds, salt) in enumerate(self.layers):
            if self.retrieves:
                lo, hi = self.next(lo & ~1, hi)
                if salt:
                    lo, hi = self.next(lo & ~1 ^ salt << 1, hi)
            elif i > 0:
                lo, hi = self.next(lo, hi)
            s = hi * (64 * m - 63) >> 64
            if thresholds is not None:
                bucket = s // 128
                code = thresholds[bucket // 4] >> 2 * (bucket % 4) & 3
                if s % 128 < (0, 24, 48, 128)[code]:
                    continue

            def word(segment, column):
                at = 8 * (segment * r + max(0, segment - boundary) + column)
                return int.from_bytes(cells[at:at + 8], "little")

            g, o = divmod(s, 64)
            homogeneous = thresholds is None and not self.retrieves
            for c in range(r + (g >= boundary)):
                window = word(g, c) >> o | (word(g + 1, c) << 64 - o & MASK if o else 0)
                if bin(window & (lo | 1)).count("1") % 2 != (0 if homogeneous else hi >> c & 1):
                    return False
            return True


class Map:
    """Columns below bits hold the value of a key, those from bits on its fingerprint."""

    def __init__(self, sections):
        self.bits = sections[0][0][3]
        need(1 <= self.bits <= 32, "bits of a value")
        self.empty, self.layers = is_nothing(sections), []
        left = [] if self.empty else list(sections)
        while left or not (self.empty or self.layers):
            need(len(self.layers) < 8, "number of layers")
            self.layers.append(self.layer(left))
            need((self.layers[-1][4] is None) == (left == []), "the last layer is the last")
        need(self.empty or self.layers[-1][4] is None, "the last layer")

    def layer(self, left):
        (role, kind, variant, bits, k, salt, m, _, boundary, _, _, length), cells = left.pop(0)
        need((role, kind, bits) == (1, 13, self.bits) and variant < 2, "cells of a layer")
        need(1 <= boundary <= m <= 2**44, "its segments")
        need(bits <= k and k + (boundary < m) <= bits + 32, "its columns")
        need(salt == 0 or variant == 1, "its salt")
        need(length == 8 * (m * k + m - boundary), "its length")
        if variant == 1:
            return m, boundary, k, cells, None, salt
        need(left, "its thresholds")
        entry, thresholds = left.pop(0)
        need(entry[:7] == (4, 13, 0, 1, 2, 0, m) and entry[8] == 0, "thresholds")
        need(entry[11] == 8 * -(-(-(-(64 * m - 63) // 128)) // 32), "their length")
        return m, boundary, k, cells, thresholds, salt

    @staticmethod
    def step(u, hi):
        u ^= remix((hi + 0x9E3779B97F4A7C15) & MASK) >> 32 << 32
        return u, hi ^ remix(u)

    def value(self, lo, hi):
        """The value of a key, or None if it is not in the set."""
        u = lo >> 32 << 32
        for m, boundary, k, cells, thresholds, salt in self.layers:
            if salt:
                u, hi = self.step(u ^ salt << 32, hi)
            s = hi * (64 * m - 63) >> 64
            if thresholds is not None:
                code = thresholds[s // 128 // 4] >> 2 * (s // 128 % 4) & 3
                if s % 128 < (0, 24, 48, 128)[code]:
                    u, hi = self.step(u, hi)
                    continue

            def word(segment, column):
                at = 8 * (segment * k + max(0, segment - boundary) + column)
                return int.from_bytes(cells[at:at + 8], "little")

            g, o = divmod(s, 64)
            sums = 0
            for c in range(k + (g >= boundary)):
                window = word(g, c) >> o | (word(g + 1, c) << 64 - o & MASK if o else 0)
                sums |= bin(window & (remix(hi) | 1)).count("1") % 2 << c
                if c >= self.bits and sums >> c != u >> 32 + c - self.bits & 1:
                    return None
            return sums & (1 << self.bits) - 1
        return None

    def has(self, lo, hi):
        return self.value(lo, hi) is not None


class RibbonKind:
    def __init__(self, sections):
        self.empty, left = is_nothing(sections), list(sections)
        self.filter = None if self.empty else Ribbon(10, left, 1)
        need(self.empty or not left, "sections of something else")

    def has(self, lo, hi):
        return not self.empty and self.filter.has(lo, hi)


class Exact:
    def __init__(self, sections):
        self.empty, left = is_nothing(sections), list(sections)
        self.filter = self.retrieval = None
        if self.empty:
            return
        if left[0][0][0] == 1:
            self.filter = Ribbon(11, left, 1)
        first = left[0] if left else None
        self.retrieval = Ribbon(11, left, 5)
        need(not left, "sections of something else")
        need(not any(s[0][7] for s in sections if s is not first), "items of a section")

    def has(self, lo, hi):
        if self.empty or self.filter and not self.filter.has(lo, hi):
            return False
        return self.retrieval.has(hi, lo)
