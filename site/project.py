"""The one place where the site gets facts about the project: its version, its address on the web
and where the sources can be browsed. While the project has no address, the site links to none."""
import re

from contents import ROOT

VERSION = re.search(r"^project\(tamis VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(),
                    re.M)[1]
HOMEPAGE = ""  # of the project
SOURCES = ""   # the folder of the repository in which files can be browsed, with a slash at the end
SITE = ""      # where the built site is, with a slash at the end; only 404.html needs it
