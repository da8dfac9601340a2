# A list becomes a filter, and the filter knows the list.
$ seq 1 1000 > list; seq 501 1500 > other
$ tamis build -o list.tamis list
$ tamis check -c list.tamis list
1000
$ tamis check -vc list.tamis list
0
[1]
$ tamis check list.tamis other | head -n 3
501
502
503

# From standard input, with "-" or nothing; the same bytes either way.
$ tamis build -o stdin.tamis < list && cmp stdin.tamis list.tamis
$ cat list | tamis build -o dash.tamis - && cmp dash.tamis list.tamis
$ tamis build -o - list | cmp - list.tamis

# Several files are one set.
$ tamis build -o both.tamis list other && tamis info --json both.tamis | grep -o '"planned_items": [0-9]*'
"planned_items": 2000

# An output is not replaced unless asked for.
$ tamis build -o list.tamis other
tamis: list.tamis: already exists; use -f to replace it
[2]
$ tamis check -c list.tamis list
1000
$ tamis build -f -o list.tamis other && tamis check -c list.tamis other
1000

# Planned by bytes, by rate, by both; too small a budget is an error and writes nothing.
$ tamis build --bytes 4096 -o by-bytes.tamis list && wc -c < by-bytes.tamis
4096
$ tamis build --fpr 1e-6 --kind bloom -o by-rate.tamis list && tamis info --json by-rate.tamis | grep -o '"k": [0-9]*'
"k": 20
$ tamis build --fpr 1% --bytes 500 -o small.tamis list
tamis: small.tamis: needs 1536 bytes, more than the 500 given
[2]
$ tamis build --fpr 1% --bytes 100 -o small.tamis --items 5 list
tamis: small.tamis: needs 320 bytes, more than the 100 given
[2]
$ ls small.tamis
ls: cannot access 'small.tamis': No such file or directory
[2]

# More lines than announced are refused if the rate is far above the plan (overfull.t), unless
# --overfill is given.
$ tamis build --items 100 -o over.tamis list; ls over.tamis
tamis: over.tamis: not written: it would hold more than 629 items, planned for 100; its false-positive rate would be 100 %, planned 1 % (1 in 100)
tamis: over.tamis: give more --items, or --kind growing; --overfill writes it anyway
ls: cannot access 'over.tamis': No such file or directory
[2]
$ tamis build --overfill --items 100 -o over.tamis list
tamis: over.tamis: overfull: more than 629 items, planned for 100; its false-positive rate is now 100 %
$ tamis info over.tamis | sed -n 2,3p
  items     352 of 100 planned: overfull
            by the bits more than 629 distinct; it is too full for an upper bound
$ tamis check -vc over.tamis list
tamis: over.tamis: overfull: more than 629 items, planned for 100; its false-positive rate is now 100 %
0
[1]
$ tamis build --strict --items 100 -o strict.tamis list
tamis: strict.tamis: the filter is strict, and there are more lines than it was planned for
[2]
$ ls strict.tamis
ls: cannot access 'strict.tamis': No such file or directory
[2]

# Nothing in: a filter of nothing.
$ tamis build -o empty.tamis /dev/null && tamis check -c empty.tamis list
0
[1]
$ : > nothing; tamis build -o empty2.tamis nothing && cmp empty.tamis empty2.tamis

# Bad plans and arguments.
$ tamis build -o x.tamis --fpr 0 list
tamis: --fpr: '0' is not a rate between 0 and 1, like 0.01, 1% or 1/100
[2]
$ tamis build -o x.tamis --fpr 1 list
tamis: x.tamis: the false-positive rate must be at least 1e-18 and below 1
[2]
$ tamis build -o x.tamis --fpr nan list
tamis: --fpr: 'nan' is not a rate between 0 and 1, like 0.01, 1% or 1/100
[2]
$ tamis build -o x.tamis --items 0 list
tamis: --items: '0' is not a whole number of at least 1, like 1000000, 1M or 1e6
[2]
$ tamis build -o x.tamis --kind cube list
tamis: --kind: unknown kind 'cube'; the kinds are bloom, partitioned, blocked, counting, pair, growing, window, cuckoo, fuse, ribbon, exact, map, distinct, and auto
[2]
$ tamis build list
tamis: build: give the output file with -o FILE; for example: tamis build -o new-list.tamis list
[2]
$ tamis build -o
tamis: -o requires a value: FILE
[2]
$ tamis build -o x.tamis no-such-file
tamis: no-such-file: cannot read: No such file or directory
[2]
$ tamis build -o x.tamis list no-such-file
tamis: no-such-file: cannot read: No such file or directory
[2]
$ tamis build -o x.tamis .
tamis: .: cannot read: Is a directory
[2]
$ tamis build -o no-such-dir/x.tamis list
tamis: no-such-dir/x.tamis: cannot open the directory: No such file or directory
[2]
$ tamis build -o . list; tamis build -f -o . list
tamis: .: is a directory
tamis: .: is a directory
[2]
$ chmod 600 list; tamis build --seed 1 --key-file list -o x.tamis list
tamis: list: a key must be 16 bytes or 32 hex digits; make one with 'tamis key new'
[2]
$ ls x.tamis
ls: cannot access 'x.tamis': No such file or directory
[2]
$ tamis build -o /dev/full list
tamis: /dev/full: already exists; use -f to replace it
[2]
$ tamis build -f -o /dev/full list
tamis: /dev/full: not a regular file
[2]
$ tamis build -o - list > /dev/full
tamis: standard output: cannot write: No space left on device
[2]

# A limit of memory gives the same file. A stream is counted by its owner. Without --memory nothing
# changes.
$ seq 1 1500000 > many; tamis build --kind ribbon --threads 1 -o in.tamis many; tamis build --kind ribbon --memory 64MiB --temp . --threads 2 -o out.tamis many && cmp in.tamis out.tamis
$ seq 1 1500000 | tamis build --kind ribbon --memory 100MB --items 1500000 --threads 7 -o pipe.tamis && cmp in.tamis pipe.tamis; ls -A | grep tmp
[1]
$ seq 10 | tamis build --kind ribbon --memory 1GiB -o no.tamis
tamis: --memory: give --items, because the lines of a stream can be counted only in memory
[2]
$ tamis build --kind blocked --memory 1GiB -o no.tamis many
tamis: --memory requires --kind ribbon
[2]
$ tamis build --memory 1GiB -o no.tamis many
tamis: --memory requires --kind ribbon
[2]
$ tamis build --kind ribbon --memory 63MiB -o no.tamis many
tamis: --memory must be at least 64MiB
[2]
$ tamis build --kind ribbon --temp /tmp -o no.tamis many
tamis: --temp requires --memory
[2]
$ tamis build --kind ribbon --memory 1GiB --temp none -o no.tamis many
tamis: none: cannot open the directory for temporary files: No such file or directory
[2]
$ ( trap '' XFSZ; ulimit -f 2000; tamis build --kind ribbon --memory 64MiB --temp . -o no.tamis many ); test -e no.tamis
tamis: .: cannot write keys to the temporary file: File too large
[1]
