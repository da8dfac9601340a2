"""The second reader over all golden images: the same answers as the first, and the same eye for
damage.

Also the other way round: the images that tests/support/reader.py accepts are the ones
docs/FORMAT.md describes, so a golden it refuses means that the page and the library have parted.
"""
import os
import struct
import sys

import xxhash

sys.dont_write_bytecode = True  # leaves the source tree as it was
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from reader_distinct import build, estimate
from reader import Damaged, Image, Newer, WrongKey
from reader_packed import unpack
from reader_signed import Manifest, PublicKey, SecretKey, Wrong, verify_file

GOLDEN = os.path.join(os.environ.get("TAMIS_SOURCE", "."), "tests", "golden")
passed, failed = 0, 0


def check(condition, what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("not true: " + what)


def read_golden(name):
    with open(os.path.join(GOLDEN, name), "rb") as file:
        return file.read()


def read_answers(file):
    """name -> (secret key or None, [(was added, key, answer)])"""
    images = {}
    for line in read_golden(file).decode().splitlines():
        word, *rest = line.split()
        if word == "image":
            rows = []
            images[rest[0]] = (bytes.fromhex(rest[1]) if len(rest) > 1 else None, rows)
        else:
            key = b"" if rest[0] == "-" else bytes.fromhex(rest[0])
            rows.append((word == "in", key, rest[1] == "1"))
    return images


def refused(data, key):
    try:
        Image(data, key)
        return False
    except (Damaged, Newer, WrongKey):
        return True


def check_answers(name, key, rows):
    image = Image(read_golden(name), key)
    wrong = [k.hex() for _, k, answer in rows if image.may_contain(k) != answer]
    check(not wrong, "%s answers as before, also for %s" % (name, wrong))
    misses = image.kind == 12
    check(all(answer for added, _, answer in rows if added) != misses,
          "%s has no wrong no, but as a release" % name)
    check(len(rows) == 128, "%s has 128 answers" % name)


def check_counts(keys):
    """counts.txt: keys of each image and the upper bounds of their counts."""
    image, rows = None, 0
    for line in read_golden("counts.txt").decode().splitlines():
        word, value = line.split()
        if word == "image":
            image = Image(read_golden(value), keys[value])
            continue
        key = b"" if word == "-" else bytes.fromhex(word)
        check(image.count_of(key) == int(value), "%d is the count of %s" % (int(value), word))
        rows += 1
    check(rows > 0 and rows % 128 == 0, "there are counts")


def check_values(images):
    """values.txt: keys of each sealed map, and their values. A member has its value, which follows
    from its number, in every map; keys that are collected have theirs."""
    image, rows, names = None, 0, []
    for line in read_golden("values.txt").decode().splitlines():
        word, value = line.split()
        if word == "image":
            names.append(value)
            image = Image(read_golden(value), images[value][0])
            continue
        key = b"" if word == "-" else bytes.fromhex(word)
        found = image.value_of(key)
        check(found == (None if value == "-" else int(value)),
              "%s is the value of %s" % (value, word))
        check((found is not None) == image.may_contain(key), "%s is in, or not" % word)
        rows += 1
    check(len(names) >= 5 and rows == 128 * len(names), "there are values")
    check(names == [n for n in images if Image(read_golden(n), images[n][0]).kind == 13
                    and n != "map-collecting.tamis"], "of every map")
    key, answers = images["map-collecting.tamis"]
    image = Image(read_golden("map-collecting.tamis"), key)
    hashes = [image.hash_of(k) for added, k, _ in answers if added]
    check([p for p, _ in image.filter.pairs[:64]] == [(lo >> 32, hi) for lo, hi in hashes],
          "a collection has its keys in order")
    check(len({v for _, v in image.filter.pairs}) > 60, "a collection has values")


def check_texts(images):
    """The texts in the images of a top are beginnings of the keys that have their hash."""
    found = 0
    for name, (key, rows) in images.items():
        image = Image(read_golden(name), key)
        if image.kind != 35:
            continue
        texts = [(k, image.filter.text(*image.hash_of(k))) for _, k, _ in rows]
        check(all(k.startswith(text) for k, text in texts if text is not None),
              "%s has texts of its keys" % name)
        found += sum(text is not None for _, text in texts)
    check(found > 10, "there are texts")


def check_more_answers():
    """more-answers.txt: false positives of each image, and answers of packed files."""
    images = read_answers("more-answers.txt")
    kinds = set()
    for name, (key, rows) in images.items():
        data = read_golden(name)
        image = Image(unpack(data) if name.endswith(".packed") else data, key)
        wrong = [k.hex() for _, k, answer in rows if image.may_contain(k) != answer]
        check(not wrong, "%s answers as before, also for %s" % (name, wrong))
        if any(answer and not added for added, _, answer in rows):
            kinds.add(image.kind)
    check(set(range(1, 14)) <= kinds, "each kind of filter has false positives")


def check_lists(keys):
    """lists.txt: hash, text, length, count and lower bound of each item that a top lists."""
    lists = {}
    for line in read_golden("lists.txt").decode().splitlines():
        word, *rest = line.split()
        if word == "image":
            listed = lists[rest[0]] = {}
        else:
            text = {"-": b"", "?": None}[rest[0]] if rest[0] in "-?" else bytes.fromhex(rest[0])
            listed[int(word, 16)] = (text, *map(int, rest[2:]))
    check(len(lists) == 3, "there are lists")
    for name, listed in lists.items():
        top = Image(read_golden(name), keys[name]).filter
        found = {p: (top.items.get(p), count, count - error)
                 for p, (count, error, _, _) in top.found.items()}
        check(found == listed, "%s lists what lists.txt has" % name)


def read_distinct():
    """distinct.txt: name -> [number of distinct keys, lower bound, upper bound]"""
    words = read_golden("distinct.txt").decode().split()
    return {words[i + 1]: [float(w) for w in words[i + 2:i + 5]] for i in range(0, len(words), 5)}


def check_distinct(images):
    """The sections of distinct sketches follow from their keys, and the numbers from the
    sections. The first half of the keys is in the second generation of a window."""
    numbers, built = read_distinct(), 0
    check(len(numbers) >= 9, "there are distinct sketches")
    for name, (value, low, high) in numbers.items():
        key, rows = images[name]
        image = Image(read_golden(name), key)
        window = image.kind == 7
        sections = image.filter.generations if window else [image.filter]
        check(abs(estimate(sections) / value - 1 if value else estimate(sections)) < 1e-7,
              "%s has %s keys, not %s" % (name, value, estimate(sections)))
        check(low <= value <= high, "%s has an interval" % name)
        hashes = [image.hash_of(k) for added, k, _ in rows if added]
        if value > 100:  # answers.txt does not have all its keys
            continue
        groups = [hashes[32:], hashes[:32], []][:len(sections)] if window else [hashes]
        for part, group, entry in zip(sections, groups, image.sections):
            cells, variant = build(part.p, group, window)
            check(variant == part.variant and cells == image.data[entry[10]:entry[10] + entry[11]],
                  "%s has the bytes of its keys" % name)
            built += 1
    check(built >= 11, "sections are built from keys")


def check_damage(name, key):
    data = read_golden(name)
    # The big one is sampled; test_golden.c does all of it.
    stride = 1 if len(data) < 1024 else 251
    lengths = range(0, len(data), stride)
    check(all(refused(data[:n], key) for n in lengths), "%s notices truncation" % name)
    check(refused(data + b"\0", key) and refused(data + data, key), "%s notices extension" % name)
    missed = []
    for bit in [*range(0, min(len(data), 256) * 8), *range(2048, len(data) * 8, stride * 8 + 1)]:
        mutant = bytearray(data)
        mutant[bit // 8] ^= 1 << bit % 8
        if not refused(bytes(mutant), key):
            missed.append(bit)
    check(not missed, "%s notices flipped bits, also %s" % (name, missed[:5]))


def stating(image, encoding, width):
    """The same image with another encoding and width of its keys, and with the right root."""
    data = bytearray(image.data)
    data[25:28] = struct.pack("<BH", encoding, width)
    data[120:128] = bytes(8)
    data[120:128] = struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(data[:image.metadata])))
    return bytes(data)


