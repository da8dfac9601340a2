"""Files of other versions, before and after this one.

* tests/abi/golden.txt lists the files of tests/golden that releases have promised to open, with
  their sums. None may change or disappear; text files may only grow. The other tests of these files
  (test_golden.c, test_reader.py and others) check that they open and what they answer.
* What a later version may write is simulated: golden files with versions, flags, hashes, kinds,
  roles, variants, sections and encodings that this version does not know. It refuses them with a
  reason, or reads them and does not change them, or ignores what it may ignore, as docs/FORMAT.md
  says.
* What this version writes for the commands of 1.0, 1.0 opens: no image has a version, flag, kind,
  role or variant that 1.0 does not know.

    tests/abi/test_images.py --add    adds new golden files to the list

TAMIS is the command, and TAMIS_SOURCE the tree."""
import hashlib
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import xxhash

ROOT = pathlib.Path(os.environ.get("TAMIS_SOURCE", pathlib.Path(__file__).parent.parent.parent))
TAMIS = os.environ.get("TAMIS", str(ROOT / "build/tamis"))
GOLDEN = ROOT / "tests/golden"
LIST = ROOT / "tests/abi/golden.txt"
GROWING = (".txt", ".answers")  # lines may be added to these
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
from reader import Image, Newer  # noqa: E402

# What 1.0 knows. A later version that adds something does not change this, and writes it only if
# it is asked to.
KINDS = {*range(1, 14), *range(32, 37), 48}
ROLES = range(1, 9)
VARIANTS = {3: 1, 4: 1, 6: 10, 9: 18, 10: 2, 11: 2, 13: 2, 32: 1, 48: 1}
ENCODINGS = range(6)
READ_ONLY, IGNORE = 1 | 2 | 4 | 8 | 16, 1 | 2

READ, WRITE, REFUSE, CHANGE, MAY, HASH, KIND, ENCODING = 8, 10, 16, 20, 24, 28, 30, 25
ENTRY = 128
# (what, [(offset, width, value)], words of the reason)
REFUSED = [
    ("a format for newer readers", [(READ, 2, 2), (WRITE, 2, 2)], "requires a reader of format 2"),
    ("a feature", [(REFUSE, 4, 1)], "a feature of a newer version"),
    ("the last feature", [(REFUSE, 4, 1 << 31)], "a feature of a newer version"),
    ("a hash", [(HASH, 2, 4)], "hash function 4 is of a newer version"),
    ("a kind", [(KIND, 2, 99)], "kind 99 is of a newer version"),
    ("a kind of section", [(ENTRY + 2, 2, 99)], "kind 99 is of a newer version"),
    ("a role", [(ENTRY, 2, 200)], "role 200, variant 0 is of a newer version"),
    ("a variant", [(ENTRY + 4, 2, 99)], "variant 99 is of a newer version"),
]
READ_NOT_CHANGED = [("a format for newer writers", [(WRITE, 2, 2)]),
                    ("a flag", [(CHANGE, 4, 32)]), ("the last flag", [(CHANGE, 4, 1 << 31)])]
IGNORED = [("a flag", [(MAY, 1, 4)]), ("the last flag", [(MAY, 1, 128)])]


def run(*words, given="", status=0):
    done = subprocess.run([TAMIS, *map(str, words)], input=given.encode(), check=False,
                          capture_output=True)
    assert done.returncode == status, f"{words}: status {done.returncode}\n{done.stderr.decode()}"
    return done.stdout.decode() if status < 2 else done.stderr.decode()


# --- Files of earlier versions ------------------------------------------------------------------

def golden_files():
    return {str(path.relative_to(GOLDEN)): path for path in sorted(GOLDEN.rglob("*"))
            if path.is_file() and path.name != "make.sh"}


def faults(lines, files):
    """What is wrong with the files, by the list."""
    listed = set()
    for line in lines:
        _, size, digest, name = line.split(" ", 3)
        listed.add(name)
        data = files[name].read_bytes() if name in files else b""
        if name not in files:
            yield f"{name} is gone"
        elif hashlib.sha256(data[:int(size)]).hexdigest() != digest:
            yield f"{name} has changed"
        elif len(data) != int(size) and not name.endswith(GROWING):
            yield f"{name} has grown"
    for name in sorted(set(files) - listed):
        yield f"{name} is not in {LIST.name}: run {pathlib.Path(__file__).name} --add"


