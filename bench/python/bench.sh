#!/bin/sh
# bench.sh BUILD [--quick]: makes the wheel, installs it into an environment of its own below BUILD,
# and measures it into BUILD/python.json.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
shift
room=$build/bench-python
/usr/bin/python3 "$source/tools/python_package.py" "$build/python"
rm -rf "$room"
/usr/bin/python3 -m venv --system-site-packages "$room"
"$room/bin/pip" install --quiet --no-index --disable-pip-version-check "$build"/python/tamis-*.whl
"$room/bin/python" -B "$source/bench/python/measure.py" --library "$build/libtamis.so" \
    --out "$build/python.json" "$@"
