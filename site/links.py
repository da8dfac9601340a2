"""An extension of Sphinx: the links of the repository on the site. Markdown files are written for a
reader of the repository, as GitHub shows it. Here a link to a file becomes one to the page of that
file, or to the project's address if it has none, and headings get the anchors that GitHub gives
them."""
import posixpath
import re
import urllib.parse

import contents
import facts
from docutils import nodes
from sphinx.errors import SphinxError
from sphinx.transforms import SphinxTransform

PAGES = contents.pages()
PATHS = {page: path for path, page in contents.documents().items()}


def slug(title):
    """The anchor of a heading on GitHub."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def relative(page, of):
    return posixpath.relpath(f"{page}.html", posixpath.dirname(of) or ".")


def target(link, page):
    """Where a link of a page leads: on the site, or, if its file has no page, to the project."""
    path, _, anchor = link.partition("#")
    anchor = f"#{anchor}" if anchor else ""
    if not path:
        return anchor
    place = posixpath.normpath(posixpath.join(posixpath.dirname(PATHS[page]), path))
    if place in PAGES:
        return relative(PAGES[place], page) + anchor
    if not (contents.ROOT / place).exists():
        raise SphinxError(f"{PATHS[page]}: there is no {place}")
    return facts.HOMEPAGE


class SiteLinks(SphinxTransform):
    default_priority = 400

    def apply(self, **kwargs):
        page = self.env.docname
        if page not in PATHS:
            return
        self.anchors()
        for image in self.document.findall(nodes.image):
            place = posixpath.join(posixpath.dirname(PATHS[page]), image["uri"])
            image["uri"] = f"/{posixpath.normpath(place)}"
        for node in list(self.document.findall(nodes.reference)):
            if "refuri" in node and not urllib.parse.urlparse(node["refuri"]).scheme:
                self.link(node, page)

    def anchors(self):
        taken = {}
        for section in self.document.findall(nodes.section):
            name = slug(section[0].astext())
            again = taken.get(name, 0)
            taken[name] = again + 1
            section["ids"] = [f"{name}-{again}" if again else name]

    def link(self, node, page):
        node["refuri"] = target(urllib.parse.unquote(node["refuri"]), page)
        node["internal"] = True


def setup(app):
    app.add_transform(SiteLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
