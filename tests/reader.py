"""A second reader of Tamis images, written from docs/FORMAT.md alone and sharing no code with src/.

Slow and plain on purpose: it is there to disagree. Needs the Debian package python3-xxhash.

    /usr/bin/python3 tests/reader.py IMAGE [KEY_IN_HEX]     prints what the header says
"""
import struct
import sys

import xxhash

MASK = 2**64 - 1
MULTIPLIER = 2862933555777941757
CHUNK = 65536
KINDS = {1: "bloom", 2: "partitioned", 3: "blocked"}
HEADER = struct.Struct("<8sHHIIIIHHQ16sQQd16sQIIQQ")
ENTRY = struct.Struct("<HHHHIIQ24sQQ")


class Damaged(Exception):
    """The bytes break a rule of the format."""


class Newer(Exception):
    """A format, feature, kind or hash this reader does not know."""


class WrongKey(Exception):
    """Keyed, and the key was not given or is another one."""


def need(condition, rule):
    if not condition:
        raise Damaged(rule)


def siphash128(key, message):
    """SipHash-2-4 with 16 bytes of output (Aumasson, Bernstein 2012)."""
    k0, k1 = struct.unpack("<QQ", key)
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def rotate(x, by):
        return (x << by | x >> (64 - by)) & MASK

    def rounds(n):
        nonlocal v0, v1, v2, v3
        for _ in range(n):
            v0, v2 = (v0 + v1) & MASK, (v2 + v3) & MASK
            v1, v3 = rotate(v1, 13) ^ v0, rotate(v3, 16) ^ v2
            v0 = rotate(v0, 32)
            v2, v0 = (v2 + v1) & MASK, (v0 + v3) & MASK
            v1, v3 = rotate(v1, 17) ^ v2, rotate(v3, 21) ^ v0
            v2 = rotate(v2, 32)

    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) % 256])
    for (word,) in struct.iter_unpack("<Q", padded):
        v3 ^= word
        rounds(2)
        v0 ^= word
    v2 ^= 0xEE
    rounds(4)
    lo = v0 ^ v1 ^ v2 ^ v3
    v1 ^= 0xDD
    rounds(4)
    return lo, v0 ^ v1 ^ v2 ^ v3


def aligned(at):
    return (at + 63) // 64 * 64


class Image:
    def __init__(self, data, key=None):
        self.data, self.key = bytes(data), key
        need(len(data) >= 128, "shorter than a header")
        self.read_header()
        self.read_table()
        self.check_sums()
        self.check_header()
        self.check_shape()
        self.check_key()

    def read_header(self):
        (magic, self.read_version, self.write_version, header_length, self.refuse, self.read_only,
         self.ignore, self.hash, self.kind, self.seed, self.key_id, self.items, self.planned_items,
         self.planned_rate, self.zero_16, self.generation, self.count, self.zero_4, self.total,
         self.root) = HEADER.unpack_from(self.data)
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
        lengths = [s[9] for s in self.sections]
        need(all(8 <= n <= self.total for n in lengths), "section length")
        at = self.metadata = 128 + 64 * self.count + sum(8 * -(-n // CHUNK) for n in lengths)
        for s in self.sections:
            zero_4, zero_24, offset, length = s[5], s[7], s[8], s[9]
            need(zero_4 == 0 and zero_24 == bytes(24), "zero fields of a section")
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
        need(self.zero_16 == bytes(16) and self.zero_4 == 0, "zero fields of the header")
        need(self.generation >= 1, "generation")
        self.sealed, self.strict = bool(self.read_only & 1), bool(self.read_only & 2)
        self.changeable = self.write_version == 1 and self.read_only & ~2 == 0

    def check_shape(self):
        need(self.count == 1, "one section")
        role, kind, variant, cell_bits, self.k, _, self.m, _, offset, length = self.sections[0]
        self.compact = kind == 3 and variant == 1
        need((role, kind, variant, cell_bits) == (1, self.kind, int(self.compact), 1), "section of this kind")
        self.bits = self.m * self.k if self.kind == 2 else self.m
        need(1 <= self.m and self.bits <= 2**52, "m")
        most = 16 if self.compact else 64
        need(self.k == 8 if self.kind == 3 and not self.compact else 1 <= self.k <= most, "k")
        need(self.kind != 3 or self.m % 512 == 0, "whole lines")
        need(length == 8 * -(-self.bits // 64), "length of the cells")
        self.cells = int.from_bytes(self.data[offset:], "little")
        need(self.cells >> self.bits == 0, "bits beyond the last")

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

    def cells_of(self, key):
        lo, hi = self.hash_of(key)
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

    def may_contain(self, key):
        return all(self.cells >> cell & 1 for cell in self.cells_of(key))


def main(arguments):
    with open(arguments[0], "rb") as file:
        image = Image(file.read(), bytes.fromhex(arguments[1]) if len(arguments) > 1 else None)
    print("%s, m %d, k %d, %d items (planned %d at %.3g), %.1f %% full" % (
        KINDS[image.kind], image.m, image.k, image.items, image.planned_items, image.planned_rate,
        100 * bin(image.cells).count("1") / image.bits))


if __name__ == "__main__":
    main(sys.argv[1:])
