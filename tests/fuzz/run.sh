#!/bin/sh
# Fuzz one target for some seconds, from the committed corpus and what earlier runs found.
set -eu
cd "$(dirname "$0")/../.."
target=$1 seconds=$2
program=build/clang/tests/fuzz_$target
[ -x "$program" ] || { echo "there is no fuzz target '$target'" >&2; exit 2; }
mkdir -p "build/fuzz/$target"
"$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$target-" "build/fuzz/$target" "tests/fuzz/corpus/$target" \
    >"build/fuzz/$target.log" 2>&1 || { tail -n 60 "build/fuzz/$target.log"; exit 1; }
grep -E 'stat::number_of_executed_units|stat::peak_rss' "build/fuzz/$target.log"
