$ printf 'apple\npear\nplum\n' > fruit; tamis build --fpr 1e-9 -o fruit.tamis fruit

# grep's manners.
$ printf 'pear\nbrick\n' | tamis check fruit.tamis
pear
$ printf 'pear\nbrick\n' | tamis check -v fruit.tamis
brick
$ printf 'brick\n' | tamis check fruit.tamis
[1]
$ printf 'pear\n' | tamis check -q fruit.tamis
$ printf 'brick\n' | tamis check -q fruit.tamis
[1]
$ printf 'pear\nplum\n' > a; printf 'brick\napple' > b
$ tamis check fruit.tamis a b
pear
plum
apple
$ tamis check -c fruit.tamis a b
3
$ tamis check -vc fruit.tamis a b
1
$ tamis check --json fruit.tamis a b
{"filter": "fruit.tamis", "lines": 4, "maybe": 3, "absent": 1, "fpr_now": ...}
$ tamis check fruit.tamis - < a
pear
plum

# A file that cannot be read is an error, but the others are answered.
$ tamis check fruit.tamis no-such-file a
tamis: no-such-file: cannot read: No such file or directory
pear
plum
[2]
$ tamis check -q fruit.tamis a no-such-file

# Lines are bytes: separated by NUL, with CR, without an end at the end of the file, empty, of any
# length, not UTF-8.
$ printf 'x\0y\0\0' | tamis build -z -o nul.tamis && printf 'y\0q\0\0x' | tamis check -z nul.tamis | tr '\0' '|'
y||x|
$ printf 'pear\r\n' | tamis check fruit.tamis
tamis: standard input: line 1 ends with a carriage return, which is part of its key: --crlf removes it
[1]
$ printf '\n' | tamis check fruit.tamis
[1]
$ printf '\n\377\376\n' | tamis build -o odd.tamis && printf '\377\376\n\n\n' | tamis check -c odd.tamis
3
$ head -c 3000000 /dev/zero | tr '\0' x > long; { cat long; echo; echo tail; } | tamis build --fpr 1e-9 -o long.tamis
$ { cat long; echo y; cat long; echo; echo tail; } | tamis check -c long.tamis
2

# The filter must be a filter.
$ tamis check fruit fruit
tamis: fruit: not a Tamis file
tamis: check: to compare with the lines of a file: tamis check -f fruit fruit
[2]
$ tamis check no-such-file fruit
tamis: no-such-file: cannot open: No such file or directory
[2]
$ tamis check . fruit
tamis: .: is a directory
[2]
$ mkfifo fifo; tamis add fifo fruit
tamis: fifo: a filter can be changed only in a file, not in a stream
[2]
$ : > empty; tamis check empty fruit
tamis: empty: the file is empty
[2]
$ head -c 100 fruit.tamis > short; tamis check short fruit
tamis: short: truncated within the header
[2]
$ head -c 300 fruit.tamis > short; tamis check short fruit
tamis: short: truncated: 300 bytes of 320
[2]
$ cp fruit.tamis flipped; printf '\377' | dd of=flipped bs=1 seek=300 conv=notrunc status=none; tamis check flipped fruit
tamis: flipped: damaged: the checksum of a chunk does not match
[2]
$ cp fruit.tamis newer; printf '\002' | dd of=newer bs=1 seek=8 conv=notrunc status=none; tamis check newer fruit
tamis: newer: this file requires a reader of format 2; this library reads up to 1
[2]
$ tr -d '\r' < fruit.tamis > text; tamis check text fruit
tamis: text: this Tamis file was damaged by a text-mode transfer
[2]
$ cp fruit.tamis secret; chmod 0 secret; chmod 755 .; cp "$(command -v tamis)" as-nobody
$ if [ "$(id -u)" = 0 ]; then setpriv --reuid 65534 --regid 65534 --clear-groups ./as-nobody check secret fruit; else tamis check secret fruit; fi
tamis: secret: cannot open: Permission denied
[2]

# A closed or full output.
$ seq 1000000 > many; tamis build -o many.tamis many; tamis check many.tamis many | head -n 1
1
$ { tamis check many.tamis many; echo $? > status; } | head -n 1; cat status
1
141
$ tamis check many.tamis many > /dev/full
tamis: standard output: cannot write: No space left on device
[2]