def line_of(version, name, path):
    data = path.read_bytes()
    return f"{version} {len(data)} {hashlib.sha256(data).hexdigest()} {name}"


def add():
    header = (ROOT / "include/tamis/tamis.h").read_text()
    version = ".".join(re.search(rf"TAMIS_VERSION_{part} (\d+)", header)[1]
                       for part in ("MAJOR", "MINOR"))
    lines = LIST.read_text().splitlines() if LIST.exists() else []
    listed = {line.split(" ", 3)[3] for line in lines}
    lines += [line_of(version, name, path) for name, path in golden_files().items()
              if name not in listed]
    LIST.write_text("".join(f"{line}\n" for line in lines))


def check_golden(room):
    files, lines = golden_files(), LIST.read_text().splitlines()
    found = list(faults(lines, files))
    assert not found, "\n".join(found)
    # The list finds what it is for.
    image, answers = files["bloom.tamis"], files["answers.txt"]
    for name, data, is_fault in (("bloom.tamis", image.read_bytes()[:-1] + b"x", True),
                                 ("bloom.tamis", image.read_bytes() + b"x", True),
                                 ("bloom.tamis", b"", True),
                                 ("answers.txt", answers.read_bytes() + b"image x\n", False),
                                 ("answers.txt", b"#" + answers.read_bytes(), True),
                                 ("new.tamis", b"", True)):
        (room / "file").write_bytes(data)
        assert bool(list(faults(lines, {**files, name: room / "file"}))) == is_fault, name
    assert list(faults(lines, {k: v for k, v in files.items() if k != "tally.tamis"}))


# --- Files of later versions --------------------------------------------------------------------

