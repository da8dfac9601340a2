"""What a release is of: the tree, its date and version, and the values of templates."""
import json
import os
import pathlib
import re
import subprocess
import sys
from email.utils import formatdate

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True
import project  # noqa: E402


def fail(text):
    sys.exit(f"./run release: {text}")


def git(*words, **options):
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, text=True,
                          stdout=subprocess.PIPE, **options).stdout.rstrip("\n")


def version_of(tree):
    """The version, which is that of the header, and must be that of all others."""
    found = {}
    for name, pattern in (("include/tamis/tamis.h", r'^#define TAMIS_VERSION_STRING "(.*)"'),
                          ("CMakeLists.txt", r"^project\(tamis VERSION (\S+)")):
        found[name] = re.search(pattern, (tree / name).read_text(), re.M)[1]
    found["web/package.json"] = json.loads((tree / "web/package.json").read_text())["version"]
    if len(set(found.values())) != 1:
        fail("the versions differ: " + ", ".join(f"{v} in {name}" for name, v in found.items()))
    return found["CMakeLists.txt"]


def symbols(tree):
    """The functions of libtamis.so as Debian's file of symbols lists them: with the version that
    added them, which is that of their node in src/exports.map."""
    text = re.sub(r"#.*", "", (tree / "src/exports.map").read_text())
    lines = []
    for node, version, body in re.findall(r"(TAMIS_([\d.]+)) \{(.*?)\}", text, re.S):
        names = [node, *re.findall(r"\b(tamis_\w+);", body)]
        lines += [f" {name}@{node} {version}.0" for name in names]
    return "\n".join(lines)


def values_of(tree, epoch):
    """The values of templates, by name."""
    version = version_of(tree)
    return {"VERSION": version, "MAJOR": version.split(".")[0], "SYMBOLS": symbols(tree),
            # formatdate marks times of no known zone by a minus.
            "DATE": formatdate(epoch).replace("-0000", "+0000"), **project.values()}


def commit(dirty):
    """The commit to release, and its date. With `dirty`, changes to files that git knows are part
    of it; its date is still that of HEAD."""
    if not (ROOT / ".git").exists():
        fail("this is not a clone of the repository, so there is no commit to release")
    epoch = int(git("log", "-1", "--format=%ct"))
    changes = git("status", "--porcelain")
    if not changes:
        return "HEAD", epoch
    if not dirty:
        fail("there are changes that are not committed. Commit them, or give --dirty to release\n"
             f"the files that git knows as they are:\n{changes}")
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
           for what, value in (("NAME", "x"), ("EMAIL", "x"), ("DATE", f"{epoch} +0000"))}
    return git("stash", "create", env={**os.environ, **who}) or "HEAD", epoch


def export(which, version, out, folder):
    """Writes the tree of a commit as a .tar.xz, and also below a folder."""
    top = f"tamis-{version}"
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "-c", "tar.umask=0022", "-c", "core.autocrlf=false", "archive",
         "--format=tar", f"--prefix={top}/", which], check=True, stdout=subprocess.PIPE).stdout
    # One thread: with more, the bytes would depend on their number.
    packed = subprocess.run(["xz", "-9", "-T1"], input=archive, check=True,
                            stdout=subprocess.PIPE).stdout
    out.write_bytes(packed)
    folder.mkdir(parents=True)
    subprocess.run(["tar", "-C", str(folder), "-xf", "-", "--no-same-owner"], input=archive,
                   check=True)
    return folder / top


def fill(text, values):
    """A text with the values in the place of @NAME@."""
    def value(name):
        if name[1] not in values:
            fail(f"a template names @{name[1]}@, which has no value")
        return values[name[1]]
    return re.sub(r"@([A-Z][A-Z0-9_]+)@", value, text)
