"""The Python package as files: names, contents, metadata and tags of the wheel and the source
distribution; the tag manylinux against the symbols of glibc that the module uses; what the module
exports and imports; that the package needs no other package; that the source distribution installs
without a network; and that the C sources compile without a warning, for the stable ABI and for one
version of Python. TAMIS_SOURCE is the tree and TAMIS_BUILD the build folder."""
import base64
import csv
import email
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

SOURCE = pathlib.Path(os.environ["TAMIS_SOURCE"])
OUT = pathlib.Path(os.environ["TAMIS_BUILD"]) / "python"
sys.path.insert(0, str(SOURCE / "tests/tree"))
sys.path.insert(0, str(SOURCE / "tests/support"))
import test_hardened as hardened  # noqa: E402
import tidy  # noqa: E402, F401

VERSION = re.search(r'^#define TAMIS_VERSION_STRING "(.*)"',
                    (SOURCE / "include/tamis/tamis.h").read_text(), re.M)[1]
TAGS = rf"cp311-abi3-manylinux_(\d+)_(\d+)_{os.uname().machine}"
# Names with an underscore that the macros and inline functions of the stable ABI use.
PRIVATE = {"_Py_Dealloc", "_Py_DecRef", "_Py_IncRef", "_Py_NoneStruct", "_Py_TrueStruct",
           "_Py_FalseStruct", "_Py_NotImplementedStruct", "_Py_EllipsisObject"}
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wstrict-prototypes",
            "-Wmissing-prototypes", "-Wformat=2", "-Wimplicit-fallthrough", "-Werror"]
USE = """
import sys
for name in ("numpy", "pandas", "pyarrow", "dask"):
    assert name not in sys.modules
    sys.modules[name] = None  # importing it fails
import tamis
seen = tamis.Filter(items=1000, fpr=0.01)
seen.update(["a", "b"])
assert seen.contains(["a", "b", "c"])[:2] == [True, True]
assert tamis.__version__ == sys.argv[1], tamis.__version__
print(tamis.__file__)
"""


def run(*words, **options):
    """The output of a command; its output is the reason if it fails."""
    done = subprocess.run([str(word) for word in words], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    assert done.returncode == 0, f"{' '.join(map(str, words))}:\n{done.stdout}"
    return done.stdout


def same(what, wanted, got):
    wanted, got = sorted(wanted), sorted(got)
    assert wanted == got, f"{what}: missing {sorted(set(wanted) - set(got))}, " \
        f"surplus {sorted(set(got) - set(wanted))}"


def tree(*patterns):
    """Files of python/ in the tree."""
    return {str(path.relative_to(SOURCE / "python"))
            for pattern in patterns for path in (SOURCE / "python").glob(pattern)}


def python_files():
    return tree("tamis/*.py", "tamis/*.pyi", "tamis/py.typed")


def only(pattern):
    found = list(OUT.glob(pattern))
    assert len(found) == 1, f"{pattern}: {found}"
    return found[0]


def check_names():
    assert re.fullmatch(rf"tamis-{re.escape(VERSION)}-{TAGS}\.whl", only("*.whl").name)
    assert only("*.tar.gz").name == f"tamis-{VERSION}.tar.gz"


def check_wheel():
    wheel = only("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    info = f"tamis-{VERSION}.dist-info/"
    same("the wheel", {"tamis/_tamis.abi3.so", *python_files(),
                       *(info + name for name in ("METADATA", "WHEEL", "RECORD", "top_level.txt",
                                                  "LICENSE", "LICENSE.xxhash"))}, files)
    assert {"tamis/py.typed", "tamis/__init__.py"} <= set(files)
    assert files[info + "LICENSE"] == (SOURCE / "LICENSE").read_bytes()
    assert b"Redistributions in binary form must" in files[info + "LICENSE.xxhash"]
    check_metadata(files[info + "METADATA"].decode())
    tags = email.message_from_string(files[info + "WHEEL"].decode()).get_all("Tag")
    assert [f"tamis-{VERSION}-{tag}.whl" for tag in tags] == [wheel.name], tags
    record = {row[0]: row[1:] for row in csv.reader(io.StringIO(files[info + "RECORD"].decode()))}
    same("RECORD", files, record)
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).decode().rstrip("=")
        assert name == info + "RECORD" or record[name] == [f"sha256={digest}", str(len(text))], name


def check_metadata(text):
    data = email.message_from_string(text)
    for name, wanted in (("Name", "tamis"), ("Version", VERSION), ("License", "MIT"),
                         ("Requires-Python", ">=3.9"), ("Requires-Dist", None),
                         ("Description-Content-Type", "text/markdown")):
        assert data[name] == wanted, f"{name}: {data[name]}"
    assert data.get_payload().strip() == (SOURCE / "python/README.md").read_text().strip()


def check_sdist():
    top = f"tamis-{VERSION}/"
    with tarfile.open(only("*.tar.gz")) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive}
        owners = {(member.uid, member.uname, member.mtime) for member in archive}
    made = {"PKG-INFO", "setup.cfg", "tamis.egg-info/PKG-INFO", "tamis.egg-info/SOURCES.txt",
            "tamis.egg-info/dependency_links.txt", "tamis.egg-info/top_level.txt"}
    headers = {f"include/tamis/{path.name}" for path in (SOURCE / "include/tamis").glob("*.h")}
    same("the source distribution",
         {top + name for name in {"LICENSE", "LICENSE.xxhash", "library/tamis.c",
                                  "library/tamis.h", *headers, *made, *python_files(),
                                  *tree("*.toml", "*.py", "*.in", "*.map", "*.md", "src/*.[ch]")}},
         files)
    assert len(owners) == 1, f"it depends on who made it, and when: {owners}"
    for name, text in files.items():
        assert os.fsencode(SOURCE) not in text, f"{name} names a folder of this machine"


