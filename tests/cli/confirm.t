# --confirm looks up every maybe in the list from which the filter was built. A filter that is half
# wrong shows it.
$ seq 1 2 20000 > odd; seq 20000 > all; seq 2 2 20000 > even; tamis build -q --fpr 1/2 -o f.tamis odd
$ test "$(tamis check -c f.tamis all)" -gt 12000 && echo wrong
wrong
$ tamis check --confirm odd f.tamis all | cmp - odd
$ tamis check --confirm odd -v f.tamis all | cmp - even
$ tamis check --confirm odd -c f.tamis all; tamis check --confirm odd -vc f.tamis < all; tamis check --confirm odd --json f.tamis all
10000
10000
{"filter": "f.tamis", "lines": 20000, "maybe": 14965, "found": 10000, "absent": 10000, "fpr_now": 0.492512274841, "overfull": false}
$ tamis check --confirm odd -q f.tamis odd; tamis check --confirm odd -q f.tamis even
[1]
$ tamis check --confirm odd -c f.tamis even
0
[1]
$ gzip -c odd > odd.gz; tamis check --confirm odd.gz f.tamis all | cmp - odd; cat odd | tamis check --confirm - f.tamis all | cmp - odd
$ shuf --random-source=all odd > mixed; tamis check --threads 1 --confirm mixed f.tamis all | cmp - odd
$ sed 's/.*/k,&/' all > table; tamis check --field 2 -t , --confirm odd f.tamis table | cut -d, -f2 | cmp - odd

# Lines beyond --memory make the list be read again, which a pipe cannot be.
$ for i in 1 2 3 4 5 6; do cat all; done > six; tamis check --memory 200kB --confirm odd f.tamis six > few; tamis check --confirm odd f.tamis six | cmp - few; wc -l < few
60000
$ tamis check --memory 200kB --confirm odd -v f.tamis six > few; tamis check --confirm odd -v f.tamis six | cmp - few; wc -l < few
60000
$ tamis check --memory 200kB --confirm odd -c f.tamis six; cat odd | tamis check --memory 200kB --confirm - -c f.tamis six
60000
tamis: -: the list cannot be read twice, but more lines wait for it than 200,000 bytes can hold; give it as a file, or give more --memory
[2]

# A list of something else confirms nothing.
$ tamis check --confirm even f.tamis all
tamis: even: 5,035 of its lines are certainly not in the filter, which was built from another list; this list cannot confirm anything
[2]
$ tamis check --confirm missing f.tamis all
tamis: missing: cannot read: No such file or directory
[2]
$ head -c 500 odd.gz > cut; tamis check --confirm cut -c f.tamis all
tamis: cut: cannot read: gzip data ends too early
[2]
$ : > nothing; tamis check --confirm nothing f.tamis all
[1]
$ tamis check --confirm - f.tamis
tamis: check: standard input cannot be both the list and the lines to check
[2]
$ tamis check --confirm odd f.tamis all > /dev/full
tamis: standard output: cannot write: No space left on device
[2]

# An LMDB whose keys are the lines is asked at once: a directory, or one file.
$ mkdir store; awk '{ print; print "" }' odd | mdb_load -T store; awk '{ print; print "" }' odd | mdb_load -T -n odd.mdb
$ tamis check --confirm store f.tamis all | cmp - odd; tamis check --confirm odd.mdb f.tamis all | cmp - odd
$ tamis check --confirm odd.mdb -v f.tamis all | cmp - even; tamis check --confirm store --json f.tamis all
{"filter": "f.tamis", "lines": 20000, "maybe": 14965, "found": 10000, "absent": 10000, "fpr_now": 0.492512274841, "overfull": false}
$ mkfifo slow; { echo 7; exec sleep 60; } > slow & timeout 30 tamis check -q --confirm store f.tamis slow; echo $?; kill $!
0
$ { printf '\n'; head -c 600 /dev/zero | tr '\0' x; } > strange; cat odd strange | tamis build -q --fpr 1/2 -o g.tamis; tamis check --confirm store -c g.tamis strange odd
10000
$ awk '{ print; print "" }' even | mdb_load -T -n even.mdb; tamis check --confirm even.mdb f.tamis all
tamis: even.mdb: 5,035 of its lines are certainly not in the filter, which was built from another list; this list cannot confirm anything
[2]
$ mkdir no-store; tamis check --confirm no-store f.tamis all
tamis: no-store: cannot read the store: No such file or directory
[2]
$ (head -c 100 odd.mdb; echo) > cut.mdb; tamis check --confirm cut.mdb f.tamis all
tamis: cut.mdb: cannot read the store: MDB_INVALID: File is not an LMDB file
[2]

