"""Compiles the module tamis._tamis from src/ and from the library, which is one file here,
library/tamis.c. `./run build python` puts that file, the public headers and the licence beside this
one; a C compiler and setuptools are all that is needed then.

CFLAGS, if set, replaces the optimization and hardening below. TAMIS_LIMITED_API=0 compiles for this
version of Python only."""
import glob
import os
import pathlib
import re
import shlex
import subprocess
import sys
import sysconfig

from setuptools import Extension, setup

# The limited API has buffers since 3.11; before that, and without a GIL, a module is for one
# version of Python.
LIMITED = (sys.implementation.name == "cpython" and sys.version_info >= (3, 11)
           and not sysconfig.get_config_var("Py_GIL_DISABLED")
           and os.environ.get("TAMIS_LIMITED_API") != "0")

# As in tools/hardening.cmake. The second level of _FORTIFY_SOURCE is used, because the third costs
# 10 to 16 % of a single query in the hash function, which is not a file of its own here.
COMMON = ["-std=c11", "-fvisibility=hidden", "-fno-strict-aliasing", "-fno-strict-overflow"]
OPTIMIZED = ["-O3", "-g0", "-DNDEBUG", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2",
             "-fstack-protector-strong", "-fstack-clash-protection", "-fcf-protection=full",
             "-mbranch-protection=standard"]


def version():
    """The version of the library, whose header is the only place that states it."""
    header = pathlib.Path("include/tamis/tamis.h")
    if not header.exists():
        sys.exit("The library is not here: `./run build python`, in the folder above, adds it and"
                 " makes a source distribution in build/python.")
    return re.search(r'^#define TAMIS_VERSION_STRING "(.*)"', header.read_text(), re.M)[1]


def accepted(flags):
    """Those of the flags that the compiler knows."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    probe = [*compiler, "-Werror", "-x", "c", "-c", os.devnull, "-o", os.devnull]
    return [flag for flag in flags
            if subprocess.run([*probe, flag], capture_output=True, check=False).returncode == 0]


def link_options():
    """Only the function that Python calls is exported, so that the module never uses another copy
    of the library, and no other program uses this one."""
    if sys.platform == "darwin":
        return ["-Wl,-exported_symbol,_PyInit__tamis"]
    stripped = [] if os.environ.get("CFLAGS") else ["-Wl,-s"]
    return ["-Wl,--version-script=exports.map", "-Wl,-z,relro,-z,now,-z,noexecstack", *stripped]


def main():
    if os.name == "nt":
        sys.exit("The Python package of Tamis is not built on Windows.")
    flags = accepted(COMMON + ([] if os.environ.get("CFLAGS") else OPTIMIZED))
    headers = sorted(glob.glob("include/tamis/*.h"))
    library = {"sources": ["library/tamis.c"], "cflags": flags,
               "obj_deps": {"": ["library/tamis.h", "setup.py"]}}
    module = Extension(
        "tamis._tamis", sorted(glob.glob("src/*.c")), include_dirs=["include"],
        libraries=["m", "pthread"], extra_compile_args=flags, extra_link_args=link_options(),
        depends=["setup.py", *headers, *glob.glob("src/*.h"), *glob.glob("library/*")],
        define_macros=[("Py_LIMITED_API", "0x030b0000")] if LIMITED else [],
        py_limited_api=LIMITED)
    setup(version=version(), libraries=[("tamis_amalgamation", library)], ext_modules=[module],
          options={"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED else {})


main()
