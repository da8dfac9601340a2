"""A release has the same bytes whoever makes it, where and when: the one that release_made has made
(tests/CMakeLists.txt) is made again by another user, in another folder, with another umask, locale,
time zone and terminal, in another year, and compared.

    test_same.py [PART...]    # as of ./run release; all of them by default

TAMIS_SOURCE is the tree, and TAMIS_BUILD a build of it."""
import filecmp
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

SOURCE = pathlib.Path(os.environ["TAMIS_SOURCE"])
FIRST = pathlib.Path(os.environ["TAMIS_BUILD"]) / "release-test"
NOBODY = 65534
STRANGE = {"LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr", "TZ": "Pacific/Kiritimati", "TERM": "vt52",
           "CFLAGS": "-O0 -g", "LDFLAGS": "-Wl,--no-gc-sections", "DEB_BUILD_OPTIONS": "noopt",
           "MAKEFLAGS": "-k", "XZ_DEFAULTS": "-T2 --check=sha256", "PYTHONHASHSEED": "7",
           "GIT_PAGER": "less", "COLUMNS": "40"}


def copy_tree(to):
    """The tree with its history, and with the changes that are not committed."""
    names = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], check=True,
                           stdout=subprocess.PIPE).stdout.decode().split("\0")
    shutil.copytree(SOURCE / ".git", to / ".git", ignore=shutil.ignore_patterns("*.lock"))
    for name in filter(None, names):
        if (SOURCE / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, to / name)


def files_below(folder, version):
    return sorted(str(path.relative_to(folder)) for path in folder.glob(f"{version}/**/*")
                  if path.is_file())


def make_again(room, parts):
    tree, home = room / "another" / "place", room / "home"
    home.mkdir()
    copy_tree(tree)
    command = ["faketime", "-f", "+700d", "/usr/bin/python3", tree / "tools/release/release.py",
               "--dirty", "--out", room / "made", *parts]
    user = None
    if os.getuid() == 0:
        user = NOBODY
        for folder, _, files in os.walk(room):
            for name in [folder, *(os.path.join(folder, file) for file in files)]:
                os.lchown(name, NOBODY, NOBODY)
    subprocess.run(command, check=True, cwd=room, user=user, group=user,
                   extra_groups=None if user is None else [], umask=0o077,
                   env={**STRANGE, "PATH": os.environ["PATH"], "HOME": str(home),
                        "USER": "stranger"})
    return room / "made"


def main():
    if not shutil.which("faketime"):
        print("faketime is not installed")
        return 77
    if not list(FIRST.glob("*/SHA256SUMS")):
        print(f"{FIRST} has no release; the test release_made makes it")
        return 77
    parts = sys.argv[1:]
    # The length of the path differs as well.
    with tempfile.TemporaryDirectory(prefix="a-longer-name-than-usual.") as name:
        room = pathlib.Path(name)
        second = make_again(room, parts)
        names = files_below(second, "*")
        different = [name for name in names
                     if not (FIRST / name).exists() or
                     not filecmp.cmp(FIRST / name, second / name, shallow=False)]
        assert not different, f"these differ: {different}"
        version, = {name.split("/")[0] for name in names}
        assert parts or names == files_below(FIRST, version), names
    print(f"{len(names)} files are the same, byte by byte")
    return 0


if __name__ == "__main__":
    sys.exit(main())
