#!/bin/sh
# tools.sh FOLDER OUT: installs the packages of FOLDER/package-lock.json in OUT/node_modules. They
# are fetched once, and the source tree stays as it is.
set -eu
[ $# -eq 2 ] || { echo "usage: $0 FOLDER OUT" >&2; exit 2; }
mkdir -p "$2"
exec 9>"$2/lock" # for tests that run in parallel
flock 9
cmp -s "$1/package-lock.json" "$2/fetched" && exit 0
rm -f "$2/fetched"
cp "$1/package.json" "$1/package-lock.json" "$2"
(cd "$2" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
cp "$1/package-lock.json" "$2/fetched"
