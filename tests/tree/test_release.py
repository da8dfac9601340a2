"""What ./run release has made of this tree: each file is there, and does what it is for. The test
release_made (tests/CMakeLists.txt) makes it, in build/release-test; tests/tree/test_package.sh
tests its Debian packages. TAMIS_SOURCE is the tree, TAMIS_BUILD a build of it."""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

SOURCE = pathlib.Path(os.environ["TAMIS_SOURCE"])
HEADER = (SOURCE / "include/tamis/tamis.h").read_text()
VERSION = re.search(r'^#define TAMIS_VERSION_STRING "(.*)"', HEADER, re.M)[1]
MADE = pathlib.Path(os.environ["TAMIS_BUILD"]) / "release-test" / VERSION
NAME = f"tamis-{VERSION}"
MACHINE = os.uname().machine


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    assert done.returncode == 0, f"{words}:\n{done.stdout}"
    return done.stdout


def tracked():
    """The files that git knows and that are there."""
    names = run("git", "-C", SOURCE, "ls-files", "-z").split("\0")
    return {name for name in names if name and (SOURCE / name).is_file()}


def check_sums():
    """SHA256SUMS has each file, and sha256sum and signify read it."""
    files = {str(path.relative_to(MADE)) for path in MADE.rglob("*") if path.is_file()}
    text = (MADE / "SHA256SUMS").read_text()
    listed = re.findall(r"^SHA256 \((.*)\) = [0-9a-f]{64}$", text, re.M)
    assert len(listed) == len(text.splitlines()) and set(listed) == files - {"SHA256SUMS"}
    run("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS", cwd=MADE)
    for name in (f"{NAME}-src.tar.xz", f"{NAME}-amalgamation.zip", f"{NAME}-vectors.tar.xz",
                 f"{NAME}-linux-{MACHINE}.tar.xz", f"{NAME}.spdx.json", f"npm/{NAME}.tgz",
                 f"python/{NAME}.tar.gz", "recipes/homebrew/tamis.rb",
                 "recipes/vcpkg/portfile.cmake", "recipes/vcpkg/vcpkg.json",
                 "recipes/conan/conanfile.py", "recipes/conan/conandata.yml"):
        assert name in files, f"{name} is missing: {sorted(files)}"
    assert sum(name.endswith(".whl") for name in files) == 1


def check_signature(room):
    """As CONTRIBUTING.md describes it: signed by tamis, and checked by tamis and by signify."""
    tamis = os.environ["TAMIS"]
    (room / "SHA256SUMS").write_bytes((MADE / "SHA256SUMS").read_bytes())
    run(tamis, "key", "new", "--sign", "release.sec", cwd=room)
    run(tamis, "sign", "--seckey", "release.sec", "SHA256SUMS", cwd=room)
    run(tamis, "verify", "--pubkey", "release.sec.pub", "SHA256SUMS", cwd=room)
    run("signify-openbsd", "-V", "-p", "release.sec.pub", "-m", "SHA256SUMS", cwd=room)


def check_source(room):
    with tarfile.open(MADE / f"{NAME}-src.tar.xz") as archive:
        members = [member for member in archive if not member.isdir()]
        assert {m.name for m in members} == {f"{NAME}/{name}" for name in tracked()}
        assert all((m.uname, m.gname, m.mode & 0o77) in (("root", "root", 0o44),
                                                         ("root", "root", 0o55)) for m in members)
        archive.extractall(room / "source")
    for name in tracked():
        assert (room / "source" / NAME / name).read_bytes() == (SOURCE / name).read_bytes(), name


def check_amalgamation(room):
    with zipfile.ZipFile(MADE / f"{NAME}-amalgamation.zip") as archive:
        names = sorted(archive.namelist())
        archive.extractall(room)
    folder = room / f"{NAME}-amalgamation"
    assert names == [f"{folder.name}/{n}" for n in ("LICENSE", "tamis.c", "tamis.h")], names
    run("cc", "-std=c11", "-O1", "-fsyntax-only", "tamis.c", cwd=folder)


class Empty:
    """A system that has nothing but the static command, if this test may enter one."""

    def __init__(self, folder):
        self.enter = ["chroot", folder]
        if os.getuid() != 0:
            self.enter = ["unshare", "--map-root-user", *self.enter]

    def tamis(self, *words, **options):
        return run(*self.enter, "/tamis", *words, env={"PATH": "/usr/sbin:/usr/bin"}, **options)


