"""What test_faults.py and test_long_kill.py share: compiling the saver and the shim into a
temporary directory. Always by ourselves and without the flags of the build under test: a shim with
a sanitizer in it cannot be preloaded into a program without one."""
import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

SOURCE = os.environ.get("TAMIS_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CC = os.environ.get("CC", "cc")
SHIM = os.path.join(SOURCE, "tests/fault/shim.c")


def compile_saver(out, *more):
    library = glob.glob(SOURCE + "/src/**/*.c", recursive=True)
    subprocess.run([CC, "-O1", "-g", "-I" + SOURCE + "/include", *more,
                    SOURCE + "/tests/fault/saver.c", *sorted(library), "-lm", "-o", out],
                   check=True)
    return out


def compile_shim(out):
    subprocess.run([CC, "-O1", "-g", "-fPIC", "-shared", SHIM, "-o", out], check=True)
    return out


def generation(saver, path):
    """The generation of the image, with all its sums and keys checked; None if it is not whole."""
    done = subprocess.run([saver, "check", path], capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 else None
