"""Programs that were built with an older header keep working with this library: they need not even
be recompiled.

tamis-baseline.h is the public header as it was, in one file and without its comments. The test
compares the current headers with it: every enumerator has its value, every field its place and
type, every function its type, and only structs that begin with their size have grown. Then it
builds old_program.c with the baseline alone and runs it with libtamis.so.

The test first tests itself: headers with one break each must be reported, and those that only grow
must not.

./run abi makes a new baseline, when a release has made more promises. It refuses to do so if one
that was made is broken; a new major version begins with removing the old baseline.

TAMIS_SOURCE is the tree, and TAMIS_BUILD a build of it."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = pathlib.Path(os.environ.get("TAMIS_SOURCE", HERE.parent.parent))
BUILD = pathlib.Path(os.environ.get("TAMIS_BUILD", ROOT / "build"))
BASELINE = HERE / "tamis-baseline.h"
CC = [os.environ.get("CC", "cc"), "-std=gnu11", "-Wall", "-Wextra", "-Werror",
      *os.environ.get("TEST_CFLAGS", "").split()]
ABOUT = """\
/* The public header with which programs were built that must keep working: see test_abi.py. It is
 * never changed, only replaced. */
/* clang-format off */
"""
# (what is broken, by which edit of the headers of today)
BREAKS = [
    ("an enumerator has another value", r"TAMIS_EBUSY = -13", "TAMIS_EBUSY = -12"),
    ("an enumerator is gone", r"TAMIS_STEADY = 64", "TAMIS_STILL = 64"),
    ("a field comes before another", r"double miss_rate;", "double news, miss_rate;"),
    ("a field is gone", r"bool read_only;", "bool reserved;"),
    ("a field has another type", r"uint64_t scratch_bytes;", "double scratch_bytes;"),
    ("a struct without a size has grown", r"char text\[160\];(.*\n) *uint64_t reserved\[4\];",
     r"char text[160];\1 uint64_t reserved[5];"),
    ("a function has another argument", r"(tamis_rotate\(tamis \*t), ", r"\1, bool really, "),
    ("a function is gone", r"\btamis_limit\b", "tamis_restrict"),
    ("a callback has another type", r"\(\*tamis_sink\)\(void \*ctx, ", "(*tamis_sink)("),
]
GROWTH = [
    ("a field at the end", r"bool removable;([^}]*)\} tamis_facts;",
     r"bool removable; uint64_t news;\1} tamis_facts;"),
    ("an enumerator", r"TAMIS_EBUSY = -13", "TAMIS_EBUSY = -13, TAMIS_ENEW = -14"),
]


def without_comments(text):
    return re.sub(r"\n\s*\n+", "\n", re.sub(r"[ \t]*/\*.*?\*/", "", text, flags=re.S))


def baseline():
    """The headers of today as a baseline."""
    sys.path.insert(0, str(ROOT / "tools"))
    import amalgamate
    return ABOUT + without_comments(amalgamate.Amalgamation().public_header()).lstrip("\n")


def structs(text):
    """{name: [field]}"""
    found = {}
    for name, body in re.findall(r"\bstruct (\w+) \{(.*?)\n?\}", text, re.S):
        fields = []
        for declaration in filter(str.strip, body.split(";")):
            pointer = re.search(r"\(\*(\w+)\)\(", declaration)
            names = [pointer] if pointer else [re.search(r"(\w+)(?:\[\w+\])?\s*$", one)
                                               for one in declaration.split(",")]
            fields += [name[1] for name in names]
        found[name] = fields
    return found


def enumerators(text):
    bodies = re.findall(r"\benum\b[^{;()]*\{(.*?)\}", text, re.S)
    return [name for body in bodies for name in re.findall(r"\b(TAMIS_\w+)\b", body)]


def functions(text):
    return [" ".join(one.split()) for one in re.findall(r"^TAMIS_API ([^;]+;)", text, re.M)]


def probe(text, include):
    """A program that prints values, places and types of all that a header declares, as lines of
    words."""
    out = ["#include <stdio.h>", include,
           "#define TYPE(f) _Generic((f), bool: 1, char *: 2, uint8_t *: 3, uint32_t: 4, int: 5, "
           "uint64_t: 6, \\",
           "    int64_t: 7, double: 8, uint64_t *: 9, default: 10)", "int main(void)", "{"]
    out += [f'    printf("{name} %lld\\n", (long long)({name}));' for name in enumerators(text)]
    for name, fields in structs(text).items():
        out.append(f'    printf("{name} %zu\\n", sizeof(struct {name}));')
        out += [
            f'    printf("{name}.{f} %zu %zu %d\\n", offsetof(struct {name}, {f}), sizeof(((struct '
            f'{name} *)0)->{f}), '
                f'TYPE(((struct {name} *)0)->{f}));' for f in fields]
    return "\n".join(out + ["    return 0;", "}", ""])


def compiled(room, name, source, *flags):
    """(the program, "") or (None, why not)"""
    (room / f"{name}.c").write_text(source)
    done = subprocess.run([*CC, str(room / f"{name}.c"), "-o", str(room / name), *flags],
                          capture_output=True, text=True)
    return (room / name, "") if done.returncode == 0 else (None, done.stderr)


def facts(program):
    lines = subprocess.run([str(program)], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return {line.split()[0]: line.split()[1:] for line in lines}


def complaints(room, old, folder):
    """What a program of the baseline would not find in the headers of a folder."""
    names = sorted(path.name for path in (folder / "tamis").glob("*.h"))
    today = "\n".join(f"#include <tamis/{name}>" for name in names)
    flags = [f"-I{folder}"]
    # Declared again as they were: the compiler refuses other types.
    again = re.findall(r"^typedef tamis_status \(\*\w+\)\([^;]+;", old,
                       re.M) + ["TAMIS_API " + one for one in functions(old)]
    program, why = compiled(room, "functions",
                            "\n".join([today, *again, "int main(void) { return 0; }", ""]), *flags)
    if program is None:
        yield f"functions have changed:\n{why}"
    program, why = compiled(room, "today", probe(old, today), *flags)
    if program is None:
        yield f"names are gone:\n{why}"
        return
    was = facts(compiled(room, "then", probe(old, f'#include "{BASELINE}"'))[0])
    now = facts(program)
    for name, values in was.items():
        grows = name in structs(old) and "struct_size" in structs(old)[name]
        if values != now[name] and not (grows and int(now[name][0]) > int(values[0])):
            yield f"{name} was {' '.join(values)} and is {' '.join(now[name])}"
    declared = "\n".join(without_comments((folder / "tamis" / name).read_text()) for name in names)
    for line in functions(old):
        name = re.search(r"(tamis_\w+)\(", line)[1]
        if not re.search(rf"\b{name}\(", declared):
            yield f"{name} is not declared"


def edited(room, edit, to):
    """The headers of today with one edit."""
    folder = room / "edited" / "tamis"
    folder.mkdir(parents=True, exist_ok=True)
    changed = 0
    for path in (ROOT / "include/tamis").glob("*.h"):
        text, n = re.subn(edit, to, path.read_text())
        (folder / path.name).write_text(text)
        changed += n > 0
    assert changed == 1, f"{edit} is in {changed} headers"
    return folder.parent


def main():
    old = BASELINE.read_text() if BASELINE.exists() else baseline()
    with tempfile.TemporaryDirectory() as name:
        room = pathlib.Path(name)
        if sys.argv[1:] == ["--baseline"]:
            found = list(complaints(room, old, ROOT / "include"))
            if not found:
                BASELINE.write_text(baseline())
            print("\n".join(found) or "the baseline is that of today's headers")
            return 1 if found else 0
        for what, edit, to in BREAKS:
            found = list(complaints(room, old, edited(room, edit, to)))
            assert len(found) > 0, f"not noticed: {what}"
        for what, edit, to in GROWTH:
            found = list(complaints(room, old, edited(room, edit, to)))
            assert not found, f"noticed, though programs keep working: {what}: {found}"

        found = list(complaints(room, old, ROOT / "include"))
        exported = subprocess.run(["nm", "-D", "--defined-only", str(BUILD / "libtamis.so")],
                                  check=True, capture_output=True,
                                  text=True).stdout
        for line in functions(old):
            symbol = re.search(r"(tamis_\w+)\(", line)[1]
            if not re.search(rf" {symbol}(@|$)", exported, re.M):
                found.append(f"libtamis.so does not export {symbol}")
        program, why = compiled(room, "old", (HERE / "old_program.c").read_text(), f"-I{HERE}",
                                f"-L{BUILD}", "-ltamis", "-lm",
                                "-pthread", f"-Wl,-rpath,{BUILD}")
        if program is None:
            found.append(f"old_program.c cannot be built:\n{why}")
        else:
            done = subprocess.run([str(program), str(room)], capture_output=True, text=True)
            if done.returncode != 0:
                found.append(f"old_program.c: status {done.returncode}\n{done.stdout}{done.stderr}")
        for line in found:
            print(line)
    if not found:
        print("old programs keep working")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
