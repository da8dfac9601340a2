"""The web site: it builds, every link and anchor of it leads somewhere, it works below any path and
fetches nothing from elsewhere, every document and every name of the headers is in it, and the check
of all this finds each fault. Leaves the site in BUILD/site-test, for the test in Chromium."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE",
                                     pathlib.Path(__file__).parent.parent.parent)).resolve()
BUILD = pathlib.Path(os.environ.get("TAMIS_BUILD", SOURCE / "build")).resolve()
SITE = BUILD / "site-test"
sys.path.insert(0, str(SOURCE / "site"))
import check  # noqa: E402
import contents  # noqa: E402

GOOD = ('<!DOCTYPE html><title>a</title><link rel="stylesheet" href="a.css"><h1 id="one">a</h1>'
        '<a href="sub/b.html#two">b</a><img src="a.svg" alt=""><a href="https://a.example/">c</a>')
# What replaces the link to b, and what must be reported.
FAULTS = {
    '<a href="sub/c.html">': "leads nowhere",
    '<a href="sub/b.html#three">': "no such anchor",
    '<a href="#two">': "no such anchor",
    '<a href="/sub/b.html">': "works only at the root",
    '<a href="../a.html">': "leaves the site",
    '<a href="javascript:a()">': "fetches from elsewhere",
    '<a href="sub/b.html" id="one">': "is there twice",
    '<a href="sub/b.html" id="a=b">': "has an equals sign",
    '<script src="https://a.example/a.js"></script><a href="sub/b.html">': "from elsewhere",
    '<script src="//a.example/a.js"></script><a href="sub/b.html">': "from elsewhere",
    '<img src="b.svg" alt=""><a href="sub/b.html">': "leads nowhere",
    '<img src="a.svg"><a href="sub/b.html">': "an image without a text",
    '<img srcset="b.svg" alt="" src="a.svg"><a href="sub/b.html">': "srcset is not checked",
    '<base href="sub/"><a href="sub/b.html">': "an element base",
    '<a href="#one">': "sub/b.html: no page leads to it",
}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def check_the_check():
    with tempfile.TemporaryDirectory() as room:
        room = pathlib.Path(room)
        (room / "sub").mkdir()
        (room / "a.svg").write_text("<svg/>")
        (room / "sub/b.html").write_text('<p id="two"><a href="../index.html#one">a</a>'
                                          '<a href="../index.html#items=1">b</a>')
        (room / "a.css").write_text('a { background: url("a.svg"), url(data:,) }')
        (room / "index.html").write_text(GOOD)
        assert check.faults(room) == [], check.faults(room)
        for change, report in FAULTS.items():
            (room / "index.html").write_text(GOOD.replace('<a href="sub/b.html#two">', change))
            found = check.faults(room)
            assert any(report in fault for fault in found), (change, found)
        (room / "index.html").write_text(GOOD)
        for style in ("url(b.svg)", "url('https://a.example/a.woff')"):
            (room / "a.css").write_text(f"a {{ background: {style} }}")
            assert len(check.faults(room)) == 1, style
        (room / "a.css").write_text('@import "https://a.example/a.css";')
        assert "from elsewhere" in check.faults(room)[0]


def built():
    """Builds the site in a folder of its own. --keep takes the one of the last run."""
    if "--keep" not in sys.argv:
        done = subprocess.run([sys.executable, SOURCE / "site/build.py", BUILD, SITE],
                              capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, done.stdout + done.stderr
    assert check.faults(SITE) == []


def check_documents():
    """Every document is a page, in the search and in the list beside each page."""
    search = (SITE / "searchindex.js").read_text()
    side = (SITE / "search.html").read_text()
    assert search.startswith("Search.setIndex("), "the index cannot be loaded as a script"
    for path, page in contents.documents().items():
        assert (SITE / f"{page}.html").exists(), path
        assert f'"{page}"' in search, path
        if not page.startswith("coming-from/") or page.endswith("index"):
            assert f'href="{page}.html"' in side, path
    for path in (SOURCE / "docs").rglob("*.md"):
        assert str(path.relative_to(SOURCE)) in contents.documents(), path


def check_anchors():
    """Headings have the anchors that they have on GitHub, also when two are equal."""
    for path, page in contents.documents().items():
        text = re.sub(r"^ *```.*?^ *```", "", (SOURCE / path).read_text(), flags=re.M | re.S)
        anchors = check.Page((SITE / f"{page}.html").read_text()).anchors
        seen = {}
        for title in re.findall(r"^#+ (.*)$", text, re.M):
            plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title.replace("`", ""))
            name = re.sub(r"[^\w -]", "", plain.lower().replace("**", "")).replace(" ", "-")
            again = seen.get(name, 0)
            seen[name] = again + 1
            anchor = f"{name}-{again}" if again else name
            assert anchor in anchors, (path, title, anchor)


def declared():
    """What the compiler knows of the public headers: {name} of functions, types and constants."""
    headers = [path for path in contents.headers() if path.endswith(".h")]
    text = "".join(f'#include "{SOURCE / path}"\n' for path in headers if "reader" not in path)
    names = set()
    for source in (text, f'#include "{SOURCE}/reader/tamis-reader.h"\n'):
        common = ["clang", "-std=c11", "-x", "c", f"-I{SOURCE}/include", "-"]
        tree = subprocess.run([*common, "-fsyntax-only", "-Xclang", "-ast-dump=json"],
                              input=source, capture_output=True, text=True, check=True).stdout
        macros = subprocess.run([*common, "-E", "-dM"], input=source, capture_output=True,
                                text=True, check=True).stdout
        names |= set(re.findall(r"#define (TAMIS_\w+)(?<!_H)\b", macros))

        def walk(node, names=names):
            if node.get("kind") in ("FunctionDecl", "TypedefDecl", "RecordDecl", "EnumDecl",
                                    "EnumConstantDecl"):
                names.add(node.get("name", ""))
            for child in node.get("inner", ()):
                walk(child)
        walk(json.loads(tree))
    return {name for name in names if re.match(r"tamis(_|$)|TAMIS_", name)}


def check_reference():
    """Every name that the compiler knows has an anchor where it is declared and is in the index,
    and so has what the C++ header promises."""
    anchors, search = {}, (SITE / "searchindex.js").read_text()
    for path, page in contents.headers().items():
        for anchor in check.Page((SITE / f"{page}.html").read_text()).anchors:
            anchors.setdefault(anchor, []).append(path)
    names = declared()
    assert len(names) > 200, len(names)
    index = (SITE / "reference/names.html").read_text()
    for name in sorted(names):
        assert name in anchors, f"{name} has no anchor"
        assert f'.html#{name}"' in index, f"{name} is not in the list of names"
        assert f'"{name}"' in search or f"{name}:" in search, f"{name} is not in the search"
    exported = subprocess.run(["nm", "-D", "--defined-only", BUILD / "libtamis.so"], check=True,
                              capture_output=True, text=True).stdout
    functions = set(re.findall(r" T (tamis_\w+)", exported))
    assert len(functions) > 100 and functions <= set(anchors), functions - set(anchors)
    for name in ("filter", "sketch", "handle.may_contain", "filter.exclude", "sketch.top", "plan"):
        assert any(path.endswith(".hpp") for path in anchors.get(name, ())), name


def check_manual():
    """Every section of the manual page and every command is a heading of its page."""
    page = (SITE / "reference/tamis.1.html").read_text()
    wanted = re.findall(r"^\.S([HS]) (.*)$", (BUILD / "tamis.1").read_text(), re.M)
    assert len(wanted) > 30, wanted
    for level, title in wanted:
        plain = title.replace("\\-", "-").strip('"')
        heading = f"<h2>{plain.capitalize()}<" if level == "H" else f"<h3>{plain}<"
        assert heading in page, heading


def check_texts():
    """Nothing of the place where the site was built is in it; a page without a place has no link;
    only the search runs scripts."""
    for path in SITE.rglob("*"):
        if path.suffix in (".html", ".css", ".js", ".mjs", ".svg"):
            text = path.read_text(encoding="utf-8")
            for place in (str(SOURCE), str(BUILD)):
                assert place not in text, (path, place)
    lost = (SITE / "404.html").read_text()
    assert "--paper:" in lost and "<style>" in lost and "<script" not in lost
    assert not re.search(r'(?:href|src)="(?!data:|https://)', lost)
    for page in contents.documents().values():
        assert "<script" not in (SITE / f"{page}.html").read_text(), page


def check_languages():
    """Each block of docs/coming-from is run by a test, or is marked as one of another program."""
    run = {"console", "c", "cpp", "python", "redis", "sql"}
    theirs = {"java", "py", "c++", "postgres"}
    pages = sorted((SOURCE / "docs/coming-from").glob("*.md"))
    assert len(pages) >= 6
    for path in pages:
        fences = re.findall(r"^```(.*)$", path.read_text(), re.M)[::2]
        assert set(fences) <= run | theirs, (path, set(fences) - run - theirs)
        assert path.name == "README.md" or set(fences) & run, path


def main():
    for tool in ("mandoc", "clang", "nm"):
        if not shutil.which(tool):
            skip(f"there is no {tool}")
    if subprocess.run([sys.executable, "-c", "import sphinx, myst_parser"],
                      capture_output=True).returncode:
        skip("there is no Sphinx with MyST (Debian: python3-sphinx python3-myst-parser)")
    if not (BUILD / "web/package.json").exists():
        skip("built without TAMIS_WEB")
    check_the_check()
    check_languages()
    built()
    for part in (check_documents, check_anchors, check_reference, check_manual, check_texts):
        part()
    print(f"{len(list(SITE.rglob('*.html')))} pages are as they should be")


main()
