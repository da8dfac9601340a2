"""The second reader of packed files, written from the same page, docs/FORMAT.md."""
import struct

import xxhash

from reader import CHUNK, Image, Newer, need

PACKED_MAGIC = b"\x89TAMPK\r\n"


def unpack_frame(data, at, n):
    """The n bytes of the frame that begins at data[at], and where the next one begins."""
    need(at < len(data), "a frame's first byte")
    r, at = data[at], at + 1
    if r == 255:
        need(at + n <= len(data), "a stored frame")
        return data[at:at + n], at + n
    need(r <= 19, "r")
    bits, bit, from_, out = 8 * n, 0, 8 * at, bytearray(n)

    def take():
        nonlocal from_
        need(from_ < 8 * len(data), "end of a code")
        from_ += 1
        return data[from_ - 1 >> 3] >> (from_ - 1 & 7) & 1

    while True:
        gap = 0
        while not take():
            gap += 1 << r
            need(bit + gap <= bits, "a gap beyond the frame")
        gap += sum(take() << i for i in range(r))
        bit += gap
        need(bit <= bits, "a gap beyond the frame")
        if bit == bits:
            break
        out[bit >> 3] |= 1 << (bit & 7)
        bit += 1
    while from_ % 8:
        need(not take(), "the rest of a code's last byte")
    return bytes(out), from_ // 8


def unpack(data):
    """The image in a packed file."""
    need(len(data) >= 40 and data[:8] == PACKED_MAGIC, "start of a packed file")
    version, zero, total, metadata = struct.unpack_from("<H6sQQ", data, 8)
    need(version >= 1, "packed version")
    if version > 1:
        raise Newer("packed version %d" % version)
    (expected,) = struct.unpack_from("<Q", data, len(data) - 8)
    data = data[:-8]
    need(xxhash.xxh3_64_intdigest(data) == expected, "sum of a packed file")
    need(zero == bytes(6), "zero field")
    need(metadata <= total and metadata <= len(data) - 32, "length of the metadata")
    need(4 * ((total - metadata) // CHUNK) <= len(data) - 32 - metadata, "room for the frames")
    parts, at, left = [data[32:32 + metadata]], 32 + metadata, total - metadata
    while left > 0:
        frame, at = unpack_frame(data, at, min(left, CHUNK))
        parts.append(frame)
        left -= len(frame)
    need(at == len(data), "end of the last frame")
    image = b"".join(parts)
    need(Image(image, check_key=False).metadata == metadata, "length of the metadata")
    return image
