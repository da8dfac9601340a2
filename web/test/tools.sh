#!/bin/sh
# tools.sh BUILD: what package-lock.json names, in BUILD/web-tools/node_modules. Fetched once; the source tree stays as it is.
set -eu
source=$(cd "$(dirname "$0")" && pwd)
tools=$1/web-tools
mkdir -p "$tools"
exec 9>"$tools/lock" # tests that run side by side
flock 9
cmp -s "$source/package-lock.json" "$tools/fetched" && exit 0
rm -f "$tools/fetched"
cp "$source/package.json" "$source/package-lock.json" "$tools"
(cd "$tools" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
cp "$source/package-lock.json" "$tools/fetched"
