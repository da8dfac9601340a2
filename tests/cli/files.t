# add: the lines come in, or the file stays as it was.
$ seq 1 1000 > one; seq 1001 2000 > two; tamis build --items 2000 -o f.tamis one
$ tamis add f.tamis two && tamis check -vc f.tamis one two
0
[1]
$ tamis info --json f.tamis | grep -o '"generation": [0-9]*'
"generation": 2
$ cp f.tamis before; tamis add f.tamis no-such-file
tamis: no-such-file: cannot read: No such file or directory
tamis: add: arguments are files of lines; to give a line: printf '%s\n' no-such-file | tamis add f.tamis
[2]
$ cmp f.tamis before; ls -A | grep tmp
[1]
$ seq 5000 | tamis add f.tamis
tamis: f.tamis: unchanged: it would hold about 4,982 items, planned for 2,000; its false-positive rate would be 29.8 % (1 in 3), planned 1 % (1 in 100)
tamis: f.tamis: build it again with more room, from the LIST of its lines: tamis add --grow --from LIST f.tamis; --overfill writes it anyway
[2]
$ seq 3 > three; tamis build -o t.tamis three; seq 4 6 | tamis add t.tamis; tamis info --json t.tamis | grep -o '"overfull": [a-z]*'
"overfull": true
$ seq 3 100 | tamis add t.tamis
tamis: t.tamis: unchanged: it would hold about 92 items, planned for 3; its false-positive rate would be 11.9 % (1 in 8), planned 1 % (1 in 100)
tamis: t.tamis: build it again with more room, from the LIST of its lines: tamis add --grow --from LIST t.tamis; --overfill writes it anyway
[2]
$ tamis build -f --fpr 1e-9 --items 3 -o t.tamis three; seq 4 9 | tamis build -f --fpr 1e-9 --items 3 -o t.tamis
tamis: t.tamis: not written: it would hold about 5 items, planned for 3; its false-positive rate would be 4.14e-07 % (1 in 241,319,424), planned 1e-07 % (1 in 1,000,000,000)
tamis: t.tamis: give more --items, or --kind growing; --overfill writes it anyway
[2]
$ seq 2000 > two-k; tamis build -o t2.tamis two-k; seq 2001 2010 | tamis add t2.tamis; seq 2001 2100 | tamis add t2.tamis
tamis: t2.tamis: overfull: about 2,098 items, planned for 2,000; its false-positive rate is now 1.15 % (1 in 87)
$ tamis build --kind ribbon --items 1000 -o r.tamis two-k
$ tamis build --kind pair --items 1000 -o p.tamis one; seq 1001 1005 | tamis add p.tamis; seq 2000 | tamis add p.tamis
tamis: p.tamis: unchanged: it would be worn; 15.4 % (1 in 6) of never-added keys would get a maybe, and 0 of its members a no, planned 1 % (1 in 100)
tamis: p.tamis: rebuild it with 'tamis compact' from the lines that remain, or build a bigger one with more --items; --overfill writes it anyway
[2]
$ tamis build --strict --items 1000 -o s.tamis one && cp s.tamis before; tamis add s.tamis two
tamis: s.tamis: unchanged: the filter is strict, and there are more lines than it was planned for
[2]
$ cmp s.tamis before && tamis add s.tamis one

# Modes and links stay.
$ chmod 640 f.tamis; ln -s f.tamis link; echo x | tamis add -q link; stat -c '%a %F' f.tamis link
640 regular file
777 symbolic link

# Many adds at the same time lose nothing.
$ tamis build --items 4000 -o c.tamis /dev/null
$ for i in $(seq 40); do seq $((i * 100)) $((i * 100 + 99)) | tamis add -q c.tamis & done; wait; seq 100 4099 | tamis check -vc c.tamis
0
[1]
$ tamis info --json c.tamis | grep -o '"generation": [0-9]*'
"generation": 41

# merge: the filter of the union, bit for bit.
$ tamis build --items 2000 -o a.tamis one; tamis build --items 2000 -o b.tamis two; tamis build --items 2000 -o ab.tamis one two
$ tamis merge -o m.tamis a.tamis b.tamis; tail -c +257 m.tamis > m; tail -c +257 ab.tamis > ab; cmp m ab
$ tamis info m.tamis | sed -n 2p
  items     about 1,9... of 2,000 planned
$ tamis merge -o m.tamis a.tamis
tamis: m.tamis: already exists; use -f to replace it
[2]
$ tamis build --items 3000 -o c3.tamis one; tamis merge -f -o m.tamis a.tamis c3.tamis
tamis: c3.tamis: cannot be merged with a.tamis: they differ in shape: m = 20480, k = 8 and m = 30720, k = 8
[2]
$ tamis build --items 2000 --seed 7 -o s7.tamis one; tamis merge -f -o m.tamis a.tamis s7.tamis
tamis: s7.tamis: cannot be merged with a.tamis: they differ in their seed
[2]
$ tamis build --items 2000 --kind bloom -o bl.tamis one; tamis merge -f -o m.tamis a.tamis bl.tamis
tamis: bl.tamis: cannot be merged with a.tamis: one is blocked, the other bloom
[2]
$ tamis merge -f -o m.tamis a.tamis one
tamis: one: not a Tamis file
[2]
$ tail -c +257 m.tamis | cmp - m

