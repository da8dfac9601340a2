"""abidiff compares the binary interface of the library with that of the last release, which
libtamis.abi describes: the symbols with their versions, and the layout of every type that a public
function takes or returns. test_abi.py compares what a compiler sees; this test compares what was
compiled.

The library is compiled from its sources with -g, as one file. Structs that begin with their size
may get fields behind the last one; nothing else may change, except that functions and enumerators
may be added.

The test first tests itself. Libraries whose functions do nothing are made of the headers with one
change each: breaks must be reported, and growth must not.

./run abi makes a new libtamis.abi. TAMIS_SOURCE is the tree."""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent.parent / "tools"))
sys.dont_write_bytecode = True
import amalgamate  # noqa: E402
import test_abi  # noqa: E402

DUMP = HERE / "libtamis.abi"
MAP = HERE.parent.parent / "src/exports.map"
CC = ["gcc", "-std=c11", "-w", "-g", "-O0", "-fPIC", "-shared", "-fvisibility=hidden",
      "-Wl,-soname,libtamis.so.1"]
# What only test_abi.py can notice is not in this list: names that a compiled program does not
# contain, and enumerators that are flags, for which functions take integers.
BREAKS = [
    ("an enumerator has another value", r"TAMIS_EBUSY = -13", "TAMIS_EBUSY = -12"),
    ("an enumerator is gone", r"TAMIS_ESEALED = -11,", ""),
    ("a field comes before another", r"double miss_rate;", "double news, miss_rate;"),
    ("a field is gone", r"bool read_only;", ""),
    ("a field has another type", r"uint64_t scratch_bytes;", "double scratch_bytes;"),
    ("the last field has another size", r"bool removable;(\s*\} tamis_facts;)",
     r"uint64_t removable;\1"),
    ("fields at the end, and one before", r"bool read_only;(.*?)(\} tamis_facts;)",
     r"uint64_t news; bool read_only;\1uint64_t more; \2"),
    ("a struct without a size has grown", r"uint64_t reserved\[4\];(\s*\} tamis_error;)",
     r"uint64_t reserved[5];\1"),
    ("a function has another argument", r"(tamis_rotate\(tamis \*t), ", r"\1, bool really, "),
    ("a function returns another type", r"\bbool tamis_may_contain\(", "void tamis_may_contain("),
    ("a function is gone", r"\btamis_limit\b", "tamis_restrict"),
    ("a callback has another type", r"\(\*tamis_sink\)\(void \*ctx, ", "(*tamis_sink)("),
]
GROWTH = [
    ("nothing", r"TAMIS_EBUSY = -13", "TAMIS_EBUSY = -13"),
    ("fields at the end", r"bool removable;(\s*\} tamis_facts;)",
     r"bool removable; uint64_t news; bool more;\1"),
    ("an enumerator", r"TAMIS_EBUSY = -13", "TAMIS_EBUSY = -13, TAMIS_ENEW = -14"),
    ("a function", r"^(TAMIS_API const char \*tamis_version)",
     r"TAMIS_API void tamis_new(void);\n\1"),
]


def run(*words, good=(0,)):
    done = subprocess.run([str(word) for word in words], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode in good, f"{words}: status {done.returncode}\n{done.stdout}"
    return done


def library_of(room, header, source, exports):
    (room / "tamis.h").write_text(header)
    (room / "tamis.c").write_text(source)
    run(*CC, f"-I{room}", room / "tamis.c", f"-Wl,--version-script={exports}", "-o",
        room / "libtamis.so", "-lm", "-pthread")
    return room / "libtamis.so"


def whole(room):
    """The library of today."""
    made = amalgamate.Amalgamation()
    return library_of(room, made.public_header(), made.make(), MAP)


def hollow(room, header):
    """A library with the functions of a header, which do nothing."""
    functions = test_abi.functions(header)
    bodies = [f"TAMIS_API {one[:-1]} {{ __builtin_trap(); }}" for one in functions]
    exports = room / "exports.map"
    names = [re.search(r"(tamis_\w+)\(", one)[1] for one in functions]
    exports.write_text("TAMIS_1.0 { global: %s; local: *; };\n" % "; ".join(names))
    return library_of(room, header, "\n".join(['#include "tamis.h"', *bodies, ""]), exports)


def describe(library, dump):
    """Without what differs between machines, and without types that no public header has."""
    run("abidw", "--header-file", library.parent / "tamis.h", "--drop-private-types",
        "--exported-interfaces-only", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
        "--no-parameter-names", "--no-architecture", "--no-elf-needed", "--out-file", dump, library)


def has_only_grown(lines):
    """Whether a struct has got fields behind the last and has not changed otherwise."""
    size = re.fullmatch(r"  type size changed from (\d+) to \d+ \(in bits\)", lines[0])
    places = [re.fullmatch(r"    '.*', at offset (\d+) \(in bits\)", line) for line in lines[2:]]
    return bool(size and re.fullmatch(r"  \d+ data member insertions?:", lines[1]) and places and
                all(place and int(place[1]) >= int(size[1]) for place in places))


def complaints(library, header):
    """What a program that was linked with the library of the dump would not find in this one. The
    options of abidiff that leave out private types are not used, because they leave out changes of
    public ones as well where the dump has no places of declarations."""
    report = run("abidiff", "--leaf-changes-only", "--no-added-syms", "--no-show-locs",
                 "--no-architecture", "--no-default-suppression", DUMP, library, good=(0, 4, 12))
    sized = {name for name, fields in test_abi.structs(header).items() if "struct_size" in fields}
    rest = re.sub(r"^.* changes? summary: .*$|^Leaf .*$", "", report.stdout, flags=re.M)
    rest = re.sub(r"^(Changed leaf types|Removed/Changed/Added \w+) summary: .*$", "", rest,
                  flags=re.M)
    grown = 0
    for name, block in re.findall(r"^'struct (\w+)' changed:\n((?:  .*\n)*)", rest, re.M):
        if name in sized and has_only_grown(block.splitlines()):
            rest = rest.replace(f"'struct {name}' changed:\n{block}", "")
            grown += 1
    assert rest.strip() or grown or report.returncode == 0, report.stdout
    return rest.strip()


def prove_itself(room, header):
    for what, edit, to in BREAKS + GROWTH:
        changed, n = re.subn(edit, to, header, flags=re.M | re.S, count=1)
        assert n == 1, f"no place for: {what}"
        found = complaints(hollow(room, changed), changed)
        if (what, edit, to) in BREAKS:
            assert found, f"not noticed: {what}"
        else:
            assert not found, f"noticed, though programs keep working: {what}:\n{found}"


def main():
    if not shutil.which("abidiff") or not shutil.which("gcc"):
        print("abidiff or gcc is not installed (Debian: abigail-tools)")
        return 77
    if platform.machine() != "x86_64":
        print(f"the description is that of another processor than {platform.machine()}")
        return 77
    with tempfile.TemporaryDirectory() as name:
        room = pathlib.Path(name)
        header = test_abi.without_comments(amalgamate.Amalgamation().public_header())
        library = whole(room)
        found = complaints(library, header) if DUMP.exists() else ""
        print(found or "the binary interface has kept its promises")
        if not found and sys.argv[1:] == ["--dump"]:
            describe(library, DUMP)
        elif not found:
            prove_itself(room, header)
    return 1 if found else 0


if __name__ == "__main__":
    os.environ.pop("CC", None)
    sys.exit(main())
