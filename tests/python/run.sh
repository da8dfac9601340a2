#!/bin/sh
# run.sh [WORD...]: runs pytest over tests/python, or with these words, against the installed wheel
# (install.sh), never against the source tree. The name of a script here, check_NAME.py, runs that.
#
#     tests/python/run.sh test_keys.py -k surrogate
#
# TAMIS_PYTHON_LONG=1 makes the models run for longer. If TEST_CFLAGS has the address sanitizer,
# TAMIS_SANITIZED is 1, for tests that measure memory.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
TAMIS_SOURCE=${TAMIS_SOURCE:-$(cd "$here/../.." && pwd)}
TAMIS_BUILD=${TAMIS_BUILD:-$TAMIS_SOURCE/build}
TAMIS=${TAMIS:-$TAMIS_BUILD/tamis}
export TAMIS_SOURCE TAMIS_BUILD TAMIS
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM
sh "$here/install.sh" >"$room/log" 2>&1 || { status=$?; cat "$room/log"; exit $status; }

python=$TAMIS_BUILD/python/venv/bin/python
unset PYTHONPATH PYTHONHOME
export PYTHONDONTWRITEBYTECODE=1
cd "$room"

# Python itself is not instrumented, so the sanitizer must be loaded before it, and with it the C++
# library, whose exceptions it intercepts. Python does not free everything when it ends.
run_python() {
    case ${TEST_CFLAGS-} in
    *-fsanitize=*address*)
        preload="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so.6)"
        env LD_PRELOAD="$preload" ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
            TAMIS_SANITIZED=1 "$python" "$@"
        ;;
    *) "$python" "$@" ;;
    esac
}

run_python -c 'import sys, tamis; sys.exit(not tamis.__file__.startswith(sys.prefix))' ||
    { echo 'tamis is not imported from the wheel'; exit 1; }
case ${1-} in
check_*.py)
    script=$1
    shift
    run_python "$here/$script" "$@"
    ;;
*)
    case ${1-} in test_*.py) file=$1; shift ;; *) file= ;; esac
    run_python -m pytest -q -ra -p no:cacheprovider --basetemp="$room/tmp" \
        --junitxml="$room/results.xml" "$here/$file" "$@"
    # A test that was left out counts as one, as everywhere in this tree.
    grep -q 'skipped="0"' "$room/results.xml" || exit 77
    ;;
esac
