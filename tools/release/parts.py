"""The parts of a release. Each is a function of a Release (release.py): it makes files in
release.out from release.tree, which is a copy of what git has, and builds below release.work."""
import os
import shutil
import subprocess

import archives
import facts

# Whose code the static command contains; their licences go with it.
LINKED = ("libc6-dev", "libbz2-dev", "libgmp-dev", "libhiredis-dev", "libidn2-dev", "liblmdb-dev",
          "liblzma-dev", "libunistring-dev", "libxxhash-dev", "libzstd-dev", "nettle-dev",
          "zlib1g-dev")
PYTHON = "/usr/bin/python3"  # that of the system, with its setuptools
OFF = ("-DTAMIS_TESTS=OFF", "-DTAMIS_BENCH=OFF", "-DTAMIS_REDIS=OFF", "-DTAMIS_SQL=OFF",
       "-DTAMIS_CUDA=OFF")


def run(*words, **options):
    """Runs a command, and shows what it printed if it fails."""
    done = subprocess.run([str(word) for word in words], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        facts.fail(f"{' '.join(map(str, words))}\n{done.stdout}failed")
    return done.stdout


def build(release, name, target, *options):
    """Configures and builds a target in work/NAME; no path of it is left in what is compiled."""
    folder = release.work / name
    same_path = f"-ffile-prefix-map={release.work}=."
    run("cmake", "-G", "Ninja", "-S", release.tree, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_C_FLAGS_RELEASE=-O3 -DNDEBUG {same_path}", *OFF, *options)
    run("cmake", "--build", folder, "--target", target)
    return folder


def templates(values, source, destination):
    """Copies a folder with the values in the place of their names. MAJOR in the name of a file is
    the major version."""
    for name, path in archives.files_below(source).items():
        to = destination / name.replace("MAJOR", values["MAJOR"]).removesuffix(".in")
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(facts.fill(path.read_text(), values))
        to.chmod(archives.mode_of(path))


def amalgamation(release):
    folder = release.work / "amalgamation"
    run(PYTHON, release.tree / "tools/amalgamate.py", folder)
    shutil.copy(release.tree / "LICENSE", folder)
    top = f"{release.name}-amalgamation"
    archives.write_zip(release.out / f"{top}.zip", top, folder, release.epoch)


def static(release):
    """The command for any Linux of this machine's processor."""
    folder = build(release, "static", "man", "-DTAMIS_STATIC_COMMAND=ON", "-DTAMIS_WEB=OFF")
    top = f"{release.name}-linux-{os.uname().machine}"
    stage = release.work / top
    run("cmake", "--install", folder, "--component", "tamis", "--strip", "--prefix", stage)
    shutil.copy(release.tree / "LICENSE", stage)
    licences = stage / "share/doc/tamis/licences"
    licences.mkdir(parents=True)
    lines = []
    for package in LINKED:
        shutil.copy(f"/usr/share/doc/{package}/copyright", licences / package)
        lines.append(run("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}\n",
                         package))
    (licences / "README").write_text(
        "The command is linked with libraries of Debian. These files are their licences. Their\n"
        "sources are at https://snapshot.debian.org/, by these names and versions, and with the\n"
        "source of Tamis everybody can link the command again:\n\n" + "".join(sorted(set(lines))))
    archives.write_tar(release.out / f"{top}.tar.xz", top, stage, release.epoch)


def vectors(release):
    """What another implementation of the format can be tested with."""
    top = f"{release.name}-vectors"
    stage = release.work / top
    shutil.copytree(release.tree / "tests/golden", stage / "golden")
    for name in ("LICENSE", "docs/FORMAT.md", "docs/KEYS.md"):
        shutil.copy(release.tree / name, stage)
    (stage / "reader").mkdir()
    support = release.tree / "tests/support"
    for path in [release.tree / "reader/tamis-reader.h", support / "siphash.py",
                 *support.glob("reader*.py")]:
        shutil.copy(path, stage / "reader")
    templates(release.values, release.tree / "packaging/vectors", stage)
    archives.write_tar(release.out / f"{top}.tar.xz", top, stage, release.epoch)


def deb(release):
    """A Debian source package and its binary packages. The files .changes and .buildinfo are left
    out, because they describe the machine that built them."""
    room, out = release.work / "deb", release.out / "deb"
    tree = room / release.name
    shutil.copytree(release.tree, tree)
    shutil.copy(release.out / f"{release.name}-src.tar.xz",
                room / f"tamis_{release.version}.orig.tar.xz")
    templates(release.values, tree / "packaging/debian", tree / "debian")
    run("dpkg-buildpackage", "-us", "-uc", cwd=tree, env={
        **os.environ, "DEB_BUILD_OPTIONS": f"noautodbgsym parallel={os.cpu_count()}"})
    out.mkdir(exist_ok=True)
    for path in room.iterdir():
        if path.suffix in (".deb", ".dsc", ".xz"):
            shutil.copy(path, out)


def npm(release):
    folder = build(release, "npm-build", "web", "-DTAMIS_CLI=OFF", "-DTAMIS_GUARD=OFF")
    out = release.out / "npm"
    out.mkdir(exist_ok=True)
    run("npm", "pack", "--silent", "--ignore-scripts", "--offline", "--cache",
        release.work / "npm-cache", "--pack-destination", out, folder / "web")


def python(release):
    made, out = release.work / "python", release.out / "python"
    out.mkdir(exist_ok=True)
    for line in run(PYTHON, release.tree / "tools/python_package.py",
                    made).splitlines():
        shutil.copy(line, out)


def recipes(release):
    """The recipes of packaging/ with the version and the sum of the source."""
    release.values["SHA256"] = release.sha256(f"{release.name}-src.tar.xz")
    release.values["SHA512"] = release.sha512(f"{release.name}-src.tar.xz")
    for name in ("homebrew", "vcpkg", "conan"):
        templates(release.values, release.tree / "packaging" / name, release.out / "recipes" / name)