# A filter of hashes that are not ours cannot be asked about lines.
$ tamis check "$TAMIS_SOURCE/tests/golden/bloom-caller.tamis" fruit
tamis: .../bloom-caller.tamis: this filter was made from another program's hashes, so lines cannot be added or checked
[2]
$ cp "$TAMIS_SOURCE/tests/golden/bloom-caller.tamis" own; tamis add own fruit
tamis: own: this filter was made from another program's hashes, so lines cannot be added or checked
[2]

# Arguments.
$ tamis check 2>&1 | head -n 1
Usage: tamis check [OPTION...] {FILTER | -f PATTERNS} [FILE...]
$ tamis check --inverted fruit.tamis
tamis: check: unknown option '--inverted'; did you mean '--invert'?
[2]
$ tamis check -x fruit.tamis
tamis: check: unknown option '-x'; see 'tamis check --help'
[2]
$ tamis check --json=yes fruit.tamis
tamis: --json takes no value
[2]
$ tamis chek
tamis: there is no command 'chek'; did you mean 'check'?
[2]
$ cp a ./-a; tamis check -c fruit.tamis -- -a
2

# grep's -n, -H, -l and -m, the last over all inputs, as -c counts.
$ seq 30 > thirty; seq 5 5 60 > fives; seq 100 200 > others; tamis build --fpr 1e-9 -o fives.tamis fives
$ tamis check -n fives.tamis thirty | tr '\n' ' '; grep -nFxf fives thirty | tr '\n' ' '
5:5 10:10 15:15 20:20 25:25 30:30 5:5 10:10 15:15 20:20 25:25 30:30 
$ tamis check -nH -m 8 fives.tamis others thirty fives | tr '\n' ' '; tamis check -H fives.tamis < fives | head -n 1
thirty:5:5 thirty:10:10 thirty:15:15 thirty:20:20 thirty:25:25 thirty:30:30 fives:1:5 fives:2:10 (standard input):5
$ tamis check -l fives.tamis others thirty fives thirty; tamis check -lv fives.tamis fives others; tamis check -l fives.tamis < fives
thirty
fives
thirty
others
(standard input)
$ tamis check -l fives.tamis others
[1]
$ tamis check -m 2 fives.tamis thirty; tamis check -m2 -v fives.tamis thirty; tamis check -c -m 3 fives.tamis thirty; tamis check -vc -m 3 fives.tamis thirty; tamis check -c -m 100 fives.tamis thirty
5
10
1
2
3
3
6
$ tamis check -m 1 fives.tamis others
[1]
$ printf 'x\0005\n\0005\0' | tamis check -zn fives.tamis | tr '\0' '|'
3:5|
$ printf 'no\nx,5\ny,6\n\nx,10\n' | tamis check -n --field 2 -t , fives.tamis
2:x,5
5:x,10
tamis: standard input: line 1: fewer than 2 fields; skipped 2 such lines

# The same with many blocks, with patterns, and with a list that is read once or several times.
$ seq 300000 | sed 'p' > long; awk 'NR % 1000 == 7' long | sort -u > few; tamis build --fpr 1/10 -o few.tamis few
$ grep -nFxf few long > wanted; tamis check -n -f few long | cmp - wanted; tamis check -n --confirm few few.tamis long | cmp - wanted; tamis check -n --memory 50kB --confirm few few.tamis long | cmp - wanted
$ grep -vnFxf few long | head -n 5000 > wanted; tamis check -vn -m 5000 -f few long | cmp - wanted; tamis check -vn -m 5000 --confirm few few.tamis long | cmp - wanted; tamis check -vn -m 5000 --memory 50kB --confirm few few.tamis long | cmp - wanted
$ tamis check -c -m 77 --confirm few few.tamis long; tamis check -m 77 --confirm few few.tamis long | wc -l; tamis check -m 77 --threads 4 -f few long | wc -l
77
77
77
$ { echo 5; exec sleep 60; } > fifo & timeout 30 tamis check -m 1 fives.tamis fifo; kill $!
5
$ tamis check -n -c fives.tamis thirty
tamis: check: -c prints one number and cannot be combined with -n or -H
[2]
$ tamis check -l -n fives.tamis thirty
tamis: check: -l prints file names and cannot be combined with -c, -n, -H or -m
[2]
$ tamis check -m 5 --json fives.tamis thirty
tamis: check: --json prints totals and cannot be combined with -n, -H, -l or -m
[2]
$ tamis check -l --confirm fives fives.tamis thirty
tamis: check: -l cannot be combined with --confirm LIST
[2]
$ tamis check -m 0 fives.tamis thirty
tamis: --max-count: '0' is not a whole number of at least 1, like 1000000, 1M or 1e6
[2]