def resummed(data):
    """With the root of its metadata."""
    sections = struct.unpack_from("<I", data, 104)[0]
    lengths = [struct.unpack_from("<Q", data, ENTRY + 64 * i + 56)[0] for i in range(sections)]
    meta = ENTRY + 64 * sections + 8 * sum(-(-length // 65536) for length in lengths)
    data = bytearray(data)
    struct.pack_into("<Q", data, 120, 0)
    struct.pack_into("<Q", data, 120, xxhash.xxh3_64_intdigest(bytes(data[:meta])))
    return bytes(data)


def changed(data, edits):
    data = bytearray(data)
    for offset, width, value in edits:
        data[offset:offset + width] = value.to_bytes(width, "little")
    return resummed(data)


def with_a_section(data):
    """A bloom image of one section and one sum, with a section of an unknown role behind it."""
    assert struct.unpack_from("<I", data, 104)[0] == 1 and len(data) < 65536
    old = struct.unpack_from("<HHHHIIQQQQQQ", data, ENTRY)
    start, length = old[-2:]
    extra, meta = b"\1" * 64, ENTRY + 2 * 64 + 2 * 8
    first = -(-meta // 64) * 64
    second = -(-(first + length) // 64) * 64
    out = bytearray(second + len(extra))
    out[:ENTRY] = data[:ENTRY]
    struct.pack_into("<HHHHIIQQQQQQ", out, ENTRY, *old[:-2], first, length)
    struct.pack_into("<HHHHIIQQQQQQ", out, ENTRY + 64, 200, *old[1:-2], second, len(extra))
    struct.pack_into("<QQ", out, ENTRY + 128,
                     xxhash.xxh3_64_intdigest(data[start:start + length]),
                     xxhash.xxh3_64_intdigest(extra))
    out[first:first + length] = data[start:start + length]
    out[second:] = extra
    struct.pack_into("<I", out, 104, 2)
    struct.pack_into("<Q", out, 112, len(out))
    return resummed(out)


def check_refused(path, data, words, what):
    """By every command that could read or change it, which leaves it as it is."""
    path.write_bytes(data)
    out = path.with_suffix(".out")
    for command in (("check", path), ("info", path), ("add", path), ("verify", path),
                    ("merge", "-o", out, path), ("convert", "--to", "pair", "-o", out, path),
                    ("pack", "-o", out, path)):
        said = run(*command, given="a\n", status=2)
        assert command[0] == "convert" or words in said, f"{what}: {command}: {said}"
        assert path.read_bytes() == data and not out.exists(), f"{what}: {command}"
    try:
        Image(data, None)
    except Newer:
        return
    raise AssertionError(f"the second reader accepts {what}")


def check_newer(room):
    data, path = (GOLDEN / "bloom.tamis").read_bytes(), room / "newer.tamis"
    keys = "".join(f"{i}\n" for i in range(500))
    path.write_bytes(data)
    assert resummed(data) == data
    answers = run("check", path, given=keys)
    for what, edits, words in REFUSED:
        check_refused(path, changed(data, edits), words, what)
    check_refused(path, with_a_section(data), "role 200, variant 0 is of a newer version",
                  "a section")
    for what, edits in READ_NOT_CHANGED:
        newer = changed(data, edits)
        path.write_bytes(newer)
        assert run("check", path, given=keys) == answers and run("info", path), what
        said = run("add", path, given="a key\n", status=2)
        assert "newer version of Tamis" in said and path.read_bytes() == newer, (what, said)
    for what, edits in IGNORED:
        path.write_bytes(changed(data, edits))
        assert run("check", path, given=keys) == answers, what
        run("add", path, given="a key\n")
        assert path.read_bytes()[MAY] & ~IGNORE == 0, f"{what}: is kept"
    path.write_bytes(changed(data, [(ENCODING, 1, 9), (ENCODING + 1, 2, 77)]))
    assert '"encoding": "of a newer version"' in run("info", "--json", path)
    assert "by a newer version of Tamis" in run("check", path, given=keys, status=2)
    packed = bytearray((GOLDEN / "window.packed").read_bytes())
    packed[8] = 2
    packed[-8:] = xxhash.xxh3_64_intdigest(bytes(packed[:-8])).to_bytes(8, "little")
    path.write_bytes(packed)
    assert "packed in format 2" in run("unpack", "-o", room / "x", path, status=2)


# --- Files of this version ----------------------------------------------------------------------

def is_of_1_0(data):
    read, write, _, refuse, change, may = struct.unpack_from("<HHIIII", data, 8)
    kind, sections = struct.unpack_from("<H", data, KIND)[0], struct.unpack_from("<I", data, 104)[0]
    entries = [struct.unpack_from("<HHH", data, ENTRY + 64 * i) for i in range(sections)]
    return ((read, write, refuse) == (1, 1, 0) and not change & ~READ_ONLY and
            not may & 255 & ~IGNORE and may >> 8 & 255 in ENCODINGS and kind in KINDS and
            all(inner in KINDS and role in ROLES and variant <= VARIANTS.get(inner, 0)
                for role, inner, variant in entries))


def check_written(room):
    data = (GOLDEN / "bloom.tamis").read_bytes()
    for _, edits, *_ in REFUSED + READ_NOT_CHANGED + IGNORED:
        assert is_of_1_0(data) == (edits[0][0] == HASH or not is_of_1_0(changed(data, edits)))
    lines, out = "".join(f"{i}\t{i % 7}\n" for i in range(20000)), room / "out.tamis"
    (room / "never").write_text("x\n")
    for words in ([["build", "--kind", kind] for kind in
                   "bloom partitioned blocked counting pair growing window cuckoo fuse "
                   "ribbon".split()] +
                  [["build"], ["build", "--compact"], ["build", "--strict"],
                   ["build", "--removable"],
                   ["build", "--encoding", "int64le", "--field", "1"],
                   ["build", "--kind", "exact", "--never", room / "never"],
                   ["build", "--kind", "map", "--field", "1", "--value-field", "2"]] +
                  [["count", "-q", "--kind", kind] for kind in
                   "count-min count-sketch tally top signed-tally".split()] +
                  [["count", "-q", "--kind", "window"], ["distinct", "-q"]]):
        run(*words, "-f", "-o", out, given=lines)
        assert is_of_1_0(out.read_bytes()), words
    run("build", "-f", "--kind", "bloom", "--k", "1", "-o", out, given=lines)
    run("release", "--epsilon", "3", "-o", room / "private.tamis", out)
    assert is_of_1_0((room / "private.tamis").read_bytes())


def main():
    if sys.argv[1:] == ["--add"]:
        add()
        return
    with tempfile.TemporaryDirectory() as name:
        check_golden(pathlib.Path(name))
        check_newer(pathlib.Path(name))
        check_written(pathlib.Path(name))
    print("files of earlier and later versions are treated as promised")


main()
