"""Images that somebody made on purpose, with right checksums. Written from docs/FORMAT.md."""
import struct

import xxhash

HEADER, SECTION, CHUNK = 128, 64, 65536


def resummed(image):
    """The image with the length and checksums of its content, so that a change of it reaches the
    checks behind them. What has no such structure is unchanged."""
    data = bytearray(image)
    if len(data) < HEADER:
        return bytes(data)
    sections, = struct.unpack_from("<I", data, 104)
    struct.pack_into("<Q", data, 112, len(data))
    if sections > (len(data) - HEADER) // SECTION:
        return bytes(data)
    sums = []
    for i in range(sections):
        offset, length = struct.unpack_from("<QQ", data, HEADER + SECTION * i + 48)
        if offset + length > len(data):
            return bytes(data)
        for at in range(offset, offset + length, CHUNK):
            sums.append(xxhash.xxh3_64_intdigest(bytes(data[at:min(at + CHUNK, offset + length)])))
    end = HEADER + SECTION * sections + 8 * len(sums)
    if end > len(data):
        return bytes(data)
    struct.pack_into(f"<{len(sums)}Q", data, end - 8 * len(sums), *sums)
    struct.pack_into("<Q", data, 120, 0)
    struct.pack_into("<Q", data, 120, xxhash.xxh3_64_intdigest(bytes(data[:end])))
    return bytes(data)


def with_words(image, first, second):
    """A bloom filter with all bits set except in two words. Their upper halves are those of the
    secret of XXH3 at these places, so that it multiplies the lower halves by zero; what remains is
    their sum. (The secret is the constant that begins so in the specification of XXH3.)"""
    secret = bytes.fromhex("b8fe6c3923a44bbe7c01812cf721ad1c")
    offset, length = struct.unpack_from("<QQ", image, HEADER + 48)
    assert length > 240
    data = bytearray(image[:offset] + b"\xff" * length + image[offset + length:])
    struct.pack_into("<I4s", data, offset, first, secret[4:8])
    struct.pack_into("<I4s", data, offset + 64, second, secret[12:16])
    return resummed(data)


def twins(empty):
    """Two bloom filters of this shape with the same header and checksums, but other bits."""
    pair = [with_words(empty, 0xffff0000, 0x0000ffff), with_words(empty, 0x0000ffff, 0xffff0000)]
    assert pair[0][:256] == pair[1][:256] and pair[0] != pair[1]
    return pair