def module():
    return next((OUT / "venv").glob("lib/python3*/site-packages/tamis/_tamis.abi3.so"))


def check_manylinux():
    """The tag states the glibc that is required: exactly the newest symbol version in use. Nothing
    besides the parts of glibc is loaded."""
    needs = run("readelf", "-W", "--version-info", module())
    versions = {tuple(map(int, found)) for found in re.findall(r"GLIBC_(\d+)\.(\d+)", needs)}
    tag = tuple(map(int, re.search(TAGS, only("*.whl").name).groups()))
    assert tag == max(versions), f"the tag is {tag}, and the symbols are {sorted(versions)}"
    loaded = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-Wd", module()))
    assert set(loaded) <= {"libc.so.6", "libm.so.6", "libpthread.so.0"}, loaded


def check_symbols():
    """Only the function that Python calls is exported; only what the stable ABI has is used."""
    exported = [line.split()[-1] for line in
                run("nm", "-D", "--defined-only", module()).splitlines()]
    assert exported == ["PyInit__tamis"], exported
    used = {line.split()[-1] for line in run("nm", "-D", "--undefined-only", module()).splitlines()}
    private = {name for name in used - PRIVATE
               if name.startswith("_Py") and not name.endswith("_SizeT")}
    assert not private, f"not in the stable ABI: {private}"
    complaints = list(hardened.complaints(str(module())))
    assert not complaints, complaints


def check_alone():
    """The package works without any other, and imports none."""
    place = run(sys.executable, "-c", USE, VERSION).strip()
    assert place.startswith(sys.prefix), place


def check_install():
    """The source distribution, in an environment of its own, without a network where one can be
    taken away. It is compiled for this version of Python only, as it is for 3.9 and 3.10, and
    without optimization, which takes half a minute."""
    alone = ["unshare", "--net"]
    if subprocess.run([*alone, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        alone = []
    with tempfile.TemporaryDirectory() as room:
        run("/usr/bin/python3", "-m", "venv", "--system-site-packages", "--without-pip", room)
        run(*alone, sys.executable, "-m", "pip", f"--python={room}/bin/python", "install",
            "--no-index", "--no-build-isolation", only("*.tar.gz"),
            env={**os.environ, "CFLAGS": "-O0", "TAMIS_LIMITED_API": "0"})
        place = run(f"{room}/bin/python", "-c", USE, VERSION, cwd=room).strip()
        assert place.startswith(room), place
        names = [path.name for path in pathlib.Path(place).parent.glob("*.so")]
        assert names == ["_tamis" + sysconfig.get_config_var("EXT_SUFFIX")], names


def check_tree():
    """The folder python/ alone cannot be installed, and says what can."""
    done = subprocess.run([sys.executable, "setup.py", "--version"], cwd=SOURCE / "python",
                          text=True, capture_output=True, check=False)
    assert done.returncode != 0 and "./run build python" in done.stderr, done.stderr


def check_sources():
    """No warning, with the stable ABI and, as for Python 3.9 and 3.10, without it."""
    headers = ["-I", SOURCE / "include", "-isystem", sysconfig.get_paths()["include"]]
    files = sorted((SOURCE / "python/src").glob("*.c"))
    assert files
    for macro in (["-DPy_LIMITED_API=0x030b0000"], []):
        run("cc", *WARNINGS, *macro, *headers, "-O1", "-fsyntax-only", *files)


def main():
    failures = 0
    checks = [check for name, check in globals().items() if name.startswith("check_")]
    for check in checks:
        if check is check_metadata:  # which check_wheel calls
            continue
        try:
            check()
        except AssertionError as why:
            failures += 1
            print(f"FAILED: {check.__name__}: {why}")
    print(f"{len(checks) - 1} checks, {failures} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
