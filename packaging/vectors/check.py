#!/usr/bin/python3
"""The first steps of a test: every answer of two files, here by the reader in reader/, for whose
`Image` you put your own. Needs python3-xxhash.

    python3 check.py"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "reader"))
sys.dont_write_bytecode = True
from reader import Image  # noqa: E402
from reader_packed import PACKED_MAGIC, unpack  # noqa: E402


def open_image(name, key):
    data = (HERE / "golden" / name).read_bytes()
    return Image(unpack(data) if data[:8] == PACKED_MAGIC else data, key)


def main():
    answers, wrong, image = 0, 0, None
    for file in ("answers.txt", "more-answers.txt"):
        for line in (HERE / "golden" / file).read_text().splitlines():
            word, *rest = line.split()
            if word == "image":
                image = open_image(rest[0], bytes.fromhex(rest[1]) if len(rest) > 1 else None)
                continue
            key = b"" if rest[0] == "-" else bytes.fromhex(rest[0])
            answers += 1
            if image.may_contain(key) != (rest[1] == "1"):
                wrong += 1
                print(f"wrong: {line}")
    print(f"{answers:,} answers, {wrong} of them wrong")
    return wrong != 0


sys.exit(main())
