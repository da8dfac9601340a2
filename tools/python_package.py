#!/usr/bin/python3
"""Makes the Python package: a source distribution, and from that a wheel for this machine.

    tools/python_package.py [DIRECTORY]     (default: build/python)
    tools/python_package.py --metadata DIRECTORY

The source distribution contains the library as one file (tools/amalgamate.py), so that it needs
only a C compiler. Nothing is fetched: setuptools and wheel are those of this Python. If nothing
that goes into the package has changed, nothing is made. CC and CFLAGS have their usual meaning.

The second form writes only the folder tamis-VERSION.dist-info, by which pip knows a package, for
the Debian package python3-tamis."""
import fcntl
import gzip
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True
import amalgamate  # noqa: E402
import project  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
EPOCH = 315532800  # 1980, before which zip has no dates; the same in every build
# What the tag manylinux allows a module to be linked with, and a C library may be divided into.
LIBC = re.compile(r"(libc|libm|libpthread|ld-linux.*)\.so\.\d+")


def sources(library=True):
    """The files of the source distribution, by name."""
    found = {}
    for pattern in ("*.toml", "*.py", "*.in", "*.map", "*.md", "src/*.[ch]", "tamis/*.py",
                    "tamis/*.pyi", "tamis/py.typed"):
        for path in (ROOT / "python").glob(pattern):
            found[str(path.relative_to(ROOT / "python"))] = path.read_bytes()
    found["pyproject.toml"] = project.filled(found["pyproject.toml"].decode()).encode()
    for path in [ROOT / "LICENSE", *(ROOT / "include/tamis").glob("*.h")]:
        found[str(path.relative_to(ROOT))] = path.read_bytes()
    if library:
        made = amalgamate.Amalgamation()
        found["library/tamis.c"] = made.make().encode()
        found["library/tamis.h"] = made.public_header().encode()
        # Its licence goes with the compiled module as well.
        found["LICENSE.xxhash"] = amalgamate.licence_of_xxhash().encode()
    return found


def digest(*things):
    return hashlib.sha256(repr(things).encode()).hexdigest()


def environment():
    """What the package depends on besides its files."""
    return digest(sys.version, *map(os.environ.get, ("CC", "CFLAGS", "TAMIS_LIMITED_API")))


def fill(folder, files):
    """Makes a folder contain these files, besides build/. Files that have not changed are left, so
    that only what depends on a change is compiled again."""
    for path in sorted(folder.rglob("*"), reverse=True):
        name = path.relative_to(folder)
        if name.parts[0] == "build":
            # Compiled files stay. Others would be packed even after they have gone from the tree.
            if path.is_file() and path.suffix not in (".o", ".a", ".so"):
                path.unlink()
        elif path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif str(name) not in files:
            path.unlink()
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)


def call(folder, hook, *arguments):
    """Calls setuptools as pip does, in the folder of the package. Returns the name of what it
    made."""
    program = ("import setuptools.build_meta as backend, sys; made = backend."
               f"{hook}(*{arguments!r}); print(made, file=sys.stderr)")
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, text=True, check=False,
                          env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}{hook} failed")
    return done.stderr.splitlines()[-1]


def make_sdist(stage, out):
    """The source distribution, without the dates and users of this machine. Returns its path, and
    its files by name."""
    with tempfile.TemporaryDirectory() as room:
        made = pathlib.Path(room) / call(stage, "build_sdist", room)
        with tarfile.open(made) as archive:
            files = {member.name.split("/", 1)[1]: archive.extractfile(member).read()
                     for member in archive if member.isfile()}
        path = out / made.name
    top = path.name[:-len(".tar.gz")]
    with gzip.GzipFile(path, "wb", mtime=EPOCH) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            member = tarfile.TarInfo(f"{top}/{name}")
            member.size, member.mtime, member.mode = len(files[name]), EPOCH, 0o644
            archive.addfile(member, io.BytesIO(files[name]))
    return path, files


def glibc_of(module):
    """The version of glibc that a module requires, as the highest version of the symbols that it
    uses. None if it is linked with anything besides the C library, or with another C library."""
    text = subprocess.run(["objdump", "-p", "-T", module], check=True, text=True,
                          stdout=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"}).stdout
    needed = re.findall(r"^ *NEEDED +(\S+)", text, re.M)
    versions = [(int(major), int(minor))
                for major, minor in re.findall(r"GLIBC_(\d+)\.(\d+)", text)]
    return max(versions) if versions and all(map(LIBC.fullmatch, needed)) else None


def make_wheel(unpacked, out):
    """The wheel of an unpacked source distribution. The platform's tag is known only when the
    module is linked, so the wheel is packed twice."""
    with tempfile.TemporaryDirectory() as room:
        made = pathlib.Path(room) / call(unpacked, "build_wheel", room)
        module, = (unpacked / "build").glob("lib*/tamis/*.so")
        glibc = glibc_of(module) if sys.platform == "linux" else None
        if glibc is None:
            return shutil.move(made, out / made.name)
    tag = f"manylinux_{glibc[0]}_{glibc[1]}_{os.uname().machine}"
    return out / call(unpacked, "build_wheel", str(out), {"--build-option": ["--plat-name", tag]})


def make(out):
    """Makes both, unless the file `made` says that they were made of the same."""
    out.mkdir(parents=True, exist_ok=True)
    stage, unpacked, made = out / "stage", out / "unpacked", out / "made"
    with open(out / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        files = sources()
        state = [environment(),
                 digest(sorted(files.items()), pathlib.Path(__file__).read_bytes())]
        known = made.read_text().splitlines() if made.exists() else ["", ""]
        if known[:2] != state or not all((out / name).exists() for name in known[2:]):
            for old in [*out.glob("*.whl"), *out.glob("*.tar.gz")]:
                old.unlink()
            if known[0] != state[0]:
                shutil.rmtree(unpacked, ignore_errors=True)
            made.write_text(f"{state[0]}\n\n")  # if it fails, what was compiled is still of use
            fill(stage, files)
            sdist, files = make_sdist(stage, out)
            fill(unpacked, files)
            wheel = make_wheel(unpacked, out)
            known = [*state, wheel.name, sdist.name]
            made.write_text("\n".join(known) + "\n")
        for name in known[2:]:
            print(out / name)


def make_metadata(out):
    with tempfile.TemporaryDirectory() as room:
        fill(pathlib.Path(room), sources(library=False))
        name = call(room, "prepare_metadata_for_build_wheel", room)
        (out / name).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(f"{room}/{name}/METADATA", out / name / "METADATA")
    # By this name pip explains why it does not remove the package.
    (out / name / "INSTALLER").write_text("debian\n")


def main(words):
    if words[:1] == ["--metadata"]:
        make_metadata(pathlib.Path(words[1]).resolve())
    else:
        make(pathlib.Path(words[0] if words else "build/python").resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
