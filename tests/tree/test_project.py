#!/usr/bin/python3
"""project.conf is the only place that has the project's addresses, and each product has the values
that it sets: a copy of the tree with other values is configured, and what is made of it is read.
TAMIS_SOURCE is the tree, and TAMIS_BUILD a build of it."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["TAMIS_SOURCE"])
BUILD = pathlib.Path(os.environ["TAMIS_BUILD"])
sys.path.insert(0, str(SOURCE / "tools"))
sys.dont_write_bytecode = True
import project  # noqa: E402

URL, CONTACT = "https://elsewhere.example/sieve", "people@elsewhere.example"
LEFT_OUT = shutil.ignore_patterns(".git", "build*", "node_modules", "golden", "corpus")


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    assert done.returncode == 0, f"{words}:\n{done.stdout}"
    return done.stdout


def check_form():
    """The values need no quotes in a shell, in C, in JSON and in an expression of sed."""
    known = project.values()
    assert re.fullmatch(r"https://[a-z0-9.-]+(/[A-Za-z0-9._/-]*[A-Za-z0-9])?",
                        known["PROJECT_URL"]), known
    assert re.fullmatch(r"[a-z0-9.+-]+@[a-z0-9.-]+", known["PROJECT_CONTACT"]), known
    shell = run("sh", "-euc", '. ./project.conf; echo "$PROJECT_URL $PROJECT_CONTACT"', cwd=SOURCE)
    assert shell.split() == [known["PROJECT_URL"], known["PROJECT_CONTACT"]], shell


def check_place():
    """Nothing else in the tree contains the values."""
    known = project.values()
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = [name for name in folders if name != "node_modules"
                      and not name.startswith((".git", "build"))]
        for name in names:
            path = pathlib.Path(folder) / name
            data = path.read_bytes() if path.is_file() else b""
            found = [value for value in known.values() if value.encode() in data]
            assert not found or path == SOURCE / "project.conf", f"{path} contains {found}"


def check_products(tree, build):
    """What a tree with other values makes, without compiling more than a file."""
    (tree / "project.conf").write_text(f"PROJECT_URL={URL}\nPROJECT_CONTACT={CONTACT}\n")
    run("cmake", "--preset", "release", "-B", build,
        *(f"-DTAMIS_{part}=OFF" for part in ("TESTS", "BENCH", "WEB")), cwd=tree)
    assert re.search(rf"^URL: {URL}$", (build / "tamis.pc").read_text(), re.M)
    run(sys.executable, "-c", "import facts, parts; parts.templates("
        "facts.values_of(facts.ROOT, 0), facts.ROOT / 'packaging/debian', "
        f"facts.pathlib.Path({str(build / 'debian')!r}))", cwd=tree / "tools/release")
    control = (build / "debian/control").read_text()
    assert f"Maintainer: The Tamis authors <{CONTACT}>\n" in control
    assert f"Homepage: {URL}\n" in control
    manual = "CMakeFiles/tamis_cli_parts.dir/cli/frame/manual.c.o"
    run("cmake", "--build", build, "--target", manual)
    text = (build / manual).read_bytes()
    assert URL.encode() in text and CONTACT.encode() in text

    run(sys.executable, tree / "tools/python_package.py", "--metadata", build / "metadata")
    made, = (build / "metadata").glob("*.dist-info/METADATA")
    assert f"Home-page: {URL}\n" in made.read_text() or \
        f"Project-URL: Homepage, {URL}\n" in made.read_text(), made.read_text()
    assert f"Author-email: The Tamis authors <{CONTACT}>\n" in made.read_text(), made.read_text()

    package = build / "npm"
    package.mkdir()
    for name in ("tamis.wasm", "distinct.wasm"):
        (package / name).touch()
    run("sh", tree / "web/assemble.sh", tree, package)
    about = json.loads((package / "package.json").read_text())
    assert about["homepage"] == URL and about["author"].endswith(f"<{CONTACT}>"), about


def check_built():
    """The build of this tree has the values of this tree."""
    known = project.values()
    manual = (BUILD / "tamis.1").read_text().replace("\\-", "-")
    assert all(value in manual for value in known.values()), "tamis.1"
    assert known["PROJECT_URL"] in (BUILD / "tamis.pc").read_text()


def check_faults(room):
    """A name that is not set is an error, not an empty address."""
    tree = room / "faulty"
    (tree / "tools").mkdir(parents=True)
    shutil.copy(SOURCE / "tools/project.cmake", tree / "tools")
    (tree / "project.conf").write_text(f"PROJECT_URL={URL}\n")
    done = subprocess.run(["cmake", "-P", str(tree / "tools/project.cmake")], text=True,
                          capture_output=True, check=False)
    assert done.returncode != 0 and "PROJECT_CONTACT" in done.stderr, done.stderr
    try:
        project.filled("@PROJECT_NAME@")
    except KeyError:
        return
    raise AssertionError("a name that is not set was replaced")


def main():
    check_form()
    check_place()
    check_built()
    with tempfile.TemporaryDirectory() as name:
        room = pathlib.Path(name)
        check_faults(room)
        shutil.copytree(SOURCE, room / "tree", ignore=LEFT_OUT)
        check_products(room / "tree", room / "build")
    print("the addresses of project.conf are in all products")


main()
