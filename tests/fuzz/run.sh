#!/bin/sh
# run.sh TARGET SECONDS: fuzzes one target from the committed corpus and the findings of earlier
# runs. run.sh all SECONDS: fuzzes each target, two at a time. run.sh list: prints the names of the
# targets.
set -eu
cd "$(dirname "$0")/../.."
target=${1:?a target, all or list} seconds=${2:-60}
targets=$(find tests/fuzz -name 'fuzz_*.c' | sed 's|.*/fuzz_||; s|[.]c$||' | sort)

case $target in
list)
    printf '%s\n' "$targets"
    exit
    ;;
all)
    printf '%s\n' "$targets" | xargs -P 2 -I{} sh tests/fuzz/run.sh {} "$seconds"
    exit
    ;;
esac
case $seconds in
'' | *[!0-9]*)
    echo "'$seconds' is not a number of seconds" >&2
    exit 2
    ;;
esac
if ! printf '%s\n' "$targets" | grep -qxF -e "$target"; then
    echo "there is no fuzz target '$target'; there are" >&2
    printf '%s\n' "$targets" | sed 's/^/  /' >&2
    exit 2
fi
program=build/clang/tests/fuzz_$target
[ -x "$program" ] || { echo "$program is not built: ./run fuzz $target builds it" >&2; exit 2; }

longest=2048 # most targets read a program of steps
case $target in foreign | image | pack | reader) longest=16384 ;; esac
mkdir -p "build/fuzz/$target"
log=build/fuzz/$target.log
# zstd and xz may allocate two gigabytes, which they never touch.
"$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=5000 \
    -max_len=$longest -print_final_stats=1 -artifact_prefix="build/fuzz/$target-" \
    "build/fuzz/$target" "tests/fuzz/corpus/$target" \
    >"$log" 2>&1 || { echo "$target failed:"; tail -n 60 "$log"; exit 1; }
awk -v target="$target" '
    /stat::number_of_executed_units/ { runs = $2 }
    /stat::peak_rss_mb/ { peak = $2 }
    END { printf "%-10s %9d executions, %d MB at most\n", target, runs, peak }' "$log"
