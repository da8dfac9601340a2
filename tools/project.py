#!/usr/bin/python3
"""The values of project.conf: the addresses of the project.

    tools/project.py FILE    prints the file with @PROJECT_URL@ and @PROJECT_CONTACT@ replaced

Programs import this file and call values() or filled()."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def values():
    """{"PROJECT_URL": ..., "PROJECT_CONTACT": ...}"""
    text = (ROOT / "project.conf").read_text()
    return dict(re.findall(r"^(PROJECT_[A-Z]+)=(\S+)$", text, re.M))


def filled(text):
    """A text with the values in the place of their names. A name that is not set is an error."""
    known = values()
    return re.sub(r"@(PROJECT_[A-Z]+)@", lambda name: known[name[1]], text)


if __name__ == "__main__":
    sys.stdout.write(filled(pathlib.Path(sys.argv[1]).read_text()))
