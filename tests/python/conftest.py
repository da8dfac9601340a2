"""Settings and fixtures of the tests of the Python package. They test the package that is
installed. TAMIS names the command and TAMIS_SOURCE the source tree, as for all scripts of the
tests. TAMIS_PYTHON_LONG=1 runs the models for longer."""
import atexit
import os
import pathlib
import shutil
import subprocess
import tempfile

import hypothesis
import hypothesis.configuration
import pytest

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE", pathlib.Path(__file__).parents[2]))
LONG = os.environ.get("TAMIS_PYTHON_LONG") == "1"

# The examples are the same in every run: a test that fails fails again.
common = dict(derandomize=True, database=None, deadline=None, print_blob=False,
              suppress_health_check=list(hypothesis.HealthCheck))
hypothesis.settings.register_profile("usual", max_examples=25, stateful_step_count=30, **common)
hypothesis.settings.register_profile("deep", max_examples=120, stateful_step_count=50, **common)
hypothesis.settings.load_profile("deep" if LONG else "usual")


def pytest_sessionstart(session):
    """Hypothesis keeps tables of Unicode in a folder, which should not be the source tree."""
    folder = tempfile.mkdtemp()
    hypothesis.configuration.set_hypothesis_home_dir(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


@pytest.fixture(scope="session")
def golden():
    """The folder of the images that open for ever."""
    return SOURCE / "tests" / "golden"


@pytest.fixture
def command(tmp_path):
    """Runs the command `tamis` with words, and input as bytes; returns its output as bytes."""
    program = os.environ.get("TAMIS", str(SOURCE / "build" / "tamis"))
    if not os.path.exists(program):
        pytest.fail("the command is not built; TAMIS names it")

    def run(*words, stdin=b"", status=0):
        done = subprocess.run([program, *map(os.fspath, words)], input=stdin, cwd=tmp_path,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        assert done.returncode == status, done.stderr.decode()
        return done.stdout

    return run
