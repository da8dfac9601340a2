"""libtamis.so exports exactly the functions that include/tamis/*.h declares, each with the version
that src/exports.map states: the headers, the map and the library are compared with each other, and
the map is given to the linkers of gcc and clang, which refuse names that the library lacks. A
program that is linked with the library requires the versions that it uses.

The test first tests itself: what is missing or surplus in one of the three must be reported.

TAMIS_SOURCE is the tree, and TAMIS_BUILD a build of it."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = pathlib.Path(os.environ.get("TAMIS_SOURCE", HERE.parent.parent))
BUILD = pathlib.Path(os.environ.get("TAMIS_BUILD", ROOT / "build"))
MAP = ROOT / "src/exports.map"
FLAGS = os.environ.get("TEST_CFLAGS", "").split()


def run(*words):
    done = subprocess.run([str(word) for word in words], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, f"{words}:\n{done.stdout}"
    return done.stdout


def declared(folder):
    """The functions of the headers."""
    text = "\n".join(path.read_text() for path in sorted(folder.glob("*.h")))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    names = re.findall(r"^TAMIS_API\b[^;(]*?\b(\w+)\(", text, re.M)
    assert len(names) == len(re.findall(r"^TAMIS_API\b", text, re.M)), "a line is not understood"
    return names


def mapped(text):
    """{name: version}, as the map states it."""
    found = {}
    text = re.sub(r"#.*", "", text)
    node = r"(TAMIS_\d+\.\d+) \{\s*global:\s*(.*?)\s*(?:local:\s*\*;\s*)?\}\s*(TAMIS_\d+\.\d+)?;\s*"
    assert re.fullmatch(f"(?:{node})+", text.strip() + "\n", re.S), "the map is not understood"
    versions = []
    for version, names, after in re.findall(node, text, re.S):
        assert (after or None) == (versions[-1] if versions else None), f"{version} follows {after}"
        versions.append(version)
        for name in re.findall(r"(\w+);", names):
            assert name not in found, f"{name} is listed twice"
            found[name] = version
    assert text.count("local:") == 1, "names that are not listed are exported"
    return found


def exported(library):
    """{name: version}, as the library states it."""
    lines = run("nm", "-D", "--defined-only", "--with-symbol-versions", library).splitlines()
    symbols = [line.split()[-2:] for line in lines]
    return dict(re.split("@+", name) for kind, name in symbols if kind != "A")


def complaints(headers, listed, library):
    for name in sorted(set(headers) - set(listed)):
        yield f"{name} is in a header and not in the map"
    for name in sorted(set(listed) - set(headers)):
        yield f"{name} is in the map and in no header"
    for name in sorted(set(listed.items()) ^ set(library.items())):
        yield f"{name[0]}, {name[1]}: the map and libtamis.so differ"


def prove_itself(headers, text, library):
    """Each fault that the comparison is for."""
    listed = mapped(text)
    gone, other = "tamis_add", "tamis_version"
    cases = [
        (headers + ["tamis_new"], listed, library),
        ([name for name in headers if name != gone], listed, library),
        (headers, {name: listed[name] for name in listed if name != gone}, library),
        (headers, {**listed, "tamis_new": "TAMIS_1.0"}, library),
        (headers, listed, {name: library[name] for name in library if name != gone}),
        (headers, listed, {**library, "tamis__add": "TAMIS_1.0"}),
        (headers, {**listed, other: "TAMIS_1.1"}, library),
    ]
    for case in cases:
        assert list(complaints(*case)), case
    later = text + "TAMIS_1.1 {\n    global:\n        tamis_new;\n} TAMIS_1.0;\n"
    assert mapped(later) == {**listed, "tamis_new": "TAMIS_1.1"}
    for bad in (text.replace("local:", "").replace("*;", ""),
                text.replace("tamis_add;", "tamis_add; tamis_add;"),
                later.replace("} TAMIS_1.0;", "};"), text.replace("TAMIS_1.0 {", "{")):
        try:
            mapped(bad)
        except AssertionError:
            continue
        raise AssertionError(f"a map with a fault is accepted:\n{bad[:300]}")


def check_linkers(room, listed):
    """Each linker makes the same library of the same objects, and misses no name of the map."""
    linkers = [("gcc",), ("clang",), ("clang", "-fuse-ld=lld")]
    for linker in linkers:
        if not shutil.which(linker[0]) or (len(linker) > 1 and not shutil.which("ld.lld")):
            print(f"{' '.join(linker)} is not installed")
            continue
        library = room / "libtamis.so"
        run(*linker, "-shared", f"-Wl,--version-script={MAP}", "-Wl,--no-undefined-version",
            "-Wl,-z,defs", "-Wl,--whole-archive", BUILD / "libtamis.a", "-Wl,--no-whole-archive",
            "-o", library, "-lm", "-pthread")
        assert exported(library) == listed, linker


def check_program(room):
    """A program requires the version of the functions that it calls, and so fails when it starts
    with a library that lacks them, and not when it calls them."""
    (room / "main.c").write_text("#include <tamis/tamis.h>\n"
                                 "int main(void) { return tamis_version()[0] == 0; }\n")
    run(os.environ.get("CC", "cc"), *FLAGS, f"-I{ROOT}/include", room / "main.c", "-o",
        room / "main", f"-L{BUILD}", "-ltamis", f"-Wl,-rpath,{BUILD}")
    run(room / "main")
    needs = run("objdump", "-p", room / "main")
    wanted = r"required from libtamis\.so\.1:\n\s+0x\w+ 0x00 \d+ TAMIS_1\.0\n"
    assert re.search(wanted, needs), needs
    # With a library that lacks a version, here that of a function which 1.1 might add.
    (room / "new.c").write_text("int tamis_new(void); int tamis_new(void) { return 0; }\n")
    (room / "new.map").write_text("TAMIS_1.1 { global: tamis_new; local: *; };\n")
    (room / "uses.c").write_text("int tamis_new(void); int main(void) { return tamis_new(); }\n")
    newer = room / "newer/libtamis.so.1"
    newer.parent.mkdir()
    run("gcc", "-shared", "-fPIC", room / "new.c", f"-Wl,--version-script={room}/new.map",
        "-Wl,-soname,libtamis.so.1", "-o", newer)
    run("gcc", room / "uses.c", newer, "-o", room / "uses")
    for library, status in ((newer.parent, 0), (BUILD, 1)):
        done = subprocess.run([str(room / "uses")], text=True, capture_output=True, check=False,
                              env={**os.environ, "LD_LIBRARY_PATH": str(library)})
        assert done.returncode == status, (library, done)
    assert "version `TAMIS_1.1' not found" in done.stderr, done.stderr


def main():
    headers, text = declared(ROOT / "include/tamis"), MAP.read_text()
    listed, library = mapped(text), exported(BUILD / "libtamis.so")
    prove_itself(headers, text, library)
    found = list(complaints(headers, listed, library))
    for line in found:
        print(line)
    with tempfile.TemporaryDirectory() as name:
        if "-fsanitize" not in " ".join(FLAGS):  # whose objects need the library of a sanitizer
            check_linkers(pathlib.Path(name), listed)
        check_program(pathlib.Path(name))
    if not found:
        print(f"{len(listed)} functions in the headers, the map and the library")
    return 1 if found else 0


sys.exit(main())
