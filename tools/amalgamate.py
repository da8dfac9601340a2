#!/usr/bin/python3
"""Makes one header and one C file of the library: tamis.h and tamis.c, for programs that take in sources rather than a
library. They need a C11 compiler, libm, threads and xxhash.h, and keep the speed: kernels have their instruction
sets by attributes, not by flags of the compiler.

    tools/amalgamate.py [DIRECTORY]     (default: build/amalgamation)
    cc -std=c11 -O2 -c tamis.c

Files have names of their own (static functions, macros, tags) that other files have too. Macros end with their file;
the other names that clash get the name of their file before them. Where C needs more than this, compiling says so, which
tests/tree/test_amalgamation.sh does."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKEN = re.compile(r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | [A-Za-z_]\w* | \d[\w.]* | \s+ | .""",
                   re.S | re.X)
LOCAL_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]+"([^"]+)".*\n')
SYSTEM_INCLUDE = re.compile(r"[ \t]*#[ \t]*include[ \t]+<([^>]+)>.*\n")
CONDITION = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b")


def is_space(token):
    return token.isspace() or token.startswith(("/*", "//"))


def tokens_of(text):
    return [token for token in TOKEN.findall(text)]


def macros_of(text):
    return re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M)


TAGGED = ("struct", "union", "enum")


# Names of the system's that a file may use for itself as long as it does not include their header.
SYSTEM_NAMES = {"raise"}


def names_of(text, statics):
    """What a file declares at its own level: static functions and objects, types, enumerators, and tags as "struct name".
    statics: macros that stand for "static" and more."""
    text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*\n", "\n", text, flags=re.M)
    code = [token for token in tokens_of(text) if not is_space(token)]
    names, depth, i, is_static = set(), 0, 0, False
    while i < len(code):
        token = code[i]
        if token in "{([":
            depth += 1
        elif token in "})]":
            depth -= 1
        elif token in TAGGED and code[i + 1].isidentifier() and code[i + 2] == "{":
            names.add("struct " + code[i + 1])
        if token == "{" and depth == 1 and "enum" in (code[i - 1], code[i - 2]):
            names |= {code[j] for j in range(i + 1, code.index("}", i)) if code[j - 1] in "{,"}
        if depth == 0 or (depth == 1 and token in "([{"):
            if token in statics or token in ("static", "typedef"):
                is_static = True
            elif is_static and token == "__attribute__" and "typedef" in code[i - 4:i]:
                names.add(code[i - 1])
            elif is_static and token in ("(", "=", ";", "[", ",") and code[i - 1].isidentifier() and \
                    code[i - 1] != "__attribute__":
                names.add(code[i - 1])
                is_static = token == ","
            if token in ";{":
                is_static = False
        i += 1
    return names


def renamed(text, names):
    """The text with other names, but for those of members: after . or ->, and where a struct declares them."""
    tokens = tokens_of(text)
    code = [i for i, token in enumerate(tokens) if not is_space(token)]
    kinds = []  # of the open brackets: "struct" where members are declared
    for at, i in enumerate(code):
        token = tokens[i]
        before = tokens[code[at - 1]] if at > 0 else ""
        two = before + (tokens[code[at - 2]] if at > 1 else "")
        after = tokens[code[at + 1]] if at + 1 < len(code) else ""
        if token in "{([":
            words = [tokens[j] for j in code[max(0, at - 2):at]]
            kinds.append("struct" if token == "{" and ("struct" in words or "union" in words) else token)
        elif token in "})]":
            kinds.pop()
        elif before in TAGGED:
            tokens[i] = names.get("struct " + token, token)
        elif token in names:
            is_member = before == "." or two == ">-"
            is_declared = "struct" in kinds and kinds[-1] != "[" and after in (";", ",", "[", ":", ")")
            if not is_member and not is_declared:
                tokens[i] = names[token]
    return "".join(tokens)


def visibility(what):
    return f"#if defined(__GNUC__)\n#pragma GCC visibility {what}\n#endif\n"


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
        """A file without its includes: those of the system go to the top; headers with a guard before the file, once; those
        under a condition, and templates without a guard, stay where they are."""
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
            elif system and top and system[1] != "xxhash.h":
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
        found = dict.fromkeys(macro for path in self.sources for macro in macros_of(path.read_text())
                              if macro.startswith("_"))
        values = {"_POSIX_C_SOURCE": " 200809L", "_FILE_OFFSET_BITS": " 64"}
        return "".join(f"#ifndef {name}\n#define {name}{values.get(name, '')}\n#endif\n" for name in found
                       if name != "_POSIX_C_SOURCE" or "_GNU_SOURCE" not in found)

    def make(self):
        bodies = {path: self.expand(path) for path in self.sources}
        headers = "".join(self.out)
        statics = set(re.findall(r"^#define (\w+)(?:[^\n]*\\\n)*[^\n]*\bstatic\b", headers + "".join(bodies.values()), re.M))
        names = {path: names_of(text, statics) for path, text in bodies.items()}
        owners = collections.Counter(name for own in names.values() for name in own)
        taken = names_of(headers, statics) | set(macros_of(headers)) | SYSTEM_NAMES
        parts = []
        for path, text in bodies.items():
            clashing = {name for name in names[path] if owners[name] > 1 or name in taken}
            text = renamed(text, {name: f"{path.stem}_{name.split()[-1]}" for name in clashing})
            ended = [name for name in dict.fromkeys(macros_of(text)) if not name.startswith("_")]
            parts.append(f"/* --- {path.relative_to(ROOT)} --- */\n{text}" +
                         "".join(f"#undef {name}\n" for name in ended) + "\n")
        licence = "".join(f" * {line}".rstrip() + "\n" for line in (ROOT / "LICENSE").read_text().splitlines())
        about = f"/* The library Tamis in one file, made by tools/amalgamate.py: do not edit.\n *\n{licence} */\n"
        system = "".join(f"#include <{name}>\n" for name in sorted(self.system))
        return (about + self.features() + '#include "tamis.h"\n\n' + system +
                "\n/* Functions of the library's own are not for other files. */\n" +
                visibility("push(hidden)") + "\n" + headers + "".join(parts) + visibility("pop"))

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
