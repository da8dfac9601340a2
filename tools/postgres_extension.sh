#!/bin/sh
# postgres_extension.sh DESTDIR: builds the PostgreSQL extension and installs it below a folder.
# Tests and packages of one tree may call this at the same time; they wait for each other.
# PG_CONFIG=... chooses the server.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
destination=${1:?where to install}
mkdir -p "$source/sql/postgres/build" "$destination"
exec 9>"$source/sql/postgres/build/lock"
flock 9
unset MAKEFLAGS MAKELEVEL
make -s -C "$source/sql/postgres" install "DESTDIR=$destination" \
    "PG_CONFIG=${PG_CONFIG:-/usr/lib/postgresql/15/bin/pg_config}"
