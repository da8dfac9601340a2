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

# Lines are bytes: NUL-separated, CR kept, no end at the end of the file, empty, any length, not UTF-8.
$ printf 'x\0y\0\0' | tamis build -z -o nul.tamis && printf 'y\0q\0\0x' | tamis check -z nul.tamis | tr '\0' '|'
y||x|
$ printf 'pear\r\n' | tamis check fruit.tamis
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
[2]
$ tamis check no-such-file fruit
tamis: no-such-file: cannot open: No such file or directory
[2]
$ tamis check . fruit
tamis: .: is a directory
[2]
$ mkfifo fifo; tamis check fifo fruit
tamis: fifo: not a regular file
[2]
$ : > empty; tamis check empty fruit
tamis: empty: empty file
[2]
$ head -c 100 fruit.tamis > short; tamis check short fruit
tamis: short: truncated within the header
[2]
$ head -c 300 fruit.tamis > short; tamis check short fruit
tamis: short: truncated: 300 bytes of 320
[2]
$ cp fruit.tamis flipped; printf '\377' | dd of=flipped bs=1 seek=300 conv=notrunc status=none; tamis check flipped fruit
tamis: flipped: damaged: the sum of a chunk does not match
[2]
$ cp fruit.tamis newer; printf '\002' | dd of=newer bs=1 seek=8 conv=notrunc status=none; tamis check newer fruit
tamis: newer: needs a reader of format 2; this library reads up to 1
[2]
$ tr -d '\r' < fruit.tamis > text; tamis check text fruit
tamis: text: a Tamis file damaged by a text-mode transfer
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
tamis: .../bloom-caller.tamis: made from hashes of another program's; lines cannot be added or checked
[2]
$ cp "$TAMIS_SOURCE/tests/golden/bloom-caller.tamis" own; tamis add own fruit
tamis: own: made from hashes of another program's; lines cannot be added or checked
[2]

# Arguments.
$ tamis check
tamis: check: usage: tamis check [OPTION...] {FILTER | -f PATTERNS} [FILE...]
[2]
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
