#!/bin/sh
# postgres_extension.sh DESTDIR: builds the PostgreSQL extension and installs it below a folder,
# unless it is there already. Tests and packages of one tree may call this at the same time. They
# wait for each other, and what is the same is not written again, because a server may be reading
# it. PG_CONFIG=... chooses the server.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
destination=${1:?where to install}
config=${PG_CONFIG:-/usr/lib/postgresql/15/bin/pg_config}
extension=$source/sql/postgres
mkdir -p "$extension/build" "$destination"
destination=$(cd "$destination" && pwd)
exec 9>"$extension/build/lock"
flock 9
unset MAKEFLAGS MAKELEVEL
make -s -C "$extension" "PG_CONFIG=$config"
scripts=$destination$("$config" --sharedir)/extension
is_there() {
    cmp -s "$extension/tamis.so" "$destination$("$config" --pkglibdir)/tamis.so" &&
        cmp -s "$extension/tamis.control" "$scripts/tamis.control" &&
        cmp -s "$extension/tamis--1.0.sql" "$scripts/tamis--1.0.sql"
}
is_there || make -s -C "$extension" install "DESTDIR=$destination" "PG_CONFIG=$config"
