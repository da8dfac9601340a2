#!/bin/sh
# Builds the Python package, and installs the wheel into a virtual environment below the build
# folder, as a user without a network would. Does nothing if the package there is the same. Exits
# with 77 where something is missing that the build or the tests need.
#
# TAMIS_SOURCE is the tree (default: the one of this script) and TAMIS_BUILD the build folder;
# TEST_CFLAGS replaces the flags of the compiler, for a build with sanitizers.
set -eu
source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
out=${TAMIS_BUILD:-$source/build}/python
unset CFLAGS PYTHONPATH PYTHONHOME
[ -z "${TEST_CFLAGS-}" ] || export CFLAGS="$TEST_CFLAGS"

/usr/bin/python3 - <<'CHECK' || exit 77
import importlib.util, os, sys, sysconfig
missing = [name for name in ("setuptools", "wheel", "venv", "ensurepip", "pytest", "hypothesis",
                             "numpy", "pandas", "distributed", "mypy")
           if importlib.util.find_spec(name) is None]
if not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")):
    missing.append("the headers")
if missing:
    sys.exit(f"Python has not {', '.join(missing)}")
CHECK

mkdir -p "$out"
exec 9>"$out/install.lock"
flock 9
/usr/bin/python3 "$source/tools/python_package.py" "$out"
cmp -s "$out/made" "$out/installed" && exit 0
rm -f "$out/installed"
[ -x "$out/venv/bin/pip" ] || /usr/bin/python3 -m venv --system-site-packages "$out/venv"
"$out/venv/bin/pip" install --quiet --no-index --force-reinstall "$out"/*.whl
cp "$out/made" "$out/installed"
