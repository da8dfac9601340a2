"""The one place where the site gets facts about the project: its version, and its address, which is
that of project.conf. While there is no such file, the site links to no address."""
import re

from contents import ROOT

VERSION = re.search(r"^project\(tamis VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(),
                    re.M)[1]


def setting(name):
    path = ROOT / "project.conf"
    found = re.search(rf"^{name}=(\S+)$", path.read_text(), re.M) if path.exists() else None
    return found[1] if found else ""


HOMEPAGE = setting("PROJECT_URL")
