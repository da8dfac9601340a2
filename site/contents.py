"""Which files of the repository are pages of the site, under which names, and in which order they
are listed. A document of docs/ that is not named here is listed under "More", so that none is left
out."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Documents with a place of their own on the site; all others of docs/ keep their path.
PLACES = {
    "docs/BENCHMARKS.md": "benchmarks/filters",
    "docs/CALLS.md": "benchmarks/calls",
    "docs/BENCHMARKS-CLI.md": "benchmarks/command",
    "site/pages/docs.md": "docs/index",
    "site/pages/benchmarks.md": "benchmarks/index",
    "docs/coming-from/README.md": "coming-from/index",
}
ROOT_PAGES = ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")

# (caption, pages), as in the list beside each page.
GROUPS = [
    ("Begin", ["README", "docs/index", "docs/INSTALL", "docs/GUIDE", "docs/RECIPES",
               "docs/KINDS"]),
    ("In your language and database", ["docs/PYTHON", "docs/SQL", "docs/REDIS", "docs/BROWSER"]),
    ("Coming from", ["coming-from/index"]),
    ("Reference", ["reference/index", "reference/names", "reference/tamis.1", "examples/index"]),
    ("Subjects", ["docs/KEYS", "docs/FOREIGN", "docs/GUARD", "docs/GPU", "docs/FORMAT"]),
    ("Accuracy and speed", ["docs/ACCURACY", "docs/FREQUENCY", "benchmarks/index",
                            "benchmarks/filters", "benchmarks/calls", "benchmarks/command"]),
    ("Project", ["CHANGELOG", "docs/COMPATIBILITY", "SECURITY", "CONTRIBUTING", "docs/DESIGN",
                 "docs/TESTING", "LICENSE"]),
]
# Titles in that list, where the title of the page says too little or too much there.
TITLES = {"README": "Overview", "docs/index": "All documents", "docs/GUIDE": "Guide",
          "docs/PYTHON": "Python", "docs/SQL": "PostgreSQL and SQLite", "docs/REDIS": "Redis",
          "docs/BROWSER": "Browsers and Node", "coming-from/index": "Other programs",
          "reference/index": "Headers", "reference/names": "All names",
          "reference/tamis.1": "Manual page", "examples/index": "Examples",
          "docs/KEYS": "Keys", "docs/FOREIGN": "Foreign filters", "docs/GUARD": "The URL guard",
          "docs/INSTALL": "Installing", "docs/RECIPES": "Recipes",
          "docs/KINDS": "Which kind", "docs/GPU": "GPUs", "docs/COMPATIBILITY": "Compatibility",
          "docs/FORMAT": "File format", "docs/ACCURACY": "Accuracy of filters",
          "docs/FREQUENCY": "Accuracy of counts", "benchmarks/index": "Benchmarks",
          "benchmarks/filters": "Filters", "benchmarks/calls": "Calls",
          "benchmarks/command": "The command"}


def documents():
    """{path in the repository: page} of all Markdown files."""
    paths = [f"{name}.md" for name in ROOT_PAGES]
    paths += sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
    paths += ["site/pages/docs.md", "site/pages/benchmarks.md"]
    return {path: PLACES.get(path) or path.removesuffix(".md").replace("docs/coming-from/",
                                                                       "coming-from/")
            for path in paths if (ROOT / path).exists()}


def headers():
    """{path: page} of the public headers, the first to read first."""
    folder = ROOT / "include/tamis"
    order = ["tamis.h", "inspect.h", "hashes.h"]
    paths = [folder / name for name in order]
    paths += sorted(path for path in folder.glob("*.h") if path.name not in order)
    paths += [ROOT / "reader/tamis-reader.h", folder / "tamis.hpp",
              *sorted((folder / "cpp").glob("*.hpp"))]
    return {str(path.relative_to(ROOT)): f"reference/{path.name}" for path in paths}


def examples():
    return {str(path.relative_to(ROOT)): f"examples/{path.name}"
            for path in sorted((ROOT / "examples").glob("*.c*"))}


def pages():
    """{path in the repository: page} of everything, for links from one to another."""
    return {**documents(), **headers(), **examples(), "LICENSE": "LICENSE",
            "examples": "examples/index", "examples/": "examples/index",
            "include/tamis": "reference/index", "include/tamis/": "reference/index"}


def groups():
    """The groups, with the pages that no group names at the end."""
    found = {page for page in documents().values()}
    listed = {page for _, names in GROUPS for page in names}
    more = sorted(page for page in found - listed if not page.startswith("coming-from/"))
    return GROUPS + ([("More", more)] if more else [])