def check_encodings(images):
    """Keys of another length get a maybe. Only the widths of FORMAT.md are accepted."""
    found = set()
    for name, (key, rows) in images.items():
        image = Image(read_golden(name), key)
        found.add(image.encoding)
        if image.key_width == 0:
            continue
        check(all(len(k) == image.key_width for _, k, _ in rows), "%s has such keys" % name)
        check(all(image.may_contain(bytes(n)) for n in range(300) if n != image.key_width),
              "%s answers maybe to others" % name)
    check(found == set(range(6)), "there is an image of every encoding")
    plain = Image(read_golden("blocked.tamis"))
    for encoding in range(256):
        for width in (0, 1, 8, 65535):
            right = encoding > 5 or (width != 0) == (encoding == 3)
            check(refused(stating(plain, encoding, width), None) != right,
                  "encoding %d with width %d" % (encoding, width))


def not_unpacked(data):
    try:
        unpack(data)
        return False
    except (Damaged, Newer):
        return True


def check_packed(name):
    data = read_golden(name)
    image = unpack(data)  # whose sums vouch for every bit
    check(len(image) > 200, "%s unpacks" % name)
    lengths = range(0, len(data), 1 if len(data) < 1024 else 37)
    check(all(not_unpacked(data[:n]) for n in lengths), "%s notices truncation" % name)
    check(not_unpacked(data + b"\0") and not_unpacked(data + data), "%s notices extension" % name)
    missed = []
    for bit in range(0, len(data) * 8, 1 if len(data) < 1024 else 37):
        mutant = bytearray(data)
        mutant[bit // 8] ^= 1 << bit % 8
        if not not_unpacked(bytes(mutant)):
            missed.append(bit)
    check(not missed, "%s notices flipped bits, also %s" % (name, missed[:5]))
    check(refused(data, None), "%s is not an image" % name)


def wrong(call, *words):
    try:
        call(*words)
        return False
    except Wrong:
        return True


def check_signed():
    """Keys, detached signatures and a manifest, made by the command and by signify."""
    def read(name):
        return read_golden(os.path.join("signed", name))
    for pair in (("test.sec", "test.sec.pub"), ("next.sec", "next.sec.pub"),
                 ("signify.sec", "signify.pub")):
        secret, public = SecretKey(read(pair[0])), PublicKey(read(pair[1]))
        check(secret.number == public.number, "%s and %s are a pair" % pair)
        check(not wrong(public.verify, secret.sign(b"message"), b"message"), "%s signs" % pair[0])
    check(wrong(SecretKey, read("locked.sec")), "a key with a passphrase is refused")
    for key, name in (("test.sec.pub", "blocked.tamis"), ("signify.pub", "by-signify.tamis")):
        public, data, text = read(key), read(name), read(name + ".sig")
        check(not wrong(verify_file, public, data, text), "%s is signed" % name)
        check(wrong(verify_file, read("next.sec.pub"), data, text), "%s: by its key alone" % name)
        check(wrong(verify_file, public, data + b"\0", text), "%s: and nothing else" % name)
        check(all(wrong(verify_file, public, data, text[:n]) for n in range(len(text))),
              "%s: no part of a signature is one" % name)
        Image(data, None)
    manifest = Manifest(read("manifest"))
    check(manifest.bytes() == read("manifest"), "the manifest is written as it was")
    for key in ("test.sec.pub", "next.sec.pub"):
        check(not wrong(manifest.verify, read(key)), "%s has signed the manifest" % key)
    check(wrong(manifest.verify, read("signify.pub")), "the manifest is not signed by signify")
    check(wrong(manifest.set("version", 2).verify, read("test.sec.pub")), "it cannot be changed")


def main():
    check_signed()
    images = read_answers("answers.txt")
    packed = sorted(n for n in os.listdir(GOLDEN) if n.endswith(".packed"))
    check(len(packed) >= 4, "there are packed files")
    for name in packed:
        check_packed(name)
    on_disk = sorted(n for n in os.listdir(GOLDEN) if n.endswith(".tamis"))
    check(on_disk == sorted(images), "answers.txt knows every image and no other")
    keys = {name: key for name, (key, _) in images.items()}
    check_counts(keys)
    check_lists(keys)
    check_values(images)
    check_more_answers()
    check_texts(images)
    check_encodings(images)
    check_distinct(images)
    for name, (key, rows) in images.items():
        check_answers(name, key, rows)
        check_damage(name, key)
        if key is not None:
            check(refused(read_golden(name), None), "%s needs its key" % name)
            check(refused(read_golden(name), bytes(16)), "%s refuses another key" % name)
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0 or passed == 0


sys.exit(main())
