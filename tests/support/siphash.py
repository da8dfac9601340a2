"""SipHash for the second reader."""
import struct

MASK = 2**64 - 1


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
