"""The one place where the site gets facts about the project: its version, and its address, which is
that of project.conf."""
import re
import sys

from contents import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import project  # noqa: E402

VERSION = re.search(r"^project\(tamis VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(),
                    re.M)[1]
HOMEPAGE = project.values()["PROJECT_URL"]
