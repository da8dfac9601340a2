"""A library with only some of the kinds (TAMIS_KINDS): the other kinds are not linked and are
refused with a reason, in plans and in images, and the selected ones behave as in the whole library.

Only src/core/kind.c depends on the selection. It is compiled for each and linked before the library
of TAMIS_BUILD, so that one does not have to be built for each."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
BUILD = pathlib.Path(os.environ.get("TAMIS_BUILD", SOURCE / "build")).resolve()
FLAGS = os.environ.get("TEST_CFLAGS", "").split()
KINDS = re.findall(r'KIND\((\w+), (TAMIS_\w+), "([a-z-]+)"\)',
                   (SOURCE / "src/core/kind.c").read_text())
NAMES = [name for _, _, name in KINDS]
SELECTIONS = [["blocked"], ["fuse"], ["bloom", "window"], ["counting", "pair", "blocked"],
              ["exact"], ["map"], ["tally", "top", "window"], ["private"]]
MISSING = r"the kind ([a-z-]+) is not in this build of the library"
failures = []

# Prints one line for each kind that is planned, for each image that is opened, and for calls whose
# answer depends on other kinds.
PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include <tamis/count.h>
#include <tamis/publish.h>
#include <tamis/tamis.h>

static tamis_error why;

static const char *reason(tamis_status s)
{
    return s == TAMIS_OK ? "ok" : why.text;
}

static tamis_status plan_of(uint32_t kind, uint32_t inner, tamis_plan *p)
{
    const int filter = kind < TAMIS_COUNT_MIN && inner < TAMIS_COUNT_MIN;
    *p = (tamis_plan){.struct_size = sizeof *p, .kind = kind, .inner_kind = inner};
    p->items = filter ? 1000 : 0;
    p->bytes = filter ? 0 : 65536;
    p->fpr = filter ? 0.01 : 0;
    if (kind == TAMIS_EXACT) p->fpr = 0, p->excluded = 1000;
    if (kind == TAMIS_PRIVATE) p->items = 0;
    if (kind == TAMIS_BLOOM) p->k = 1; /* so that it can be released */
    return tamis_solve(p, NULL, &why);
}

static void plans(void)
{
    tamis_plan p;
    for (uint32_t kind = 0; kind < 64; kind++) {
        const char *name = kind == TAMIS_AUTO ? "auto" : tamis_kind_name(kind);
        if (name == NULL) continue;
        if (kind != TAMIS_AUTO && tamis_kind_named(name) != kind) printf("%s is lost\n", name);
        const tamis_status s = plan_of(kind, 0, &p);
        printf("plan %s: %d %s: %s\n", name, s, s == TAMIS_OK ? tamis_kind_name(p.kind) : "-",
               reason(s));
        for (uint32_t inner = 1; inner < 64; inner++)
            if (kind == TAMIS_WINDOW && tamis_kind_name(inner) != NULL)
                printf("window of %s: %d %s\n", tamis_kind_name(inner), plan_of(kind, inner, &p),
                       reason(plan_of(kind, inner, &p)));
    }
}

static void images(char **paths)
{
    for (; *paths != NULL; paths++) {
        tamis *t;
        char digits[20];
        unsigned members = 0;
        const tamis_status s = tamis_open(*paths, NULL, &t, &why);
        for (unsigned i = 0; s == TAMIS_OK && i < 3000; i++) {
            snprintf(digits, sizeof digits, "%u", i);
            members += tamis_may_contain(t, digits, strlen(digits));
        }
        printf("open %s: %d %u %s\n", strrchr(*paths, '/') + 1, s, members, reason(s));
        if (s == TAMIS_OK) tamis_close(t);
    }
}

static void call(const char *what, tamis_status s)
{
    printf("%s: %d %u %s\n", what, s, s == TAMIS_OK ? 0 : why.better_kind, reason(s));
}

static void calls(void)
{
    for (uint32_t kind = 1; kind < TAMIS_PRIVATE; kind++) {
        tamis_plan p;
        tamis *t, *other = NULL;
        if (plan_of(kind, 0, &p) != TAMIS_OK || tamis_create(&p, NULL, &t, NULL) != TAMIS_OK)
            continue;
        printf("--- %s\n", tamis_kind_name(kind));
        call("add", tamis_add(t, "key", 3, NULL));
        call("seal", tamis_seal(t, &why));
        printf("contains: %d %d\n", tamis_may_contain(t, "key", 3), tamis_may_contain(t, "no", 2));
        call("remove", tamis_remove(t, "key", 3, &why));
        call("rotate", tamis_rotate(t, &why));
        call("convert", tamis_convert(t, TAMIS_BLOOM, &other, &why));
        tamis_close(other);
        call("release", tamis_release(t, 1, &other, &why));
        tamis_close(other);
        tamis_close(t);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    plans();
    images(argv + 1);
    calls();
    return 0;
}
"""


