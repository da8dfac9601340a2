"""Checks a built site: check.py FOLDER prints each link, anchor or resource that leads nowhere,
each that only works at the root of a server, each request to another place, and each page that the
others do not lead to."""
import html.parser
import pathlib
import posixpath
import re
import sys
import urllib.parse

# Attributes that name another resource. Those of LOADS are fetched to show the page.
LINKS = {("a", "href"), ("area", "href"), ("form", "action"), ("link", "href"), ("script", "src"),
         ("img", "src"), ("source", "src"), ("iframe", "src"), ("video", "src"), ("audio", "src"),
         ("object", "data"), ("embed", "src"), ("use", "href"), ("image", "href"),
         ("script", "data-url_root")}
FOLLOWED = {("a", "href"), ("area", "href")}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.faults = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        fields = dict(attributes)
        name = fields.get("id")
        if name is not None:
            if name in self.anchors:
                self.faults.append(f"the anchor {name} is there twice")
            if "=" in name:
                self.faults.append(f"the anchor {name} has an equals sign")
            self.anchors.add(name)
        for field, value in attributes:
            if (tag, field) in LINKS and value is not None:
                self.links.append(((tag, field), value))
            elif field in ("srcset", "background", "poster", "ping"):
                self.faults.append(f"the attribute {field} is not checked")
        if tag == "img" and "alt" not in fields:
            self.faults.append(f"an image without a text: {fields.get('src')}")
        if tag in ("base", "frame"):
            self.faults.append(f"an element {tag}")

    handle_startendtag = handle_starttag


def style_links(text):
    """What a style sheet fetches."""
    return [match[1] or match[2] for match in
            re.finditer(r"url\(\s*['\"]?([^'\")]*)['\"]?\s*\)|@import\s+['\"]([^'\"]*)", text)]


def judge(root, page, sort, link, pages):
    """What is wrong with a link, or None."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme in ("data", "mailto"):
        return None
    if parts.scheme or parts.netloc:
        if sort in FOLLOWED and parts.scheme in ("https", "http"):
            return None
        return f"fetches from elsewhere: {link}"
    if link.startswith("/"):
        return f"works only at the root of a server: {link}"
    path = urllib.parse.unquote(parts.path)
    place = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    if place == ".." or place.startswith("../"):
        return f"leaves the site: {link}"
    if (root / place).is_dir():
        if sort == ("script", "data-url_root"):
            return None
        place = posixpath.normpath(f"{place}/index.html")
    if not (root / place).is_file():
        return f"leads nowhere: {link}"
    # With an equals sign it is what an interactive page begins with, and no anchor has one.
    if parts.fragment and "=" not in parts.fragment and place in pages and \
            urllib.parse.unquote(parts.fragment) not in pages[place].anchors:
        return f"no such anchor: {link}"
    return None


def reached(page, pages):
    """The pages that one can get to from a page."""
    seen, left = set(), [page]
    while left:
        at = left.pop()
        if at in seen or at not in pages:
            continue
        seen.add(at)
        for sort, link in pages[at].links:
            path = urllib.parse.unquote(urllib.parse.urlsplit(link).path)
            place = posixpath.normpath(posixpath.join(posixpath.dirname(at), path))
            if path and sort in (*FOLLOWED, ("form", "action")):
                left += [place, posixpath.normpath(f"{place}/index.html")]
    return seen


def faults(folder):
    root = pathlib.Path(folder)
    pages = {str(path.relative_to(root)): Page(path.read_text(encoding="utf-8"))
             for path in sorted(root.rglob("*.html"))}
    found = []
    for name, page in pages.items():
        found += [f"{name}: {fault}" for fault in page.faults]
        for sort, link in page.links:
            fault = judge(root, name, sort, link, pages)
            if fault:
                found.append(f"{name}: {fault}")
    for path in sorted(root.rglob("*.css")):
        name = str(path.relative_to(root))
        for link in style_links(path.read_text(encoding="utf-8")):
            fault = judge(root, name, ("link", "href"), link, pages)
            if fault:
                found.append(f"{name}: {fault}")
    lost = set(pages) - reached("index.html", pages) - {"404.html"}
    return sorted(set(found)) + [f"{name}: no page leads to it" for name in sorted(lost)]


if __name__ == "__main__":
    wrong = faults(sys.argv[1])
    print("\n".join(wrong) or "every link leads somewhere")
    sys.exit(bool(wrong))
