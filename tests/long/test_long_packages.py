"""The Debian packages and the OCI image in systems of their own, with nothing of this machine: in a
minimal Debian 12, the packages find their dependencies, each test of packaging/debian/tests passes,
and nothing is left when they are purged; the image of packaging/oci/build.sh is unpacked, and its
server answers. The test release_made (tests/CMakeLists.txt) makes the packages.

Needs root, because other users are needed in these systems, and the mirrors of this machine.
TAMIS_SOURCE is the tree, and TAMIS_BUILD a build of it."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

SOURCE = pathlib.Path(os.environ["TAMIS_SOURCE"])
FIRST = pathlib.Path(os.environ["TAMIS_BUILD"]) / "release-test"
SERVE = """set -eu
mount -t proc proc "$1/proc"
mount -t tmpfs -o mode=1777 shm "$1/dev/shm"
root=$1
shift
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=/root AUTOPKGTEST_TMP=/tmp/test \\
    chroot "$root" "$@"
"""


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    assert done.returncode == 0, f"{words}:\n{done.stdout}"
    return done.stdout


def inside(root, *words, **options):
    """Runs a command in another system; what it leaves running ends with it."""
    return run("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", SERVE, "sh",
               root, *words, **options)


def sources():
    """The repositories that apt uses here."""
    return "".join(sorted(set(run(
        "apt-get", "indextargets", "--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)",
        "Identifier: Packages", "Origin: Debian").splitlines(keepends=True))))


def dependencies(packages):
    """What the packages and their tests depend on, without themselves and versions."""
    fields = [run("dpkg-deb", "-f", package, "Depends", "Recommends") for package in packages]
    fields.append((SOURCE / "packaging/debian/tests/control").read_text())
    found = set()
    for line in "\n".join(fields).splitlines():
        if re.match("(Depends|Recommends):", line):
            found |= {re.split(r"[ :(|]", name.strip())[0] for name in line.split(":", 1)[1]
                      .split(",")}
    return found - {package.name.split("_")[0] for package in packages}


def names_in(root):
    """Files and folders of Tamis."""
    return run("find", root, "-xdev", "-name", "*tamis*", "!", "-path", "*/var/log/*")


def check_packages(room, folder):
    packages = sorted(folder.glob("*.deb"))
    (room / "sources").write_text(sources())
    root = room / "root"
    run("mmdebstrap", "--quiet", "--mode=root", "--variant=essential",
        f"--include={','.join(sorted(dependencies(packages)))}", "bookworm", root, room / "sources")
    (root / "debs").mkdir()
    for package in packages:
        shutil.copy(package, root / "debs")
    inside(root, "sh", "-c", "dpkg --install /debs/*.deb && rm -r /debs")
    source = root / "source/tree"
    source.parent.mkdir()
    run("dpkg-source", "-x", *folder.glob("*.dsc"), source)
    control = (source / "debian/tests/control").read_text()
    tests = re.findall(r"^Tests: (\w+)$", control, re.M)
    assert len(tests) >= 7 and all((source / "debian/tests" / name).exists() for name in tests)
    for name in tests:
        inside(root, "sh", "-c", f"rm -rf /tmp/test && mkdir /tmp/test && cd /source/tree && "
               f"exec debian/tests/{name}")
        print(f"{name} passes")
    shutil.rmtree(source.parent)
    shutil.rmtree(root / "tmp/test")
    assert names_in(root) != ""
    inside(root, "sh", "-c", "dpkg --purge " + " ".join(p.name.split("_")[0] for p in packages))
    assert names_in(root) == "", names_in(root)
    print("the packages are installed, used and purged")


def check_image(room, folder):
    layout = room / "image"
    run("sh", SOURCE / "packaging/oci/build.sh", folder, layout, "test")
    index = json.loads((layout / "index.json").read_text())
    assert [m["annotations"]["org.opencontainers.image.ref.name"] for m in index["manifests"]] \
        == ["test"], index
    run("umoci", "unpack", "--image", f"{layout}:test", room / "bundle")
    process = json.loads((room / "bundle/config.json").read_text())["process"]
    root = room / "bundle/rootfs"
    for name in ("hostname", "resolv.conf", "apt/sources.list"):
        assert not (root / "etc" / name).exists(), f"the image has {name} of this machine"
    user = process["user"]
    assert user["uid"] != 0 and process["cwd"] == "/data", process
    server = subprocess.Popen(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", SERVE, "sh",
         str(root), "setpriv", f"--reuid={user['uid']}", f"--regid={user['gid']}", "--clear-groups",
         *process["args"], "--port", "0", "--unixsocket", "/data/socket"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        def ask(*words):
            return run("redis-cli", "-s", root / "data/socket", *words).strip()
        give_up = time.monotonic() + 60
        while not (root / "data/socket").exists() and server.poll() is None and \
                time.monotonic() < give_up:
            time.sleep(0.1)
        assert server.poll() is None, server.stdout.read()
        assert (ask("BF.ADD", "seen", "a"), ask("BF.EXISTS", "seen", "zebra")) == ("1", "0")
        ask("SAVE")
        assert (root / "data/dump.rdb").exists(), "data is not kept in the volume"
    finally:
        server.kill()
        server.wait()
    print("the image's server answers")


def main():
    for tool in ("mmdebstrap", "umoci", "dpkg-source", "redis-cli"):
        if not shutil.which(tool):
            print(f"{tool} is not installed")
            return 77
    made = list(FIRST.glob("*/deb"))
    if os.getuid() != 0 or not made:
        print("this needs root, and a release in", FIRST)
        return 77
    with tempfile.TemporaryDirectory() as room:
        check_packages(pathlib.Path(room), made[0])
    with tempfile.TemporaryDirectory() as room:
        check_image(pathlib.Path(room), made[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
