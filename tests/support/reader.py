"""A second reader of Tamis images, written from docs/FORMAT.md alone and sharing no code with src/.

Slow and plain on purpose: it is there to disagree. Needs the Debian package python3-xxhash.

    /usr/bin/python3 tests/support/reader.py IMAGE [KEY_IN_HEX]

prints what the header says. IMAGE may be packed.
"""
import bisect
import struct
import sys

import xxhash

from reader_distinct import Distinct
from reader_sealed import (MASK, Collection, Damaged, Exact, Fuse, Map, Newer, RibbonKind,
                           WrongKey, need, remix)
from siphash import siphash128

MULTIPLIER = 2862933555777941757
CHUNK = 65536
KINDS = {1: "bloom", 2: "partitioned", 3: "blocked", 4: "counting", 5: "pair", 6: "growing",
         7: "window", 8: "cuckoo", 9: "fuse", 10: "ribbon", 11: "exact", 12: "private",
         13: "map", 32: "count-min", 33: "count-sketch", 34: "tally", 35: "top", 36: "signed-tally",
         48: "distinct"}
VARIANTS = {3: 1, 4: 1, 6: 10, 9: 18, 10: 2, 11: 2, 13: 2, 32: 1, 48: 1}  # the highest, if any
ENCODINGS = {0: "not stated", 1: "text", 2: "int64le", 3: "fixed", 4: "sha256", 5: "caller"}
HEADER = struct.Struct("<8sHHIIIIHHQ16sQQdQQQIIQQ")
ENTRY = struct.Struct("<HHHHIIQQQQQQ")


def aligned(at):
    return (at + 63) // 64 * 64


