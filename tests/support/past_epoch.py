"""past_epoch.py N FILE: sets the epoch of a window back by N, as if N periods had passed since it
was saved. A negative N is as if the clock had been set back."""
import struct
import sys

import xxhash

from reader import Image

data = bytearray(open(sys.argv[2], "rb").read())
image = Image(bytes(data))
struct.pack_into("<Q", data, 80, image.epoch - int(sys.argv[1]))
data[120:128] = bytes(8)
root = xxhash.xxh3_64_intdigest(bytes(data[:image.metadata]))
struct.pack_into("<Q", data, 120, root)
Image(bytes(data))
with open(sys.argv[2], "wb") as file:
    file.write(data)
