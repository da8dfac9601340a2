#!/usr/bin/python3
"""Makes a release: see HELP, and "Making a release" in CONTRIBUTING.md."""
import argparse
import hashlib
import os
import pathlib
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
import archives  # noqa: E402
import facts  # noqa: E402
import parts  # noqa: E402
import spdx  # noqa: E402

HELP = """\
Writes build/release/VERSION/ from the last commit:

  tamis-VERSION-src.tar.xz             the source
  tamis-VERSION-amalgamation.zip       the library as one tamis.h and one tamis.c
  tamis-VERSION-linux-MACHINE.tar.xz   the command, linked statically, with its manual page
  tamis-VERSION-vectors.tar.xz         images and answers to test other implementations with
  deb/ npm/ python/                    the packages of Debian, npm and Python
  recipes/                             for Homebrew, vcpkg and Conan, not tested
  tamis-VERSION.spdx.json              what is in the source, and what the rest contains
  SHA256SUMS                           the sums of all these; sign this file

The same commit gives the same bytes on every Debian 12 with the same packages, whoever builds it,
where and when. The names of parts make only these, and neither the last two files."""
PARTS = {"amalgamation": parts.amalgamation, "static": parts.static, "vectors": parts.vectors,
         "deb": parts.deb, "npm": parts.npm, "python": parts.python, "recipes": parts.recipes}
# What would change what is compiled. CCACHE_BASEDIR makes paths in debug information relative, on
# which the build-id of what is linked depends.
UNWANTED = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "DESTDIR", "MAKEFLAGS",
            "DEB_BUILD_OPTIONS", "DEB_BUILD_PROFILES", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH",
            "TAMIS_LIMITED_API", "CMAKE_GENERATOR", "LANGUAGE", "TZ", "CCACHE_BASEDIR", "CPATH",
            "C_INCLUDE_PATH", "LIBRARY_PATH", "PYTHONPATH", "TAR_OPTIONS", "XZ_DEFAULTS", "XZ_OPT")


class Release:
    """The folders, the version and the values of templates. `work` is removed at the end."""

    def __init__(self, out, work, dirty):
        which, self.epoch = facts.commit(dirty)
        self.version = facts.version_of(facts.ROOT)
        self.name, self.work = f"tamis-{self.version}", work
        self.out = out / self.version
        self.out.mkdir(parents=True, exist_ok=True)
        self.tree = facts.export(which, self.version, self.out / f"{self.name}-src.tar.xz",
                                 work / "tree")
        self.values = facts.values_of(self.tree, self.epoch)

    def sha256(self, name):
        return hashlib.sha256((self.out / name).read_bytes()).hexdigest()

    def sha512(self, name):
        return hashlib.sha512((self.out / name).read_bytes()).hexdigest()

    def tell(self, known):
        """A line per file that is not known yet. Returns all that are there."""
        for name, path in archives.files_below(self.out).items():
            if name not in known:
                print(f"{path.stat().st_size:>12,}  {name}", flush=True)
        return set(archives.files_below(self.out))

    def write_sums(self):
        """In BSD's form, which both sha256sum and signify read."""
        text = "".join(f"SHA256 ({name}) = {self.sha256(name)}\n"
                       for name in archives.files_below(self.out))
        (self.out / "SHA256SUMS").write_text(text)


def settle(epoch):
    """One environment for all who build."""
    os.umask(0o022)
    for name in [*UNWANTED, *(name for name in os.environ if name.startswith(("LC_", "npm_")))]:
        os.environ.pop(name, None)
    os.environ.update(LC_ALL="C.UTF-8", LANG="C.UTF-8", TZ="UTC", PYTHONHASHSEED="0",
                      PYTHONDONTWRITEBYTECODE="1", SOURCE_DATE_EPOCH=str(epoch))


def make(out, epoch, dirty, names):
    settle(epoch)
    if not names:
        shutil.rmtree(out / facts.version_of(facts.ROOT), ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="work.", dir=out) as work:
        release = Release(out, pathlib.Path(work), dirty)
        print(release.out)
        known = release.tell(set(archives.files_below(release.out)) -
                             {f"{release.name}-src.tar.xz"})
        for name, part in PARTS.items():
            if not names or name in names:
                part(release)
                known = release.tell(known)
        if not names:
            spdx.write(release)
            release.write_sums()
            release.tell(known)


def main():
    parser = argparse.ArgumentParser(
        prog="./run release", description=HELP, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--dirty", action="store_true",
                        help="include changes that are not committed, instead of refusing them")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR",
                        default=facts.ROOT / "build/release",
                        help="write DIR/VERSION/ instead of build/release/VERSION/")
    parser.add_argument("--check", action="store_true",
                        help="make nothing; fail if a release would be refused")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    words = parser.parse_args()
    for name in words.parts:
        if name not in PARTS:
            parser.error(f"there is no part '{name}'; the parts are: {', '.join(PARTS)}")
    if not shutil.which("dpkg"):
        facts.fail("a release is made on Debian, whose tools and libraries it takes")
    _, epoch = facts.commit(words.dirty)
    facts.version_of(facts.ROOT)
    if words.check:
        return 0
    caller = pathlib.Path(os.environ.get("TAMIS_CALLER", "."))  # the folder where ./run was called
    make((caller / words.out).resolve(), epoch, words.dirty, words.parts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