def check_static(room):
    top = f"{NAME}-linux-{MACHINE}"
    with tarfile.open(MADE / f"{top}.tar.xz") as archive:
        names = archive.getnames()
        archive.extractall(room)
    for name in ("bin/tamis", "LICENSE", "share/man/man1/tamis.1", "share/fish/vendor_completions.d"
                 "/tamis.fish", "share/zsh/site-functions/_tamis",
                 "share/bash-completion/completions/tamis", "share/doc/tamis/licences/README",
                 "share/doc/tamis/licences/libgmp-dev"):
        assert f"{top}/{name}" in names, (name, names)
    program = room / top / "bin/tamis"
    assert "INTERP" not in run("readelf", "-Wl", program), "it is not static"
    assert re.search(r"Type: +DYN", run("readelf", "-Wh", program)), "it is at a fixed place"
    system = room / "empty"
    system.mkdir()
    os.link(program, system / "tamis")
    (system / "lines").write_text("".join(f"{i}\n" for i in range(1000)))
    empty = Empty(system)
    assert empty.tamis("--version") == (
        f"tamis {VERSION}\nThis build lacks:\n"
        "  guard serve and guard fetch, for which libraries are loaded\n"
        "  sets at rediss:// addresses\n"
        "  names of hosts that are neither in /etc/hosts nor known to a DNS server\n")
    empty.tamis("build", "-o", "/lines.tamis", "/lines")
    assert empty.tamis("check", "/lines.tamis", input="77\nzebra\n") == "77\n"
    empty.tamis("key", "new", "--sign", "/key.sec")
    empty.tamis("sign", "--seckey", "/key.sec", "/lines.tamis")
    empty.tamis("verify", "--pubkey", "/key.sec.pub", "/lines.tamis")
    run("signify-openbsd", "-V", "-p", "key.sec.pub", "-m", "lines.tamis", cwd=system)
    check_static_guard(program, system)


def check_static_guard(program, room):
    """The guard needs /proc, which an empty system lacks. What loads libraries fails with the
    reason."""
    (room / "list").write_text("bad.example\n")
    run(program, "guard", "build", "-q", "guard", "bad=list", cwd=room)
    assert "bad.example" in run(program, "guard", "check", "guard", "http://bad.example/", cwd=room)
    for words in (("serve", "guard"), ("fetch", "new", "a=http://[::1]:9/")):
        done = subprocess.run([program, "guard", *words], cwd=room, capture_output=True, text=True,
                              check=False, timeout=60)
        assert done.returncode == 2 and "is linked statically" in done.stderr, done


def check_vectors(room):
    top = f"{NAME}-vectors"
    with tarfile.open(MADE / f"{top}.tar.xz") as archive:
        archive.extractall(room)
    golden = {name for name in tracked() if name.startswith("tests/golden/")}
    for name in golden:
        there = room / top / name.removeprefix("tests/")
        assert there.read_bytes() == (SOURCE / name).read_bytes(), name
    printed = run("/usr/bin/python3", "check.py", cwd=room / top)
    assert re.fullmatch(r"\d\d,\d{3} answers, 0 of them wrong\n", printed), printed
    about = (room / top / "README.md").read_text()
    assert f"Tamis {VERSION}\n" in about and "@" not in about


def check_recipes():
    """The values are those of this release, and nothing is left to fill in."""
    source = (MADE / f"{NAME}-src.tar.xz").read_bytes()
    sha256, sha512 = (hashlib.new(name, source).hexdigest() for name in ("sha256", "sha512"))
    for name, wanted in (("homebrew/tamis.rb", sha256), ("conan/conandata.yml", sha256),
                         ("vcpkg/portfile.cmake", sha512)):
        text = (MADE / "recipes" / name).read_text()
        assert wanted in text and f"tamis-{VERSION}-src.tar.xz" in text, name
    for path in (MADE / "recipes").rglob("*.*"):
        text = path.read_text()
        assert not re.search(r"@[A-Z]\w*@", text), path
        assert path.suffix in (".json", ".yml") or "Not tested:" in text, path
    compile((MADE / "recipes/conan/conanfile.py").read_text(), "conanfile.py", "exec")
    assert json.loads((MADE / "recipes/vcpkg/vcpkg.json").read_text())["version"] == VERSION


