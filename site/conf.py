"""Sphinx's settings for the site; build.py runs it."""
import html
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import contents  # noqa: E402
import facts  # noqa: E402
from pygments.lexer import RegexLexer  # noqa: E402
from pygments.lexers import SqlLexer  # noqa: E402
from pygments.lexers.special import TextLexer  # noqa: E402
from pygments.token import Generic, Text  # noqa: E402

project = "Tamis"
author = copyright = "the Tamis authors"
version = release = facts.VERSION
extensions = ["myst_parser", "links", "headers"]
# links.py makes the links of the repository those of the site.
myst_all_links_external = True
html_theme = "theme"
html_theme_path = [str(pathlib.Path(__file__).resolve().parent)]
html_title = "Tamis"
html_copy_source = False
html_use_index = False
html_show_sphinx = False
html_permalinks_icon = "#"


def sessions():
    """The first session of README.md, which a test runs: {last command: the lines up to the next
    one that is shown}."""
    text = (contents.ROOT / "README.md").read_text().split("```console\n", 1)[1].split("```")[0]
    found = {}
    for part in ("$ " + part for part in text.split("$ ")[1:]):
        command, _, output = part[2:].partition("\n")
        found[command] = f"<b>$ {html.escape(command)}</b>\n{html.escape(output)}"
    return list(found.values())


SHOWN = sessions()
html_context = {
    "questions": [
        ("Have I seen this?", "A filter holds a set. It finds known lines in any stream, and "
         "answers “certainly not” for nearly all others.", SHOWN[1] + SHOWN[2]),
        ("How often?", "A sketch counts every line in memory that does not grow, and lists the "
         "most frequent ones, with bounds.", SHOWN[3]),
        ("How many distinct?", "A sketch of 64 KiB counts distinct lines: exactly up to 2,048, "
         "beyond that with a standard error of 0.27 %.", SHOWN[4]),
    ],
    "titles": contents.TITLES,
    "groups": contents.groups(),
    "apps": ["plan", "playground", "which-kind"],
    "homepage": facts.HOMEPAGE,
}


class Session(RegexLexer):
    """Commands of redis-cli. A line that begins with a blank is an answer (docs/REDIS.md)."""
    tokens = {"root": [(r" .*\n", Generic.Output), (r".*\n", Text)]}


# Languages of the documents' blocks that Pygments lacks.
LEXERS = {"redis": Session, "acl": TextLexer, "haproxy": TextLexer, "sqlite": SqlLexer,
          "nginx": TextLexer}  # that of Pygments gives up at a block of Lua


def setup(app):
    for name, lexer in LEXERS.items():
        app.add_lexer(name, lexer)
