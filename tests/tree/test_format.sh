#!/bin/sh
# The C sources are as ./run fmt leaves them.
set -eu
cd "${TAMIS_SOURCE:-$(dirname "$0")/../..}"
find include reader src cli guard cluster redis web cuda examples tests tools bench python sql \
    -name build -prune -o -name '*.[ch]' -exec clang-format --dry-run -Werror {} +
