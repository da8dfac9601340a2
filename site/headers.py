"""Pages of the reference. The comments of the headers are the manual, so a page shows a header as
it is, in its sections and in colours; names lead to where they are declared. Names of the Markdown
pages are found in the search as functions, types and constants."""
import html
import re

import contents
import links
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CLexer, CppLexer

CAPTIONS = {"function": "functions", "type": "types", "constant": "constants", "class": "classes"}


def without_comments(text):
    """The text with its comments and strings as blanks, every line where it was."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", blank, text, flags=re.S)


def c_names(code):
    """(name, sort, offset) of each declaration of a C header."""
    for match in re.finditer(r"^(?:TAMIS_API|tamis_\w+|static inline|const char|bool)\b[^;{}]*?"
                             r"\b(tamis_[a-z0-9_]+)\(", code, re.M):
        yield match[1], "function", match.start(1)
    for match in re.finditer(r"^(?:typedef )?(?:struct|union|enum) (tamis_\w+)\s*\{", code, re.M):
        yield match[1], "type", match.start(1)
    for match in re.finditer(r"^typedef struct (tamis\w*) \1;", code, re.M):
        yield match[1], "type", match.start(1)
    for match in re.finditer(r"^typedef [^;{}]*?\(\*(tamis_\w+)\)\(|^\}\s*(tamis_\w+);"
                             r"|^typedef \w+ (tamis_\w+);", code, re.M):
        group = match.lastindex
        yield match[group], "type", match.start(group)
    for match in re.finditer(r"^#define (TAMIS_\w+)(?<!_H)\b", code, re.M):
        yield match[1], "constant", match.start(1)
    for body in re.finditer(r"\benum\b[^{;]*\{(.*?)\}", code, re.S):
        for match in re.finditer(r"\b(TAMIS_\w+)\b(?=\s*[=,\n}]|\s*$)", body[1]):
            yield match[1], "constant", body.start(1) + match.start(1)


def cpp_names(code):
    """The same of a C++ header: classes, and functions by the class that has them."""
    owner = ""
    for match in re.finditer(r"^(?:template <[^;{}]*?>\s+)?(?:class|struct) (\w+)[^;{}()]*\{"
                             r"|^( {4})?(?![ #])[^\n;{}()=]*?\b([a-z]\w*)\("
                             r"|^#define (TAMIS_\w+)(?<!_HPP)\b", code, re.M):
        if match[1]:
            owner = match[1]
            yield owner, "class", match.start(1)
        elif match[4]:
            yield match[4], "constant", match.start(4)
        elif match[3] not in ("if", "for", "while", "return", "defined", "decltype", "sizeof"):
            if not match[2]:
                owner = ""
            yield f"{owner}.{match[3]}" if owner else match[3], "function", match.start(3)


class Header:
    """A header: `names` is {name: (sort, line)}, `sections` a list of (title, first, last line)."""

    def __init__(self, path):
        self.path, self.page = path, contents.headers()[path]
        self.name = path.removeprefix("include/").removeprefix("reader/")
        self.text = (contents.ROOT / path).read_text()
        if path.startswith("reader/"):  # the rest is how it works
            self.text = self.text[:self.text.index("/* --- Implementation")].rstrip() + "\n"
        code = without_comments(self.text)
        self.names = {}
        for name, sort, at in (cpp_names if path.endswith(".hpp") else c_names)(code):
            self.names.setdefault(name, (sort, self.text.count("\n", 0, at)))
        self.sections = self.split(code)

    def split(self, code):
        lines = self.text.splitlines()
        starts = [(0, "")]
        opening = next(i for i, line in enumerate(code.splitlines()) if line.strip())
        starts.append((opening, "Declarations"))
        for i, line in enumerate(lines):
            title = re.match(r"(?:/\*|//) --- (.*?)(?: -+(?: ?\*/)?)?$", line)
            if title:
                # A long title goes on with what is a note there.
                short = re.match("[^,:;]*", title[1])[0] if len(title[1]) > 50 else title[1]
                starts.append((i, short))
        ends = [start for start, _ in starts[1:]] + [len(lines)]
        return [(title, first, last) for (first, title), last in zip(starts, ends) if first < last]


def opening(text):
    """The first paragraph of the comment at the top, as one line."""
    comment = re.match(r"/\*(.*?)(\n \*\n|\*/)|//(.*?)(\n//\n|\n#|\n\n)", text, re.S)
    return " ".join(re.sub(r"^ ?(\*|//)", "", line).strip()
                    for line in (comment[1] or comment[3]).splitlines()).strip().rstrip(":")


def cell(text):
    """A text for a cell of a table in Markdown."""
    return re.sub(r"([|<*_`\[])", r"\\\1", text)


def linked(line, own, places, page):
    """A line of HTML with links at the names. `own` are names declared in this line."""
    def link(match):
        name = match[0]
        if name in own:
            own.discard(name)
            return f'<a class="declared" id="{name}" href="#{name}">{name}</a>'
        place = FILES.get(name.removeprefix("&lt;").removesuffix("&gt;"))
        if place:
            return f'<a href="{links.relative(place, page)}">{name}</a>'
        # The handle is declared as `tamis`, a word that comments use for much else.
        if name not in places or name == "tamis":
            return name
        there = "" if places[name] == page else links.relative(places[name], page)
        return f'<a href="{there}#{name}">{name}</a>'
    parts = re.split("(<[^>]*>)", line)
    parts[::2] = [re.sub(r"&lt;[\w/.-]+&gt;|\b[\w/-]+\.(?:hpp|h|md)\b|\w+", link, text)
                  for text in parts[::2]]
    return "".join(parts)


def declared(line, own):
    """The line of a C++ header with anchors at the functions declared in it."""
    for name in sorted(own):
        word = name.split(".")[-1]
        line = re.sub(rf"\b{word}\b(?!=)", f'<a class="declared" id="{name}" href="#{name}">{word}'
                      "</a>", line, count=1)
    return line


def coloured(text, cpp):
    lexer = (CppLexer if cpp else CLexer)(stripnl=False, ensurenl=True)
    return highlight(text, lexer, HtmlFormatter(nowrap=True)).split("\n")


def block(lines):
    code = "\n".join(lines).strip("\n")
    return f'````{{raw}} html\n<div class="highlight listing"><pre>{code}</pre></div>\n````\n'


def header_page(header, places):
    cpp = header.path.endswith(".hpp")
    lines = coloured(header.text, cpp)
    by_line = {}
    for name, (_, at) in header.names.items():
        by_line.setdefault(at, set()).add(name)
    for i, line in enumerate(lines):
        own = by_line.get(i, set())
        if cpp:
            line = declared(line, own)
            own = set()
        lines[i] = linked(line, own, places, header.page) if "declared" not in line else line
        assert not own, (header.path, i + 1, own)
    page = [f"# {header.name}\n"]
    for title, first, last in header.sections:
        if title:
            page.append(f"## {title}\n")
        page.append(block(lines[first:last]))
    return "\n".join(page)


def names_page(headers):
    """All names, with their sort and header."""
    rows = [(name, sort, header) for header in headers for name, (sort, _) in header.names.items()]
    rows.sort(key=lambda row: (row[0].lower(), row[2].name))
    body = "".join(
        f'<tr><td><a href="{html.escape(row[2].page.split("/", 1)[1])}.html#{row[0]}">'
        f"<code>{row[0]}</code></a></td><td>{row[1]}</td><td>{row[2].name}</td></tr>\n"
        for row in rows)
    return ("# All names\n\nEvery function, type and constant of the public headers.\n\n"
            '```{raw} html\n<table class="docutils names"><thead><tr><th scope="col">name</th>'
            '<th scope="col">sort</th><th scope="col">header</th></tr></thead>\n<tbody>'
            f"{body}</tbody></table>\n```\n")


def index_page(headers):
    rows = "".join(f"| [{header.name}]({header.page.split('/', 1)[1]}.html) "
                   f"| {cell(opening(header.text))} |\n" for header in headers)
    return ("# Reference\n\nThe headers are the manual: each states what its calls promise. Begin "
            "with [tamis.h](tamis.h.html), whose first part suffices for sets. [All "
            "names](names.html) lists every function, type and constant, and the [manual "
            "page](tamis.1.html) every option of the command. The documentation of the Python "
            "package is in [its own page](../docs/PYTHON.html) and in its docstrings.\n\n"
            f"| header | subject |\n|---|---|\n{rows}\n```{{toctree}}\n:hidden:\n\n"
            + "".join(f"{header.page.split('/', 1)[1]}\n" for header in headers) + "```\n")


def example_page(path, places):
    page = contents.examples()[path]
    text = (contents.ROOT / path).read_text()
    lines = [linked(line, set(), places, page) for line in coloured(text, path.endswith(".cc"))]
    return f"# {path.split('/')[1]}\n\n{block(lines)}"


def examples_page():
    rows = ""
    for path in contents.examples():
        words = opening((contents.ROOT / path).read_text())
        rows += f"| [{path.split('/')[1]}]({path.split('/')[1]}.html) | {cell(words)} |\n"
    return ("# Examples\n\nPrograms to copy. The tests compile and run each of them.\n\n"
            f"| program | what it does |\n|---|---|\n{rows}\n```{{toctree}}\n:hidden:\n\n"
            + "".join(f"{path.split('/')[1]}\n" for path in contents.examples()) + "```\n")


HEADERS = [Header(path) for path in contents.headers()]
# C names lead to their C header; those of C++ are words that mean something else elsewhere.
PLACES = {name: header.page for header in reversed(HEADERS) for name in header.names
          if name.lower().startswith("tamis")}
FILES = {page.split("/")[-1]: page for page in contents.headers().values()}
FILES.update({path.removeprefix("include/"): page for path, page in contents.headers().items()})
FILES.update({path.removeprefix("include/tamis/"): page
              for path, page in contents.headers().items()})
FILES.update(contents.documents())


def write(folder):
    """Writes the pages of the reference and of the examples below a folder."""
    pages = {header.page: header_page(header, PLACES) for header in HEADERS}
    pages.update({path: example_page(source, PLACES)
                  for source, path in contents.examples().items()})
    pages.update({"reference/index": index_page(HEADERS), "reference/names": names_page(HEADERS),
                  "examples/index": examples_page()})
    for page, text in pages.items():
        (folder / f"{page}.md").write_text(text)


def note_names(app, doctree):
    """Lets the search find the names of a header."""
    domain = app.env.get_domain("std")
    for header in HEADERS:
        if header.page == app.env.docname:
            for name, (sort, _) in header.names.items():
                if (sort, name) not in domain.objects:
                    domain.note_object(sort, name, name)


def setup(app):
    for sort in CAPTIONS:
        app.add_object_type(sort, sort)
    app.connect("doctree-read", note_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
