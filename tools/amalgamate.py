#!/usr/bin/python3
"""Makes one header and one C file of the library: tamis.h and tamis.c, for programs that take in
sources rather than a library. They need a C11 compiler, libm and threads, and keep the speed:
kernels have their instruction sets by attributes, not by flags of the compiler. xxhash.h, where the
compiler cc (or the one in the variable CC) finds it, is copied into tamis.c with its licence.

    tools/amalgamate.py [DIRECTORY]     (default: build/amalgamation)
    cc -std=c11 -O2 -c tamis.c

Files are put one after the other: their static functions have names of their own
(tests/tree/test_rules.sh), and macros end with their file. Where C needs more than this, compiling
says so, which tests/tree/test_amalgamation.sh does."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOCAL_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]+"([^"]+)".*\n')
SYSTEM_INCLUDE = re.compile(r"[ \t]*#[ \t]*include[ \t]+<([^>]+)>.*\n")
CONDITION = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b")
XXHASH_HERE = "/* xxhash.h */\n"  # make() puts the header here


def macros_of(text):
    return re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M)


def visibility(what):
    return f"#if defined(__GNUC__)\n#pragma GCC visibility {what}\n#endif\n"


def find_xxhash():
    """The text of the installed xxhash.h."""
    compiler = os.environ.get("CC", "cc").split()
    found = subprocess.run([*compiler, "-E", "-M", "-"], input="#include <xxhash.h>\n", text=True,
                           capture_output=True, check=False)
    paths = [word for word in found.stdout.split() if word.endswith("/xxhash.h")]
    if found.returncode != 0 or not paths:
        sys.exit(f"{compiler[0]} finds no xxhash.h (Debian: libxxhash-dev)")
    text = pathlib.Path(paths[0]).read_text()
    if "BSD 2-Clause License" not in text or "Redistribution and use" not in text:
        sys.exit(f"{paths[0]}: the licence is not the one that this file expects")
    return text


def version_of_xxhash(text):
    return ".".join(re.search(rf"define XXH_VERSION_{part}\s+(\d+)", text)[1]
                    for part in ("MAJOR", "MINOR", "RELEASE"))


def licence_of_xxhash():
    """Its licence as text, which goes with what is compiled from tamis.c."""
    comment = re.search(r"/\*(.*?)\*/", find_xxhash(), re.S)[1]
    lines = [line.removeprefix(" *").removeprefix(" ") for line in comment.splitlines()]
    return "\n".join(lines).strip() + "\n"


def embedded(text):
    return (f"/* --- xxhash.h of xxHash {version_of_xxhash(text)}, unchanged --- */\n" +
            visibility("push(default)") + text + visibility("pop") +
            "/* --- the end of xxhash.h --- */\n")


class Amalgamation:
    def __init__(self):
        self.sources = sorted(ROOT.glob("src/**/*.c"))
        self.headers = sorted(ROOT.glob("src/**/*.h"))
        self.system, self.emitted, self.out = set(), set(), []

    def resolve(self, name, path):
        for folder in (path.parent, ROOT / "src"):
            found = (folder / name).resolve()
            if found.exists():
                return found
        sys.exit(f"{path}: there is no {name}")

    def expand(self, path):
        """A file without its includes: those of the system go to the top; headers with a guard
        before the file, once; those under a condition, and templates without a guard, stay where
        they are."""
        lines, depth = [], 0
        text = path.read_text()
        guarded = self.is_guarded(text)
        for line in text.splitlines(keepends=True):
            condition = CONDITION.match(line)
            if condition:
                depth += -1 if condition[1] == "endif" else 1
            local, system = LOCAL_INCLUDE.fullmatch(line), SYSTEM_INCLUDE.fullmatch(line)
            top = depth == (1 if guarded else 0)
            if local:
                header = self.resolve(local[1], path)
                if top and self.is_guarded(header.read_text()):
                    self.emit_header(header)
                else:
                    lines.append(self.expand(header))
            elif system and system[1].startswith("tamis/"):
                continue
            elif system and system[1] == "xxhash.h":
                lines.append(XXHASH_HERE)
            elif system and top:
                self.system.add(system[1])
            elif system:
                lines.append(visibility("push(default)") + line + visibility("pop"))
            else:
                lines.append(line)
        return "".join(lines)

    @staticmethod
    def is_guarded(text):
        return re.search(r"^#ifndef (TAMIS_\w+_H)\n#define \1\n", text, re.M) is not None

    def emit_header(self, path):
        if path in self.emitted:
            return
        self.emitted.add(path)
        text = self.expand(path)
        self.out.append(f"/* --- {path.relative_to(ROOT)} --- */\n{text}\n")

    def features(self):
        """Macros that must come before the first include of the system."""
        found = dict.fromkeys(macro for path in self.sources
                              for macro in macros_of(path.read_text())
                              if macro.startswith("_"))
        values = {"_POSIX_C_SOURCE": " 200809L", "_FILE_OFFSET_BITS": " 64"}
        return "".join(f"#ifndef {name}\n#define {name}{values.get(name, '')}\n#endif\n"
                       for name in found
                       if name != "_POSIX_C_SOURCE" or "_GNU_SOURCE" not in found)

    def make(self):
        xxhash = find_xxhash()
        bodies = {path: self.expand(path) for path in self.sources}
        headers = "".join(self.out)
        parts = []
        for path, text in bodies.items():
            ended = [name for name in dict.fromkeys(macros_of(text)) if not name.startswith("_")]
            parts.append(f"/* --- {path.relative_to(ROOT)} --- */\n{text}" +
                         "".join(f"#undef {name}\n" for name in ended) + "\n")
        licence = "".join(f" * {line}".rstrip() + "\n"
                          for line in (ROOT / "LICENSE").read_text().splitlines())
        about = (
            f"/* The library Tamis in one file, made by tools/amalgamate.py: do not edit.\n "
            f"*\n{licence} *\n * Here this is xxHash {version_of_xxhash(xxhash)}. Its licence is "
            f"where xxhash.h begins, below. */\n")
        system = "".join(f"#include <{name}>\n" for name in sorted(self.system))
        text = (about + self.features() + '#include "tamis.h"\n\n' + system +
                "\n/* Functions of the library's own are not for other files. */\n" +
                visibility("push(hidden)") + "\n" + headers + "".join(parts) + visibility("pop"))
        if text.count(XXHASH_HERE) != 1:
            sys.exit("xxhash.h must be included exactly once")
        return text.replace(XXHASH_HERE, embedded(xxhash))

    def public_header(self):
        """All public headers, tamis.h first, without their includes of each other."""
        folder = ROOT / "include/tamis"
        done, out = set(), []

        def take(path):
            if path in done:
                return
            done.add(path)
            for line in path.read_text().splitlines(keepends=True):
                found = re.match(r'[ \t]*#[ \t]*include[ \t]+["<](?:tamis/)?([^">]+)[">]', line)
                if found and (folder / found[1]).exists():
                    take(folder / found[1])
                else:
                    out.append(line)

        for path in [folder / "tamis.h", *sorted(folder.glob("*.h"))]:
            take(path)
        return "".join(out)


def main(arguments):
    to = pathlib.Path(arguments[0]) if arguments else ROOT / "build/amalgamation"
    to.mkdir(parents=True, exist_ok=True)
    made = Amalgamation()
    (to / "tamis.c").write_text(made.make())
    (to / "tamis.h").write_text(made.public_header())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
