"""The python blocks of docs/PYTHON.md, docs/KEYS.md, docs/coming-from, the README and the package's
own README are run. check_docstrings.py runs the examples of docstrings."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

import tamis

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE", pathlib.Path(__file__).parents[2]))


def blocks(page):
    """(line, code) of each python block of a page."""
    lines = page.read_text().splitlines()
    at = 0
    while at < len(lines):
        if re.fullmatch(r"```(python|pycon)", lines[at]):
            end = lines.index("```", at)
            yield at + 1, "\n".join(lines[at + 1:end]) + "\n"
            at = end
        at += 1


@pytest.mark.parametrize("page, least", [("docs/PYTHON.md", 10), ("README.md", 1),
                                         ("docs/KEYS.md", 1), ("python/README.md", 1),
                                         ("docs/coming-from/pybloom.md", 3),
                                         ("docs/coming-from/datasketches.md", 1),
                                         ("docs/coming-from/hyperloglog.md", 1)])
def test_pages(page, least, tmp_path):
    """The blocks of a page run in order in one process, in an empty folder. A block with `>>>` is
    a session whose output is compared; `multiprocessing` and Dask need the file of a real script,
    so a block with a __main__ is one."""
    found = list(blocks(SOURCE / page))
    assert len(found) >= least
    program, environment = [], dict(os.environ, MPLBACKEND="agg")
    for line, code in found:
        if "__main__" in code:
            script = tmp_path / f"block{line}.py"
            script.write_text(code)
            done = subprocess.run([sys.executable, script.name], cwd=tmp_path, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                                  check=False)
            assert done.returncode == 0, f"{page}:{line}: {done.stderr.decode()}"
        else:
            program.append((line, code))
    runner = tmp_path / "page.py"
    runner.write_text(PAGE.format(program=program, page=page))
    done = subprocess.run([sys.executable, runner.name], cwd=tmp_path, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


PAGE = '''import doctest, sys
space = {{"__name__": "page"}}
parser = doctest.DocTestParser()
runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
for line, code in {program!r}:
    if ">>> " in code:
        test = parser.get_doctest(code, space, {page!r}, {page!r}, line)
        runner.run(test, clear_globs=False)
        space.update(test.globs)
    else:
        exec(compile("\\n" * line + code, {page!r}, "exec"), space)
sys.exit(runner.failures != 0)
'''


def test_the_files_in_the_shell(tmp_path):
    """The version of the package is that of the header."""
    header = (SOURCE / "include/tamis/tamis.h").read_text()
    assert tamis.__version__ == re.search(r'TAMIS_VERSION_STRING "(.*)"', header)[1]


def test_installed():
    """The tests test the installed package, and it has its types."""
    root = pathlib.Path(tamis.__file__).parent
    assert SOURCE / "python" not in root.parents
    assert (root / "py.typed").exists()
    assert set(tamis.__all__) <= set(dir(tamis))
    assert not [name for name in tamis.__all__ if name.startswith("_") and name != "__version__"]
