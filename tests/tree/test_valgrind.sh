#!/bin/sh
# Every command runs once under valgrind, without a leak or an uninitialised byte.
set -eu
tamis=${TAMIS:-build/tamis}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"
checked() { # expected exit status, command...
    wanted=$1
    shift
    status=0
    valgrind -q --leak-check=full --show-leak-kinds=all --error-exitcode=99 \
        "$tamis" "$@" >out 2>err || status=$?
    [ "$status" = "$wanted" ] ||
        { echo "exit $status instead of $wanted: tamis $*"; cat out err; exit 1; }
}
seq 1 3000 >list
seq 2001 5000 >other
checked 0 plan --items 1000 --fpr 0.01
checked 0 plan --items 1000 --bytes 4000 --json
checked 0 plan --items 1000 --fpr 0.01 --plot --svg plan.svg
checked 2 plan --items 1000 --fpr 0.01 --svg plan.svg
checked 0 explain cost
checked 0 help kinds
checked 0 help --completions bash
checked 0 help --completions zsh
checked 0 help --completions fish
checked 2 chekc
checked 2 build --itmes 5
for kind in bloom partitioned blocked; do
    checked 0 build --kind $kind --items 6000 -o $kind.tamis list
    checked 0 add $kind.tamis other
    checked 0 build --kind $kind --items 6000 -o other-$kind.tamis - <other
    checked 0 check $kind.tamis list other
    checked 0 check -vc other-$kind.tamis list
    checked 0 merge -o both-$kind.tamis $kind.tamis other-$kind.tamis
    checked 0 compare $kind.tamis other-$kind.tamis
    checked 0 info $kind.tamis both-$kind.tamis
    checked 0 info --plot $kind.tamis
    checked 0 verify --keys 20000 $kind.tamis
done
checked 1 diff list other
checked 1 diff --memory 64KiB --threads 2 list other
checked 0 diff -c list list
checked 0 uniq --json list other
checked 0 uniq --exact-until 20kB --total list other
checked 0 uniq --state state.tamis list
checked 0 uniq --state hour.tamis --window 1h --items 9000 --field 1 -t ' ' list
touch -d '1 hour ago' hour.tamis
checked 0 uniq --state hour.tamis --window 1h other
checked 2 uniq --state hour.tamis --window 1h --items 9 list
checked 2 uniq --kind bloom --items 100 --json list
gzip -c list >list.gz
checked 0 check -c bloom.tamis list.gz
awk '{ print; print "" }' list | mdb_load -T -n list.mdb
checked 0 check --confirm list.mdb -c bloom.tamis list other
checked 0 check --confirm list -c bloom.tamis list other
checked 2 check --confirm list.mdb other-bloom.tamis list
for kind in counting pair cuckoo growing window; do
    checked 0 build --kind $kind --items 24000 --fpr 0.01% -o $kind.tamis list
    checked 0 add $kind.tamis other
    checked 0 check $kind.tamis list other
    checked 0 info $kind.tamis
    checked 0 verify --keys 20000 $kind.tamis
    case $kind in
    growing | window) checked 2 remove $kind.tamis list ;;
    *) checked 0 remove $kind.tamis list ;;
    esac
    checked 0 compact $kind.tamis other
done
checked 0 rotate window.tamis
checked 2 rotate window.tamis missing
checked 0 info - <bloom.tamis
checked 2 info - <list
checked 2 check - <bloom.tamis
checked 0 check -nH -m 5 bloom.tamis list other
checked 0 check -vn -m 5 --confirm list bloom.tamis list other
checked 0 check -l bloom.tamis list other
checked 0 top -n 1 - <list
checked 0 distinct --interval list other
checked 0 distinct -o few.tamis --error 5% list
checked 0 distinct -o other-few.tamis --error 1% --json other
checked 0 distinct few.tamis other-few.tamis
checked 2 distinct few.tamis list
checked 0 add few.tamis other
checked 0 info few.tamis
checked 0 compare few.tamis other-few.tamis
checked 0 merge -o both-few.tamis few.tamis other-few.tamis
checked 2 check few.tamis list
checked 0 plan --kind distinct --error 1%
awk '{ print $1 % 7 "," $1; print NR "," $1 }' list >groups
checked 0 distinct --by 1 -t , groups
checked 0 distinct --by 1 -t , --error 10% -n 3 --json groups
for memory in 1 20000 100k 300k; do
    checked 2 distinct --by 1 -t , --memory $memory groups
done
sed 's/$/ 7/' list >weights
echo 'x y' >>weights
checked 0 top --field 1 --weight-field 2 -t blanks weights
checked 0 convert --to bloom -o plain.tamis counting.tamis
checked 2 convert --to bloom -o x.tamis cuckoo.tamis
checked 0 plan --for-transfer --items 1000 --fpr 0.01
checked 0 build --for-transfer -o sparse.tamis list
checked 0 pack -o sparse.packed sparse.tamis
checked 0 unpack -o again.tamis sparse.packed
checked 0 pack -o cuckoo.packed cuckoo.tamis
checked 2 unpack -o x.tamis sparse.tamis
checked 2 info sparse.packed
checked 0 build -o counted.tamis list other
checked 0 build -o spooled.tamis <list
printf 'sixteen  bytes!!' >key; chmod 600 key
checked 0 build --key-file key -o keyed.tamis list
checked 0 check --key-file key --json keyed.tamis other
checked 0 explain --k 3 --m 5 a b --ask c
checked 0 help check
checked 0 help --man
checked 2 check keyed.tamis list
checked 2 info list no-such-file
checked 2 merge -o x.tamis bloom.tamis blocked.tamis
checked 2 compare bloom.tamis blocked.tamis
checked 2 build --strict --items 10 -o x.tamis list
checked 2 nonsense
if "$tamis" guard explain a.example >/dev/null 2>&1; then # else it was built without
    seq -f 'host%.0f.example' 1 1000 >hosts
    seq -f 'host%.0f.example' 5 1005 >later
    checked 0 guard build dir list=hosts
    gzip later && checked 0 guard build dir list=later.gz
    : >none
    checked 2 guard build dir list=none
    checked 0 guard check dir host7.example 'http://xn--mller-kva.example/a?b'
    checked 1 guard check --json dir host1.example
    checked 0 guard explain --json host7.example dir
    checked 2 guard check missing host7.example
    rm dir/2.store
    checked 2 guard build dir hosts --never hosts
    checked 2 guard check dir host7.example
fi
# check reads all cells of a filter, for its rate, only if the header says that it may be overfull.
# This compares the instructions for two filters of 256 KB. (Reading takes 900,000; the warning
# itself takes 5,000.)
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=calls "$tamis" check -q "$1" list 2>err
    sed -n 's/^==.*Collected : //p' err
}
seq 1 250000 >many
"$tamis" build -q --items 200000 -o planned.tamis list
"$tamis" build -q --overfill --items 200000 -o full.tamis many 2>err
planned=$(instructions planned.tamis)
full=$(instructions full.tamis)
[ "$((full - planned))" -gt 100000 ] ||
    { echo "check of a filter that is not overfull: $planned, of an overfull one: $full"; exit 1; }
