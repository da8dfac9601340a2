"""What tools/hardening.cmake asks for is in the products: the command, the library, the Redis
module and the SQLite extension, or the files that are named as arguments. It begins with itself: a
program built with everything turned off must get every complaint there is.

TAMIS_BUILD: the directory of a release build; the test says nothing about another one."""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

EXPORTS = {"libtamis.so": r"tamis_[a-z]\w*|TAMIS_\d+\.\d+",
           "tamis-redis.so": r"RedisModule_On(Load|Unload)",
           "tamis_sqlite.so": r"sqlite3_(tamissqlite|extension)_init"}
BAD = '''
#include <stdio.h>
#include <string.h>
static int target;
int *const far = &target; /* an absolute address in a read-only section, with -fno-pic */
int stray(const char *s) { char b[64]; strcpy(b, s); return printf(b) + *far; }
int main(int n, char **v) { return stray(v[n - 1]); }
'''
WANTED = ["may be written where it runs", "does not protect the stack", "fortifies nothing",
          "is not at a random place",
          "has no relocations that turn read-only", "binds late", "has a path to libraries"]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def complaints(path):
    """What protection an ELF file lacks."""
    dynamic = run("readelf", "-Wd", path)
    segments = run("readelf", "-Wl", path)
    names = [line.split()[-1].split("@")[0] for line in run("nm", "-D", path).splitlines()]
    stack = re.search(r"^ *GNU_STACK .* (\S+) +0x\S+$", segments, re.M)
    writable_code = re.search(r"^ *LOAD .* RWE +0x", segments, re.M)
    if not stack or "E" in stack.group(1) or writable_code:
        yield "may be written where it runs"
    if "__stack_chk_fail" not in names and "__stack_chk_guard" not in names:
        yield "does not protect the stack"
    if not any(re.fullmatch(r"__\w+_chk", n) for n in names):
        yield "fortifies nothing"
    if "DYN" not in re.search(r"Type: +(.*)", run("readelf", "-h", path)).group(1):
        yield "is not at a random place"
    if "GNU_RELRO" not in segments:
        yield "has no relocations that turn read-only"
    if not re.search(r"BIND_NOW|FLAGS_1.* NOW", dynamic):
        yield "binds late"
    if re.search(r"\((RPATH|RUNPATH)\)", dynamic):
        yield "has a path to libraries"
    if "TEXTREL" in dynamic:
        yield "has relocations in its code"
    wanted = EXPORTS.get(re.sub(r"\.so\..*", ".so", os.path.basename(path)))
    for line in run("nm", "-D", "--defined-only", path).splitlines() if wanted else []:
        name = line.split()[-1].split("@")[0]
        if not re.fullmatch(wanted, name):
            yield f"exports {name}"


def unmarked(archive):
    """Members without the marks of -fcf-protection. Only of objects: the linker drops the marks
    from whatever is linked with a C library that lacks them, as Debian's does."""
    notes = run("readelf", "-n", archive)
    members = re.split(r"^File: .*\((.*)\)$", notes, flags=re.M)[1:]
    if not members:
        yield "no member at all"
    for name, text in zip(members[::2], members[1::2]):
        if not ("IBT" in text and "SHSTK" in text):
            yield name


def prove_itself():
    off = ["-O1", "-w", "-fno-pic", "-fno-stack-protector", "-U_FORTIFY_SOURCE",
           "-fcf-protection=none"]
    link = ["-Wl,-z,execstack,-z,norelro,-z,lazy,-rpath,/nowhere"]
    with tempfile.TemporaryDirectory() as room:
        source, program = os.path.join(room, "bad.c"), os.path.join(room, "bad")
        library, archive = os.path.join(room, "libtamis.so"), os.path.join(room, "bad.a")
        with open(source, "w") as f:
            f.write(BAD)
        run("cc", *off, "-no-pie", *link, source, "-o", program)
        got = list(complaints(program))
        if got != WANTED:
            sys.exit(f"of a program without protection it says {got}")
        run("cc", *off, "-mcmodel=large", "-shared", *link, "-Wl,-z,notext", source, "-o", library)
        got = set(complaints(library)) - set(WANTED)
        if not {"has relocations in its code", "exports stray", "exports far"} <= got:
            sys.exit(f"of a library with relocations in its code it says {got}")
        run("cc", *off, "-c", source, "-o", source + ".o")
        run("ar", "rc", archive, source + ".o")
        if list(unmarked(archive)) != ["bad.c.o"]:
            sys.exit("an object without marks of control flow passes")


def main():
    build = os.environ.get("TAMIS_BUILD", "build")
    files = sys.argv[1:]
    failures = 0
    if not files:
        with open(os.path.join(build, "CMakeCache.txt")) as f:
            cache = f.read()
        if "CMAKE_BUILD_TYPE:STRING=Release" not in cache or "-fsanitize" in cache:
            print("not a release build")
            return 77
        files = [os.path.join(build, n) for n in ("tamis", "libtamis.so", "tamis-redis.so",
                                                 "sql/tamis_sqlite.so")]
        if os.uname().machine == "x86_64":
            prove_itself()
            for name in unmarked(os.path.join(build, "libtamis.a")):
                failures += 1
                print(f"libtamis.a: {name} is not marked for control-flow protection")
    for path in files:
        for text in complaints(path):
            failures += 1
            print(f"{os.path.basename(path)} {text}")
    if failures == 0:
        print(f"{len(files)} files are as hard as they should be")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