def check(right, what):
    if not right:
        failures.append(what)
        print(f"FAILED: {what}")


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)


def ids_of(selection):
    return ",".join(number for _, number, name in KINDS if name in selection)


def compile_kinds(room, selection):
    """The result of compiling src/core/kind.c for a selection (None: all kinds)."""
    chosen = [] if selection is None else [f"-DTAMIS_KINDS={ids_of(selection)}"]
    return run("cc", "-std=c11", *FLAGS, *chosen, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
               "-fPIC", f"-I{SOURCE}/include", "-c", SOURCE / "src/core/kind.c", "-o",
               room / "kind.o")


def build(room, selection):
    """The lines that the program prints with this selection, and the tables that it contains."""
    compiled = compile_kinds(room, selection)
    linked = run("cc", *FLAGS, room / "program.o", room / "kind.o", BUILD / "libtamis.a", "-lm",
                 "-pthread", "-o", room / "program")
    check(compiled.returncode == 0 and linked.returncode == 0,
          f"{selection}: {compiled.stderr}{linked.stderr}")
    ran = run(room / "program", *sorted((SOURCE / "tests/golden").glob("*.tamis")))
    check(ran.returncode == 0, f"{selection}: the program ends with {ran.returncode} {ran.stderr}")
    symbols = re.findall(r" [dDrR] tamis__(\w+)$", run("nm", room / "program").stdout, re.M)
    return ran.stdout.splitlines(), {name for table, _, name in KINDS if table in symbols}


def check_selection(room, selection, whole):
    lines, tables = build(room, selection)
    check(tables == set(selection), f"{selection}: the program contains {tables}")
    before_calls = lines[:next((i for i, line in enumerate(lines) if line.startswith("---")),
                               len(lines))]
    same, refused = 0, 0
    for line, usual in zip(before_calls, whole):
        asked = line.split(":")[0]
        missing = re.search(MISSING, line)
        check(asked == usual.split(":")[0], f"{selection}: '{line}', not '{usual}'")
        if missing:
            refused += 1
            check(missing[1] not in selection and re.search(r": -3\b", line),
                  f"{selection}: '{line}', although the kind is there")
        elif line == usual:
            same += 1
        else:
            check(asked in ("plan auto", "plan window", "plan pair", "window of window"),
                  f"{selection}: '{line}', not '{usual}'")
        named = re.match(r"(?:plan|window of) ([a-z-]+)", line)
        if named and named[1] in NAMES:
            check(bool(missing) == (named[1] not in selection or
                                    (line.startswith("window of") and "window" not in selection)),
                  f"{selection}: '{line}'")
    check(same > 0 and refused > 0, f"{selection}: {same} lines as usual, {refused} refused")
    return lines


def part(lines, kind):
    """The lines of calls to a filter of this kind, by the name of the call."""
    begin = lines.index(f"--- {kind}") + 1
    end = next((i for i in range(begin, len(lines)) if lines[i].startswith("---")), len(lines))
    return dict(line.split(": ", 1) for line in lines[begin:end])


