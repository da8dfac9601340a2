"""Builds the web site: build.py BUILD OUT. BUILD is a build of the project, whose manual page and
WebAssembly modules the site shows; OUT is the folder to be made. Called by ./run site.

The pages are gathered below BUILD/site-pages, turned into HTML by Sphinx, and joined by the
programs of site/apps. At the end every link is checked."""
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check  # noqa: E402
import contents  # noqa: E402
import facts  # noqa: E402
import headers  # noqa: E402
import links  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
# What Sphinx adds and no page uses.
UNUSED = ("_sources", "objects.inv", "genindex.html", ".buildinfo", "_static/basic.css",
          "_static/jquery.js", "_static/underscore.js", "_static/pygments.css",
          "_static/_sphinx_javascript_frameworks_compat.js", "_static/plus.png",
          "_static/minus.png", "_static/file.png")


def palette():
    """The colours of the guard's page, light and dark, so that all pages of the project agree."""
    style = (contents.ROOT / "web/page/style.css").read_text()
    end = style.index("* { box-sizing")
    return style[style.index(":root"):end]


def lost_page():
    """What a server sends for an address that it does not have. Nobody knows at which depth that
    is, so the page has its style within and no link except to the project's own address."""
    home = f'<p><a href="{facts.HOMEPAGE}">The project</a></p>'
    return (HERE / "404.html").read_text().replace("/* palette */", palette()) \
        .replace("<!-- home -->", home)


def contents_page():
    """The root of the tree of pages; theme/front.html is what it shows."""
    groups = "\n".join(
        f"```{{toctree}}\n:caption: {caption}\n:hidden:\n\n" +
        "".join(f"{contents.TITLES[name]} <{name}>\n" if name in contents.TITLES else f"{name}\n"
                for name in names) + "```\n" for caption, names in contents.groups())
    return f"# Tamis\n\n{groups}"


def short_title(pages, page):
    """The title of a page of coming-from, without what its group is called already."""
    return (pages / f"{page}.md").read_text().split("\n")[0].removeprefix("# Coming from ")


def gather(build, pages):
    shutil.rmtree(pages, ignore_errors=True)
    for folder in ("docs", "benchmarks", "coming-from", "reference", "examples", "site/pages"):
        (pages / folder).mkdir(parents=True)
    for path, page in contents.documents().items():
        (pages / f"{page}.md").write_text((contents.ROOT / path).read_text())
    coming = sorted(page for page in contents.documents().values()
                    if page.startswith("coming-from/") and page != "coming-from/index")
    with open(pages / "coming-from/index.md", "a") as index:
        index.write("\n```{toctree}\n:hidden:\n\n"
                    + "".join(f"{short_title(pages, page)} </{page}>\n" for page in coming)
                    + "```\n")
    for image in [*(contents.ROOT / "docs").glob("*.svg"), *(contents.ROOT / "docs").glob("*.png")]:
        shutil.copy(image, pages / "docs")
    licence = (contents.ROOT / "LICENSE").read_text()
    (pages / "LICENSE.md").write_text(f"# Licence\n\n```text\n{licence}```\n")
    (pages / "reference/tamis.1.md").write_text(manual(build))
    (pages / "index.md").write_text(contents_page())
    headers.write(pages)


def manual(build):
    """The manual page, with a heading for each of its sections and commands."""
    text = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", build / "tamis.1"],
                          check=True, capture_output=True, text=True).stdout
    text = text[text.index('<div class="manual-text">'):text.index('<table class="foot">')]
    text = re.sub(r"</?section[^>]*>\n?|^<div class=\"manual-text\">\n|</div>\s*$", "", text)
    parts = re.split(r'<h([12]) class="S[hs]"[^>]*><a[^>]*>(.*?)</a></h[12]>\n', text, flags=re.S)
    titles = [" ".join(title.split()) for title in parts[2::3]]
    page = ["# tamis(1)\n"]
    for level, title, body in zip(parts[1::3], titles, parts[3::3]):
        for name in titles:  # Sphinx makes the anchors of the headings
            body = body.replace(f' id="{links.slug(name)}"', "")
        page.append(f"{'##' if level == '1' else '###'} "
                    f"{title.capitalize() if level == '1' else title}\n")
        if body.strip():
            page.append(f'````{{raw}} html\n<div class="manual">\n{body}</div>\n````\n')
    return "\n".join(page)


def sphinx(pages, out):
    # Sphinx keeps nothing from run to run: pages depend on files that it does not know.
    done = subprocess.run([sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-E",
                           "-j", "2", "-b", "html", "-c", HERE, "-d", pages.parent
                           / "site-doctrees", pages, out], check=False)
    if done.returncode:
        sys.exit("the site was not built")
    for name in UNUSED:
        path = out / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def main():
    build, out = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    pages = build / "site-pages"
    shutil.rmtree(out, ignore_errors=True)
    gather(build, pages)
    sphinx(pages, out)
    (out / "_static/palette.css").write_text(palette())
    shutil.copy(contents.ROOT / "web/page/icon.svg", out / "_static")
    (out / "404.html").write_text(lost_page())
    subprocess.run(["sh", HERE / "apps/assemble.sh", build, out], check=True)
    wrong = check.faults(out)
    if wrong:
        sys.exit("\n".join(wrong))


main()