# A merge into one of its own operands waits its turn like an add: nothing is lost.
$ tamis build --items 4000 -o acc.tamis /dev/null; tamis build --items 4000 -o one-more.tamis one
$ for i in $(seq 30); do seq $((i * 100)) $((i * 100 + 99)) | tamis add -q acc.tamis & tamis merge -q -f -o acc.tamis one-more.tamis acc.tamis & done; wait; seq 100 3099 | tamis check -vc acc.tamis
0
[1]
$ tamis check -vc acc.tamis one
0
[1]

# Symbolic links that lead nowhere are not replaced, nor is an input by its filter.
$ ln -s nowhere dangling; tamis build -f -o dangling one
tamis: dangling: the symbolic link leads to no file: No such file or directory
[2]
$ tamis build -f -o /dev/stdout one | wc -c
tamis: /dev/stdout: the symbolic link leads to no file: No such file or directory
0
$ cp one both; tamis build -f -o both both; cmp one both
tamis: both: is one of the inputs and cannot be the output

# Closed standard streams do not lend their numbers to files, and using one is an error.
$ tamis build -q --items 1000 -o c0.tamis two; cp c0.tamis c1.tamis; tamis add -q c0.tamis <&-; cmp c0.tamis c1.tamis
tamis: standard input: cannot read: Bad file descriptor
$ tamis uniq <&-
tamis: standard input: cannot read: Bad file descriptor
[2]
$ seq 10 | tamis uniq >&-
tamis: standard output: cannot write: Bad file descriptor
[2]
$ tamis build -o - two >&-
tamis: standard output: cannot write: Bad file descriptor
[2]
$ tamis info c0.tamis >&-
tamis: standard output: cannot write: Bad file descriptor
[2]
$ tamis top two >&-
tamis: standard output: cannot write: Bad file descriptor
[2]
$ tamis add -q c0.tamis missing 2>&-
[2]
$ tamis check -q a.tamis one >&-

# The reason is that of the first write that failed, also when much was written at once.
$ head -c 200000 /dev/zero | tr '\0' x | tamis uniq > /dev/full
tamis: standard output: cannot write: No space left on device
[2]
$ seq 100000 > much; tamis check -v a.tamis much > /dev/full
tamis: standard output: cannot write: No space left on device
[2]
$ tamis build -o - much > /dev/full
tamis: standard output: cannot write: No space left on device
[2]
$ tamis count -o sketch.tamis two; tamis freq sketch.tamis "$(head -c 100000 much)" x > /dev/full
tamis: standard output: cannot write: No space left on device
[2]
$ tamis add c0.tamis two <&- >&- 2>&-; tamis verify --keys 1000 c0.tamis | head -n 1
c0.tamis: undamaged: every checksum is right

# info and verify.
$ tamis info a.tamis
a.tamis: blocked filter
  items     1,000 of 2,000 planned
            by the bits 1,001 distinct, with 99 % certainty 986 to 1,016
  wrong     0.0228 % (1 in 4,380) of never-added keys get a maybe now; planned 0.931 % (1 in 107)
  size      2,816 bytes, 22.53 bits per item; 1.66 times the lower bound of 13.54
  bits      32.4 % set; m = 20,480, k = 8
  hash      xxh3-128, seed 0
  file      format 1, generation 1
$ tamis info --json a.tamis b.tamis | /usr/bin/python3 -c 'import json, sys; print(*[json.loads(line)["file"] for line in sys.stdin])'
a.tamis b.tamis
$ cp a.tamis "$(printf 'odd\377"name')"; tamis info --json odd* | /usr/bin/python3 -c 'import json, sys; print(ascii(json.load(sys.stdin)["file"]))'
'odd\xff"name'
$ tamis info no-such-file a.tamis > out; echo $?; head -n 1 out
tamis: no-such-file: cannot open: No such file or directory
2
a.tamis: blocked filter
$ tamis verify ab.tamis
ab.tamis: undamaged: every checksum is right
ab.tamis: 9,104 of 1,000,000 random keys got a maybe: 0.91 % (1 in 110); the bits predict 0.919 % (1 in 109): good
$ tamis verify --json --keys 1000 ab.tamis
{"file": "ab.tamis", "sums": true, "keys": 1000, "maybe": ..., "fpr_measured": ..., "fpr_now": ..., "fpr_planned": ..., "overfull": false, "hash_suspect": false, "good": true}
$ tamis verify one
tamis: one: not a Tamis file
[2]

# Secret keys.
$ printf 'sixteen  bytes!!' > key; printf '%032d\n' 0 > other-key; chmod 600 key other-key
$ tamis build --key-file key -o k.tamis one && tamis check --key-file key -c k.tamis one
1000
$ tamis check k.tamis one
tamis: k.tamis: this filter was made with a secret key, which was not given; give it with --key-file
[2]
$ tamis check --key-file other-key k.tamis one
tamis: k.tamis: this filter was made with another secret key
[2]
$ tamis check --key-file key a.tamis one
tamis: a.tamis: a secret key was given, but this filter was made without one
[2]
$ tamis build --key-file other-key -o ok.tamis one; tamis merge -o km.tamis k.tamis ok.tamis
tamis: ok.tamis: cannot be merged with k.tamis: they differ in their secret key
[2]
$ grep -c 'sixteen  bytes' k.tamis
0
[1]
$ tamis info --json k.tamis | grep -o '"hash": "[a-z0-9-]*"\|"keyed": [a-z]*'
"hash": "siphash-2-4-128"
"keyed": true
$ tamis build --key-file key --seed 3 -o x.tamis one
tamis: x.tamis: give a seed or a key, not both
[2]