def check_calls(of, whole):
    """Calls that need a kind that is not there."""
    none = "is not in this build"
    check(of["blocked"][0] == "plan auto: 0 blocked: ok", of["blocked"][0])
    check(of["bloom"][0] == "plan auto: 0 bloom: ok", of["bloom"][0])
    check(of["fuse"][0].startswith("plan auto: -3 ") and none in of["fuse"][0], of["fuse"][0])
    window = next(line for line in of["bloom"] if line.startswith("plan window"))
    check(window.endswith("one of: bloom"), window)
    window = next(line for line in of["tally"] if line.startswith("plan window"))
    check(window.endswith("one of: kinds that are not in this build"), window)
    check("window of tally: 0 ok" in of["tally"], "a window of tallies")
    removed = part(of["blocked"], "blocked")["remove"]
    check(removed.startswith("-3 0 ") and removed.endswith("cuckoo, which is not in this build"),
          removed)
    for selection, kind in (("counting", "pair"), ("exact", "exact"), ("fuse", "fuse")):
        ours, usual = part(of[selection], kind), part(whole, kind)
        for call in ("add", "seal", "contains"):
            check(ours[call] == usual[call], f"{selection}: {kind}: {call}: {ours[call]}")
    converted = part(of["counting"], "counting")["convert"]
    check(converted.startswith("-3 ") and "the kind bloom " + none in converted, converted)
    released = part(of["bloom"], "bloom")["release"]
    check(released.startswith("-3 ") and "the kind private " + none in released, released)


def configure(room, *options):
    """What CMake says to a selection, and how it compiles src/core/kind.c."""
    made = run("cmake", "-S", SOURCE, "-B", room / "cmake", "--fresh", "-G", "Ninja",
               "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options)
    commands = room / "cmake/compile_commands.json"
    said = " ".join((made.stdout + made.stderr).split())
    return made.returncode, said, commands.read_text() if commands.exists() else ""


def check_cmake(room):
    status, said, _ = configure(room, "-DTAMIS_KINDS=blokced")
    check(status != 0 and "there is no kind 'blokced'" in said and ", ".join(NAMES) in said, said)
    status, said, _ = configure(room, "-DTAMIS_KINDS=top;blocked")
    check(status != 0 and "top requires tally" in said, said)
    status, said, _ = configure(room, "-DTAMIS_KINDS=blocked", "-DTAMIS_CLI=ON")
    check(status != 0 and "TAMIS_CLI requires all kinds" in said, said)
    status, said, commands = configure(room, "-DTAMIS_KINDS=blocked;count-min")
    check(status == 0 and "-DTAMIS_KINDS=TAMIS_BLOCKED,TAMIS_COUNT_MIN " in commands, said)
    check("cli/main.c" not in commands and "tests/" not in commands, "only the library is built")


def main():
    tables = re.findall(r'struct kind tamis__(\w+) = {\s*\.id = (\w+),\s*\.name = "(.*)"',
                        "".join(path.read_text() for path in (SOURCE / "src").glob("**/*.c")))
    tables = [t for t in tables if t[0] != "growing_removable"]  # for some plans of growing
    check(sorted(KINDS) == sorted(tables), f"kind.c has {KINDS}, and the kinds are {tables}")
    with tempfile.TemporaryDirectory() as name:
        room = pathlib.Path(name)
        (room / "program.c").write_text(PROGRAM)
        compiled = run("cc", "-std=c11", *FLAGS, "-Wall", "-Wextra", "-Werror", "-fPIC",
                       f"-I{SOURCE}/include", "-c", room / "program.c", "-o", room / "program.o")
        check(compiled.returncode == 0, compiled.stderr)
        whole, tables = build(room, None)
        check(tables == set(NAMES), f"the whole library has {tables}")
        check(not any("in this build" in line for line in whole), "the whole library lacks a kind")
        of = {selection[0]: check_selection(room, selection, whole) for selection in SELECTIONS}
        check_calls(of, whole)
        check("top requires tally" in compile_kinds(room, ["top"]).stderr, "top without tally")
        check_cmake(room)
    print(f"{len(SELECTIONS)} selections, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