class Bits:
    """One section of bits: bloom, partitioned or blocked."""

    def __init__(self, entry, cells):
        _, self.kind, variant, cell_bits, self.k, _, self.m, *_, length = entry
        self.compact = self.kind == 3 and variant == 1
        need(self.kind in (1, 2, 3) and cell_bits == 1, "bits")
        self.bits = self.m * self.k if self.kind == 2 else self.m
        need(1 <= self.m and self.bits <= 2**52, "m")
        most = 16 if self.compact else 64
        need(self.k == 8 if self.kind == 3 and not self.compact else 1 <= self.k <= most, "k")
        need(self.kind != 3 or self.m % 512 == 0, "whole lines")
        need(length == 8 * -(-self.bits // 64), "length of the cells")
        self.cells = int.from_bytes(cells, "little")
        need(self.cells >> self.bits == 0, "bits beyond the last")

    def cells_of(self, lo, hi):
        if self.kind == 3:
            line = hi * (self.m // 512) >> 64
            if not self.compact:
                return [512 * line + 64 * j + (lo >> 6 * j) % 64 for j in range(8)]
        x, cells = lo, []
        for j in range(self.k):
            if self.compact:
                cells.append(512 * line + (x >> 55))
            else:
                cells.append((j * self.m if self.kind == 2 else 0) + (x * self.m >> 64))
            x = (x * MULTIPLIER + hi) & MASK
        return cells

    def has(self, lo, hi):
        return all(self.cells >> cell & 1 for cell in self.cells_of(lo, hi))

    def shape(self):
        return self.kind, self.compact, self.m, self.k


class Private(Bits):
    """A bloom filter with k = 1 whose bits were flipped; the salt says how often, in 2^32."""

    def __init__(self, entry, cells):
        super().__init__((entry[0], 1, *entry[2:]), cells)
        need(entry[1] == 12 and self.k == 1, "one probe")
        need(1 <= entry[5] < 2**31, "chance of a flip")


class Counting:
    def __init__(self, entry, cells):
        _, _, self.variant, self.width, self.k, _, self.m, *_, length = entry
        need(self.width in (4, 8, 16), "width of a counter")
        need(1 <= self.k <= (16 if self.variant == 1 else 64), "k")
        need(1 <= self.m and self.m * self.width <= 2**52, "m")
        self.line = 512 // self.width
        need(self.variant == 0 or self.m % self.line == 0, "whole lines")
        need(length == 8 * -(-self.m * self.width // 64), "length of the counters")
        self.cells = int.from_bytes(cells, "little")
        need(self.cells >> self.m * self.width == 0, "bits beyond the last")

    def has(self, lo, hi):
        x, at = lo, []
        for _ in range(self.k):
            if self.variant == 1:
                at.append((hi * (self.m // self.line) >> 64) * self.line + (x * self.line >> 64))
            else:
                at.append(x * self.m >> 64)
            x = (x * MULTIPLIER + hi) & MASK
        return all(self.cells >> i * self.width & (1 << self.width) - 1 for i in at)


class Pair:
    def __init__(self, sections):
        need(len(sections) == 2 and [e[0] for e, _ in sections] == [1, 2], "added and removed")
        self.added, self.removed = (Bits(e, c) for e, c in sections)
        need(self.added.shape() == self.removed.shape(), "equal shapes")

    def has(self, lo, hi):
        for life in range(64):
            h = lo, hi
            if life > 0:
                step = life * 0x9E3779B97F4A7C15
                h = remix((lo + step) & MASK), remix((hi + step) & MASK)
            if not self.added.has(*h) or not self.removed.has(*h):
                return self.added.has(*h)
        return True


class QuotientTable:
    """One section of a growing filter. `first` is the Q of the first table."""

    def __init__(self, entry, cells, first):
        role, kind, self.shared, self.width, base, _, self.m, *_, length = entry
        m, is_share = self.m, self.shared > 0
        need((role, kind) == (1, 6) and m > 0, "role and kind of a table")
        level = m.bit_length() - 1 + self.shared
        need(3 <= base <= (46 if is_share else 51) and level <= 46, "k and the level")
        if is_share:
            need(5 <= self.shared <= 10 and m >= 64, "a share")
            bits = self.share_bits(level, m << self.shared, first)
        else:
            need(m == 1 << level and level >= 7, "m of the first table")
            bits = self.first_bits(level)
        need(self.width == base + bits + 1, "width of a slot")
        extra = 1 if level < 10 else 2 if level < 12 else 3
        blocks = (m + 103) // 64 if is_share else m // 64 + extra
        most = m * 123 // 128 if is_share else 15 * m // 16
        size = 18 + 8 * self.width
        need(length == 8 * -(-blocks * size // 8) + 8, "length of the table")
        need(not any(cells[blocks * size:length - 8]), "bytes between the blocks and the count")
        self.occupied, self.ends, self.slots, self.offsets = 0, 0, [], []
        for b in range(blocks):
            at = b * size
            self.occupied |= int.from_bytes(cells[at:at + 8], "little") << 64 * b
            self.ends |= int.from_bytes(cells[at + 8:at + 16], "little") << 64 * b
            self.offsets.append(int.from_bytes(cells[at + 16:at + 18], "little"))
            packed = int.from_bytes(cells[at + 18:at + size], "little")
            self.slots += [packed >> i * self.width & (1 << self.width) - 1 for i in range(64)]
        need(self.occupied >> m == 0, "occupied beyond the homes")
        self.check_runs(blocks, int.from_bytes(cells[length - 8:], "little"), most)

    @staticmethod
    def first_bits(level):
        return 5 if level < 15 else 20 - level if level < 20 else 0 if level < 28 else 4

    def share_bits(self, level, homes, first):
        if first > 12:
            if level > first:
                return self.first_bits(level) + 1
            return self.first_bits(first + 1) + first + 2 - level
        if homes < 1 << 17:
            return 17 - level
        return 0 if homes < 7 << 23 else 5 if homes < 1 << 28 else 8

    def check_runs(self, blocks, entries, most):
        self.runs, after, used, offsets = {}, 0, 0, []
        for q in range(64 * blocks):
            if q % 64 == 0:
                offsets.append(max(0, after - q))
            if not self.occupied >> q & 1:
                continue
            start = end = max(q, after)
            while end < 64 * blocks and not self.ends >> end & 1:
                end += 1
            need(end < 64 * blocks, "end of a run")
            after = end + 1
            self.runs[q] = self.slots[start:after]
            need(all(self.runs[q]), "an empty slot in a run")
            used += after - start
        need(self.offsets == offsets, "offsets")
        need(used == entries <= most, "number of entries")
        need(sum(v != 0 for v in self.slots) == used
             and bin(self.ends).count("1") == len(self.runs), "unused slots")

    def has(self, lo, hi):
        place = ((hi << 64 | lo) << self.shared & (1 << 128) - 1) * self.m
        f = place >> 128 - self.width + 1 & (1 << self.width - 1) - 1
        for v in self.runs.get(place >> 128, ()):
            t = (v & -v).bit_length() - 1
            if f >> t == v >> t + 1:
                return True
        return False


class Growing:
    def __init__(self, parts, removable):
        entries = [entry for entry, _ in parts]
        need(entries[0][2] == 0 and all(e[2] > 0 for e in entries[1:]), "first table")
        need(all(e[4] == entries[0][4] for e in entries), "k")
        self.tables = [QuotientTable(e, c, entries[0][6].bit_length() - 1) for e, c in parts]
        self.starts, at = [], 0
        for table in self.tables[1:]:
            width = 1024 >> table.shared
            need(at % width == 0 and at < 1024, "order of the shares")
            self.starts.append(at)
            at += width
        need(at in (0, 1024) and (at == 0) == (len(parts) == 1), "all shares")
        need(not removable or at > 0 and self.tables[0].m == 128 and not self.tables[0].occupied,
             "the empty first table of a removable filter")

    def has(self, lo, hi):
        if self.starts and self.tables[bisect.bisect(self.starts, hi >> 54)].has(lo, hi):
            return True
        return self.tables[0].has(lo, hi)


class Cuckoo:
    def __init__(self, *parts):
        need(1 <= len(parts) <= 2, "slots and a stash")
        entry, cells = parts[0]
        role, kind, _, self.width, k, _, self.m, *_, length = entry
        need(role == 1 and kind == 8, "role and kind of the slots")
        need(k == 2 and 7 <= self.width <= 33, "k and the width of a slot")
        need(self.m >= 4 and self.m % 2 == 0 and self.m * self.width <= 2**52, "m")
        need(length == 8 * -(-self.m * self.width // 64) + 8, "length of the slots")
        self.cells = int.from_bytes(cells, "little")
        need(self.cells >> self.m * self.width == 0, "bits beyond the last")
        self.stash = {}
        if len(parts) == 2:
            self.take_stash(*parts[1])

    def take_stash(self, entry, cells):
        role, kind, _, cell_bits, k, _, m, *_, length = entry
        need(role == 8 and kind == 8 and cell_bits == 128 and k == 2, "the shape of the stash")
        need(1 <= m <= 64 and length == 16 * m, "the length of the stash")
        for window, print_, copies in struct.iter_unpack("<QII", cells):
            need(window < self.m // 2 - 1, "a window of the stash")
            need(1 <= print_ < 1 << self.width - 1 and copies > 0, "an entry of the stash")
            need(not self.stash or (window, print_) > max(self.stash), "the order of the stash")
            self.stash[window, print_] = copies

    def slot(self, i):
        return self.cells >> i * self.width & (1 << self.width) - 1

    def has(self, lo, hi):
        windows = self.m // 2 - 1
        print_ = 1 + (lo * ((1 << self.width - 1) - 1) >> 64)
        first = hi * windows >> 64
        x = print_ * 0x9E3779B97F4A7C15 & MASK
        x = (x ^ x >> 32) * 0xD6E8FEB86659FD93 & MASK
        second = self.m // 2 + ((x * windows >> 64) - first) % windows
        if (first, print_) in self.stash:
            return True
        return any(self.slot(s) == 2 * print_ or self.slot(s + 1) == 2 * print_ + 1
                   for s in (first, second))


END = 2**63 - 1  # of every count


class CountMin:
    def __init__(self, entry, cells):
        _, _, _, self.width, self.k, _, self.m, *_, length = entry
        need(self.width in (32, 64), "width of a counter")
        need(1 <= self.k <= 32 and 1 <= self.m and self.k * self.m * self.width <= 2**52, "k and m")
        need(length == 8 * -(-self.k * self.m * self.width // 64), "length of the counters")
        self.cells = int.from_bytes(cells, "little")
        need(self.cells >> self.k * self.m * self.width == 0, "bits beyond the last")

    def count(self, lo, hi):
        x, least = lo, END
        end = END if self.width == 64 else 2**32 - 1
        for j in range(self.k):
            v = self.cells >> (j * self.m + (x * self.m >> 64)) * self.width & (1 << self.width) - 1
            least = min(least, END if v >= end else v)
            x = (x * MULTIPLIER + hi) & MASK
        return least

    def has(self, lo, hi):
        return self.count(lo, hi) > 0


class CountSketch:
    def __init__(self, entry, cells):
        self.rows = CountMin(entry, cells)
        need(self.rows.k % 2 == 1, "an odd k")

    def count(self, lo, hi):
        x, values, r = lo, [], self.rows
        end = 2**(r.width - 1) - 1
        for j in range(r.k):
            half = x * 2 * r.m >> 64
            v = r.cells >> (j * r.m + half // 2) * r.width & (1 << r.width) - 1
            v = max(-end, v - (v >> r.width - 1 << r.width))
            values.append(-v if half % 2 else v)
            x = (x * MULTIPLIER + hi) & MASK
        middle = sorted(values)[r.k // 2]
        return middle if abs(middle) < end else END if middle > 0 else -END

    def has(self, lo, hi):
        return True


class Tally:
    def __init__(self, entry, cells):
        self.lines = self.check_lines(entry, cells)
        need(entry[4] == 4, "shape")
        self.cells = cells

    @staticmethod
    def check_lines(entry, cells):
        _, _, _, width, _, _, m, *_, length = entry
        lines = m // 56
        need(width == 8 and m % 56 == 0 and 2 <= lines <= 2**43, "shape")
        need(length == 64 * lines, "length of the lines")
        for at in range(0, length, 64):
            need(cells[at + 63] == 0, "the last byte of a line")
            for j in cells[at + 56:at + 63]:
                need(j < 128 and (not j & 2 or j & 5 == 5) and (not j & 32 or j & 80 == 80),
                     "halves of a quad")
                need(not j & 8 or j & 34 == 34, "halves of an octet")
        return lines

    @staticmethod
    def counter_at(cells, line, octet, byte):
        j = cells[64 * line + 56 + octet]
        size = 8 if j & 8 else 4 if j >> (byte & 4) & 2 else 2 if j >> (byte & 6) & 1 else 1
        at = 64 * line + 8 * octet + byte // size * size
        return int.from_bytes(cells[at:at + size], "little"), size

    def counters(self, line, bits):
        r = bits * 7
        first, r = r >> 32, (r & 0xFFFFFFFF) * 6
        second, r = (first + 1 + (r >> 32)) % 7, (r & 0xFFFFFFFF) * 64
        for octet, byte in ((first, (r >> 32) % 8), (second, r >> 35)):
            yield self.counter_at(self.cells, line, octet, byte)[0]

    def count(self, lo, hi):
        first = hi * self.lines >> 64
        second = (first + 1 + (lo * (self.lines - 1) >> 64)) % self.lines
        return min(END, *self.counters(first, hi & 0xFFFFFFFF),
                   *self.counters(second, lo & 0xFFFFFFFF))

    def has(self, lo, hi):
        return self.count(lo, hi) > 0


class Top:
    def __init__(self, sections):
        need(len(sections) == 3 and [e[:3]
                                     for e, _ in sections] == [(1, 34, 0), (6, 35, 0), (7, 35, 0)],
             "sections")
        self.tally = Tally(*sections[0])
        (_, _, _, width, ways, _, m, *rest, length), self.entries = sections[1]
        self.buckets = m // 4
        need((width, ways) == (64, 4) and m % 4 == 0 and 2 <= self.buckets <= 2**30
             and length == 32 * m, "entries")
        (_, _, _, width, one, _, size, *_, length), self.texts = sections[2]
        need((width, one) == (8, 1) and size == length and size % 64 == 0 and 128 <= size <= 2**34,
             "texts")
        need(not any(e[7] for e, _ in sections[1:]), "items of the entries")
        self.found = {}
        for slot in range(m):
            self.check_entry(slot)
        for b in range(self.buckets):
            last, since = struct.unpack_from("<QQ", self.entries, 128 * b + 112)
            need((last == 0) == (since == 0) and since <= END, "last key of a bucket")
        self.check_texts(m, size)

    def check_entry(self, slot):
        at, way = slot // 4 * 128, slot % 4
        print_, count, error = (int.from_bytes(self.entries[at + o + 8 * way:][:8], "little")
                                for o in (0, 32, 64))
        text = int.from_bytes(self.entries[at + 96 + 4 * way:][:4], "little")
        if print_ == 0:
            need(count == error == text == 0, "no entry")
            return
        need((text == 0) == (count >> 63 == 1), "text or none")
        need(1 <= count & END and error & END < count & END, "count and error")
        need(slot // 4 in self.pair(print_) and print_ not in self.found, "place of an entry")
        self.found[print_] = count & END, error & END, text, slot

    def check_texts(self, m, size):
        used, text_floor, floor, zero = struct.unpack_from("<QQQQ", self.texts)
        need(zero == 0 and text_floor <= END and floor <= END, "floors")
        need(used % 8 == 0 and (used == 0 or 32 <= used <= size), "used")
        limit, at, owner = min(4096, 8 * ((size - 32) // 64)), 32, {}
        while at < used:
            need(at + 8 <= used, "a record")
            slot, length = struct.unpack_from("<II", self.texts, at)
            end = at + 8 + min(length, limit)
            need(slot < m and end + -end % 8 <= used, "a record")
            need(not any(self.texts[end:end + -end % 8]), "zeros behind a text")
            owner[at // 8] = slot, self.texts[at + 8:end]
            at = end + -end % 8
        need(not any(self.texts[max(used, 32):]), "zeros behind the texts")
        need(all(text == 0 or text in owner and owner[text][0] == slot
                 for _, _, text, slot in self.found.values()), "whose text")
        self.items = {p: owner[text][1] for p, (_, _, text, _) in self.found.items() if text}

    def pair(self, print_):
        z = remix(print_) * 0x9E3779B97F4A7C15 & MASK
        first = z * self.buckets >> 64
        return first, (first + 1
                       + ((z << 32 & MASK | z >> 32) * (self.buckets - 1) >> 64)) % self.buckets

    def count(self, lo, hi):
        print_ = lo or 1
        return self.found[print_][0] if print_ in self.found else self.tally.count(
            print_, remix(print_))

    def text(self, lo, hi):
        return self.items.get(lo or 1)

    def has(self, lo, hi):
        return self.count(lo, hi) > 0


class SignedTally:
    def __init__(self, entry, cells):
        self.lines = Tally.check_lines(entry, cells)
        need(entry[4] == 5, "shape")
        self.cells = cells

    def counters(self, line, bits, three):
        r = bits * 7
        first, r = r >> 32, (r & 0xFFFFFFFF) * 6
        second, r = 1 + (r >> 32), r & 0xFFFFFFFF
        octets = [first, (first + second) % 7]
        if three:
            r *= 5
            third, r = 1 + (r >> 32), r & 0xFFFFFFFF
            octets.append((first + third + (third >= second)) % 7)
        places = r * 512 >> 32
        for i, octet in enumerate(octets):
            v, size = Tally.counter_at(self.cells, line, octet, places >> 3 * i & 7)
            yield max(-END, v - (v >> 8 * size - 1 << 8 * size))

    def count(self, lo, hi):
        first = hi * self.lines >> 64
        second = (first + 1 + (lo * (self.lines - 1) >> 64)) % self.lines
        signs = remix(lo ^ hi) >> 59
        values = [*self.counters(first, hi & 0xFFFFFFFF, True),
                  *self.counters(second, lo & 0xFFFFFFFF, False)]
        return sorted(-v if signs >> i & 1 else v for i, v in enumerate(values))[2]

    def has(self, lo, hi):
        return True


class Window:
    def __init__(self, sections):
        self.counts = 32 <= sections[0][0][1] < 48
        parts = 3 if len(sections) > 1 and sections[1][0][0] == 6 else 1
        need(len(sections) % parts == 0 and 2 <= len(sections) // parts <= 256,
             "number of generations")
        if not self.counts:
            distinct = sections[0][0][1] == 48
            self.generations = [(Distinct if distinct else Bits)(e, c) for e, c in sections]
            need(len({g.shape() for g in self.generations}) == 1, "equal shapes")
            need(not distinct or self.generations[0].variant == 0, "generations of registers")
            return
        need(len({(*e[:5], e[6], i % parts) for i, (e, _) in enumerate(sections)}) == parts,
             "equal shapes")
        need(all(e[7] <= END for e, _ in sections), "weight of a generation")
        if parts == 3:
            self.generations = [Top(sections[i:i + 3]) for i in range(0, len(sections), 3)]
            return
        kinds = {32: CountMin, 33: CountSketch, 34: Tally, 36: SignedTally}
        need(all(e[0] == 1 and e[1] in kinds for e, _ in sections), "generations of counters")
        self.generations = [kinds[e[1]](e, c) for e, c in sections]

    def count(self, lo, hi):
        return max(-END, min(END, sum(g.count(lo, hi) for g in self.generations)))

    def has(self, lo, hi):
        return any(g.has(lo, hi) for g in self.generations)


class Image:
    def __init__(self, data, key=None, check_key=True):
        self.data, self.key = bytes(data), key
        need(len(data) >= 128, "shorter than a header")
        self.read_header()
        self.read_table()
        self.check_sums()
        self.check_header()
        self.check_shape()
        if check_key:
            self.check_key()

    def read_header(self):
        (magic, self.read_version, self.write_version, header_length, self.refuse, self.read_only,
         self.ignore, self.hash, self.kind, self.seed, self.key_id, self.items, self.planned_items,
         self.planned_rate, self.epoch, self.zero_8, self.generation, self.count, self.zero_4,
         self.total, self.root) = HEADER.unpack_from(self.data)
        need(magic == b"\x89TAMIS\r\n", "magic")
        need(self.read_version >= 1, "read version")
        if self.read_version > 1:
            raise Newer("read version %d" % self.read_version)
        need(header_length == 128, "header length")
        need(self.total == len(self.data), "total length")
        need(1 <= self.count <= 1024, "number of sections")
        need(128 + 64 * self.count <= self.total, "section table")

    def read_table(self):
        self.sections = [ENTRY.unpack_from(self.data, 128 + 64 * i) for i in range(self.count)]
        lengths = [s[11] for s in self.sections]
        need(all(8 <= n <= self.total for n in lengths), "section length")
        at = self.metadata = 128 + 64 * self.count + sum(8 * -(-n // CHUNK) for n in lengths)
        for s in self.sections:
            salt, items, boundary, zero, offset, length = s[5], s[7], s[8], s[9], s[10], s[11]
            need((salt == 0 or self.kind in (9, 10, 11, 12, 13))
                 and (boundary == 0 or self.kind in (10, 11, 13)) and zero == 0,
                 "zero fields of a section")
            need(items == 0 or self.kind in (7, 11) or 32 <= self.kind < 48, "items of a section")
            need(offset == aligned(at) and offset + length <= self.total, "section offset")
            need(not any(self.data[at:offset]), "padding")
            at = offset + length
        need(at == self.total, "end of the last section")

    def check_sums(self):
        metadata = bytearray(self.data[:self.metadata])
        metadata[120:128] = bytes(8)
        need(xxhash.xxh3_64_intdigest(bytes(metadata)) == self.root, "root")
        at = 128 + 64 * self.count
        for *_, offset, length in self.sections:
            for start in range(0, length, CHUNK):
                chunk = self.data[offset + start:offset + min(start + CHUNK, length)]
                (expected,) = struct.unpack_from("<Q", self.data, at)
                need(xxhash.xxh3_64_intdigest(chunk) == expected, "sum of a chunk")
                at += 8

    def check_header(self):
        if self.refuse != 0:
            raise Newer("refuse flags %x" % self.refuse)
        if self.kind not in KINDS or self.hash not in (1, 2, 3):
            raise Newer("kind %d, hash %d" % (self.kind, self.hash))
        need(self.write_version >= self.read_version, "write version")
        need(self.hash == 1 or self.seed == 0, "seed")
        need(self.hash == 2 or self.key_id == bytes(16), "key id")
        need(self.planned_items >= 1 and 0 < self.planned_rate <= 1, "plan")
        need(self.zero_8 == 0 and self.zero_4 == 0, "zero fields of the header")
        need(self.generation >= 1, "generation")
        self.sealed, self.strict = bool(self.read_only & 1), bool(self.read_only & 2)
        need(self.kind != 12 or self.sealed and not self.strict, "a release is sealed")
        need(self.read_only & 4 == 0 or self.kind == 7, "turning")
        need(not self.strict or self.kind < 32 and self.kind not in (6, 7, 13), "strict")
        need((self.epoch != 0) == bool(self.read_only & 8), "epoch and its flag")
        need(self.epoch == 0 or self.kind == 7, "an epoch")
        self.removable = bool(self.read_only & 16)
        need(not self.removable or self.kind == 6, "removable")
        self.encoding, width = self.ignore >> 8 & 255, self.ignore >> 16
        need(self.encoding > 5 or (width > 0) == (self.encoding == 3), "width of the keys")
        self.key_width = {2: 8, 3: width, 4: 32}.get(self.encoding, 0)
        self.changeable = self.write_version == 1 and self.read_only & ~30 == 0

    def check_shape(self):
        lists = self.count > 1 and self.sections[1][0] == 6
        counts = self.kind == 7 and 32 <= self.sections[0][1] < 48
        distinct = self.sections[0][1] == 48
        parts = []
        for entry in self.sections:
            role, kind, variant, *_, offset, length = entry
            roles = {5: 2, 7: 7 if lists and counts else 1, 8: 8, 9: 3, 10: 4, 11: 5, 13: 4, 35: 7}
            if kind not in KINDS or variant > VARIANTS.get(kind, 0) \
                    or not 1 <= role <= roles.get(self.kind, 1):
                raise Newer("a section of role %d, kind %d, variant %d" % (role, kind, variant))
            parts.append((entry, self.data[offset:offset + length]))
        total = sum(s[7] for s in self.sections)
        need(7 != self.kind < 32 or (min(total, MASK) if counts else total) == self.items,
             "items of the sections")
        need(not (counts or distinct) or self.read_only & 4 == 0, "turning")
        need(not distinct or self.items == 0, "items of a distinct sketch")
        if self.kind in (5, 7):
            self.filter = (Pair if self.kind == 5 else Window)(parts)
            return
        if self.kind == 35:
            self.filter = Top(parts)
            return
        need(all(entry[1] == self.kind for entry in self.sections), "sections of this kind")
        need(self.count == 1 or self.kind in (6, 8, 10, 11, 13), "one section")
        need(self.kind not in (9, 10, 11, 13) or self.sealed == (self.sections[0][0] != 3),
             "sealed, or a collection")
        if self.kind in (9, 10, 11, 13) and self.sections[0][0] == 3:
            lists = 2 if self.kind == 11 else 1
            need([(e[0], e[2]) for e in self.sections] == [(3, 0), (3, 1)][:lists], "collections")
            need(len({e[4] for e in self.sections}) == 1, "their k")
            self.filter = [Collection(self.kind, *part) for part in parts][0]
            return
        if self.kind in (10, 11, 13):
            self.filter = {10: RibbonKind, 11: Exact, 13: Map}[self.kind](parts)
            return
        if self.kind == 8:
            self.filter = Cuckoo(*parts)
            return
        if self.kind == 6:
            self.filter = Growing(parts, self.removable)
            return
        need(self.sections[0][0] == 1, "cells")
        self.filter = {4: Counting, 9: Fuse, 12: Private, 32: CountMin,
                       33: CountSketch,
                       34: Tally, 36: SignedTally, 48: Distinct}.get(self.kind, Bits)(*parts[0])

    def check_key(self):
        if self.hash != 2 and self.key is not None:
            raise WrongKey("not keyed")
        if self.hash == 2 and self.key is None:
            raise WrongKey("keyed")
        if self.hash == 2:
            lo, hi = siphash128(self.key, b"Tamis key id")
            if struct.pack("<QQ", lo, hi) != self.key_id:
                raise WrongKey("another key")

    def hash_of(self, key):
        if self.hash == 3:  # the key is the caller's hash itself: lo, hi
            return struct.unpack("<QQ", key)
        if self.hash == 2:
            return siphash128(self.key, key)
        digest = xxhash.xxh3_128_intdigest(key, self.seed)
        return digest & MASK, digest >> 64

    def takes(self, key):
        """Whether the key has the length that the encoding states; callers hash unseen."""
        return self.hash == 3 or self.key_width in (0, len(key))

    def count_of(self, key):
        return self.filter.count(*self.hash_of(key))

    def value_of(self, key):
        """What a sealed map has for the key, or None if the key is not in the set."""
        return self.filter.value(*self.hash_of(key))

    def may_contain(self, key):
        return not self.takes(key) or self.filter.has(*self.hash_of(key))


def main(arguments):
    from reader_packed import PACKED_MAGIC, unpack
    with open(arguments[0], "rb") as file:
        data = file.read()
        image = Image(unpack(data) if data[:8] == PACKED_MAGIC else data,
                      bytes.fromhex(arguments[1]) if len(arguments) > 1 else None)
    print("%s, %d sections, %d items (planned %d at %.3g), keys %s" % (
        KINDS[image.kind], image.count, image.items, image.planned_items, image.planned_rate,
        ENCODINGS.get(image.encoding, "unknown")))


if __name__ == "__main__":
    main(sys.argv[1:])