def check_bill():
    """The SPDX document has the form that the specification of 2.3 asks for, and its sums are
    those of the files."""
    bill = json.loads((MADE / f"{NAME}.spdx.json").read_text())
    assert bill["spdxVersion"] == "SPDX-2.3" and bill["dataLicense"] == "CC0-1.0"
    assert bill["SPDXID"] == "SPDXRef-DOCUMENT" and bill["name"] == NAME
    assert re.fullmatch(r"https?://[^#\s]+", bill["documentNamespace"]), bill["documentNamespace"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bill["creationInfo"]["created"])
    assert all(re.match(r"(Tool|Organization|Person): \S", c)
               for c in bill["creationInfo"]["creators"])
    elements = [bill, *bill["packages"], *bill["files"]]
    ids = [element["SPDXID"] for element in elements]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", i)
                                             for i in ids)
    for relation in bill["relationships"]:
        assert relation["spdxElementId"] in ids and relation["relatedSpdxElement"] in ids
        assert relation["relationshipType"] in ("DESCRIBES", "GENERATED_FROM", "CONTAINS",
                                                "STATIC_LINK"), relation
    check_licences(bill)
    check_bill_source(bill)
    named = set()
    for package in bill["packages"]:
        assert {"name", "SPDXID", "downloadLocation", "versionInfo"} <= set(package), package
        name = package.get("packageFileName")
        if name:
            named.add(name)
            sums = {c["algorithm"]: c["checksumValue"] for c in package["checksums"]}
            data = (MADE / name).read_bytes()
            assert sums["SHA256"] == hashlib.sha256(data).hexdigest(), name
    assert named == {str(path.relative_to(MADE)) for path in MADE.rglob("*") if path.is_file()
                     and path.name not in ("SHA256SUMS", f"{NAME}.spdx.json")
                     and "recipes" not in path.parts}
    static = next(p["SPDXID"] for p in bill["packages"]
                  if "-linux-" in p.get("packageFileName", ""))
    linked = {r["relatedSpdxElement"] for r in bill["relationships"]
              if r["spdxElementId"] == static and r["relationshipType"] == "STATIC_LINK"}
    names = {p["name"] for p in bill["packages"] if p["SPDXID"] in linked}
    assert {"glibc", "gmp", "nettle", "xxhash", "zlib"} <= names, names


def check_licences(bill):
    own = {licence["licenseId"] for licence in bill["hasExtractedLicensingInfos"]}
    for element in [*bill["packages"], *bill["files"]]:
        for licence in re.split(r" AND | OR ", element["licenseConcluded"]):
            assert licence in own or re.fullmatch(r"[A-Za-z0-9.-]+", licence), licence
            assert licence in own or not licence.startswith("LicenseRef-"), licence


def check_bill_source(bill):
    """The source package, whose files are listed, and their sum over all sums."""
    source, = [p for p in bill["packages"] if p["SPDXID"] in bill["documentDescribes"]]
    assert source["filesAnalyzed"] and source["hasFiles"] == [f["SPDXID"] for f in bill["files"]]
    assert {file["fileName"] for file in bill["files"]} == {f"./{name}" for name in tracked()}
    sha1 = []
    for file in bill["files"]:
        sums = {c["algorithm"]: c["checksumValue"] for c in file["checksums"]}
        data = (SOURCE / file["fileName"]).read_bytes()
        for name, value in sums.items():
            assert value == hashlib.new(name.lower(), data).hexdigest(), file
        sha1.append(sums["SHA1"])
    assert source["packageVerificationCode"]["packageVerificationCodeValue"] == \
        hashlib.sha1("".join(sorted(sha1)).encode()).hexdigest()


def check_npm(room):
    with tarfile.open(MADE / f"npm/{NAME}.tgz") as archive:
        archive.extractall(room / "npm")
    (room / "npm/try.mjs").write_text(
        "import * as tamis from './package/node.mjs';\nif (!Object.keys(tamis).length) throw 1;\n")
    run("node", "try.mjs", cwd=room / "npm")


def check_refusals():
    """What git does not have would be left out in silence, so it is refused."""
    with tempfile.TemporaryDirectory() as name:
        clone = pathlib.Path(name) / "clone"
        run("git", "clone", "--quiet", "--depth", "1", f"file://{SOURCE}", clone)
        for change in ("new", "README.md"):
            (clone / change).write_text("changed\n")
            done = subprocess.run([sys.executable, SOURCE / "tools/release/release.py", "src"],
                                  capture_output=True, text=True, check=False)
            assert done.returncode == 2 and "no part 'src'" in done.stderr, done
            release = clone / "tools/release/release.py"
            release.parent.mkdir(parents=True, exist_ok=True)
            if not release.exists():  # not committed yet
                return
            done = subprocess.run([sys.executable, release, "vectors"], capture_output=True,
                                  text=True, check=False)
            assert done.returncode == 1 and "not committed" in done.stderr and \
                change in done.stderr, done
            run("git", "-C", clone, "clean", "-qfd")
            run("git", "-C", clone, "checkout", "-q", ".")


def main():
    if not (MADE / "SHA256SUMS").exists():
        print(f"{MADE} has no release; the test release_made makes it")
        return 77
    check_sums()
    check_recipes()
    check_bill()
    check_refusals()
    for check in (check_signature, check_source, check_amalgamation, check_static, check_vectors,
                  check_npm):
        with tempfile.TemporaryDirectory() as room:
            check(pathlib.Path(room))
    print("each part of the release is whole and of use")
    return 0


if __name__ == "__main__":
    sys.exit(main())