# All keys of a store are examined, not only the first ones: keys that the filter excludes would be
# left out.
$ seq -w 5000 > some; seq -w 6000 > more; awk '{ print; print "" }' more | mdb_load -T -n more.mdb; tamis build -q -o some.tamis some
$ echo 5500 | tamis check --confirm more.mdb some.tamis
tamis: more.mdb: 990 of its lines are certainly not in the filter, which was built from another list; this list cannot confirm anything
[2]
$ echo 5500 | tamis check --confirm more some.tamis
tamis: more: 990 of its lines are certainly not in the filter, which was built from another list; this list cannot confirm anything
[2]
$ (seq -w 5000; echo zzz) | awk '{ print; print "" }' | mdb_load -T -n last.mdb; echo 0001 | tamis check -q --confirm last.mdb some.tamis
tamis: last.mdb: 1 of its lines are certainly not in the filter, which was built from another list; this list cannot confirm anything
[2]

# A store that changes is examined again: added keys are seen, and a key that the filter excludes
# ends the command.
$ cp more.mdb moving.mdb; (cat more; echo 7000) | tamis build -q -o moving.tamis
$ add() { until [ -s out ]; do sleep 0.02; done; printf '%s\n\n' $1 | mdb_load -T -n moving.mdb; }
> { echo 7000; echo 0001; add 7000; echo 7000; } | tamis check --confirm moving.mdb moving.tamis > out; echo $?; cat out; : > out
> { echo 0002; add 8000; echo 8000; echo 0003; } | tamis check --confirm moving.mdb moving.tamis > out; echo $?; cat out
0
0001
7000
tamis: moving.mdb: 1 of its lines are certainly not in the filter, which was built from another list; this list cannot confirm anything
2
0002

# A pair may say no to a member. The list shows whether it does, and so does a store.
$ tamis build -q --kind pair --fpr 1e-6 -o pair.tamis odd; tamis check --confirm odd pair.tamis all | cmp - odd
$ tamis check --confirm store pair.tamis all | cmp - odd; head -n 5000 odd | tamis remove -q pair.tamis; tamis check --confirm store pair.tamis all
tamis: store: the filter excludes 5,000 of its lines: it was built from another list, or it is a pair filter that misses them; this list cannot confirm anything
[2]

# A column of the list.
$ printf 'a,1\nb,2\nc,3\n' > l.csv; tamis build --fpr 1/2 --field 1 -t , -o l.tamis l.csv
$ printf '7,b\n8,z\n9,c\n' > r.csv; tamis check --confirm l.csv --list-field 1 --field 2 -t , l.tamis r.csv; tamis check -f l.csv --list-field 1 --field 2 -t , r.csv; tamis check -f l.csv --fpr 1e-9 --list-field 1 --field 2 -t , r.csv
7,b
9,c
7,b
9,c
7,b
9,c
$ tamis check -c --confirm l.csv --list-field 1 --field 1 -t , l.tamis l.csv; printf 'b\nx\n' | tamis check -f l.csv --list-field 1 -t ,
3
b
$ tamis check --confirm l.csv --list-field 2 --field 2 -t , l.tamis r.csv
tamis: l.csv: 3 of its lines are certainly not in the filter, which was built from another list; this list cannot confirm anything
[2]
$ tamis check --list-field 1 l.tamis r.csv
tamis: check: --list-field requires a list, given with -f or --confirm
[2]
$ tamis check --confirm store --list-field 1 f.tamis all
tamis: check: --list-field requires a list of lines; the keys of an LMDB have no fields
[2]

# Standard input is read once, by whatever name.
$ seq 5 > five; tamis build -o five.tamis five; tamis check -v --confirm /dev/stdin five.tamis < five
tamis: check: standard input cannot be both the list and the lines to check
[2]
$ tamis check -c -f - /dev/stdin < five
tamis: check: standard input cannot be both the patterns and the lines to check
[2]
