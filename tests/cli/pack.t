# A plan for transfer: what it takes here, and on the wire.
$ tamis plan --for-transfer --items 1M --fpr 1%
kind                   items           bytes    bits  bound  ratio  false positives              k  m
bloom              1,000,000      12,439,128   99.51   8.09  12.31  1 % (1 in 100)               1  99,499,200
packed                             1,010,659    8.09   6.64   1.22
bits: per item, of the whole file; bound: fewer are impossible at that rate if all keys are
known before (sealed kinds), or if they come one by one (the others, at low rates)
$ tamis plan --for-transfer --items 1M --fpr 1e-4 --json
[{"kind": "bloom", "items": 1000000, "bytes": 24878056, "packed_bytes": 2021085, "bits_per_item": 199.024448, "bound_bits": 14.7304075688, "bound_ratio": 13.5111297546, "bound": "dynamic", "fpr": 9.99999897147e-05, "m": 198998336, "k": 2}]
$ tamis plan --for-transfer --items 100k --fpr 0.1%
kind                   items           bytes    bits  bound  ratio  false positives              k  m
bloom                100,000      12,495,480  999.64  11.41  87.62  0.1 % (1 in 1,000)           1  99,950,016
packed                               145,941   11.68   9.97   1.17
bits: per item, of the whole file; bound: fewer are impossible at that rate if all keys are
known before (sealed kinds), or if they come one by one (the others, at low rates)
$ tamis plan --for-transfer --items 100k --fpr 0.1% --bytes 1MB
kind                   items           bytes    bits  bound  ratio  false positives              k  m
bloom                100,000         778,328   62.27  11.41   5.46  0.1 % (1 in 1,000)           2  6,224,064
packed                               160,002   12.80   9.97   1.28
bits: per item, of the whole file; bound: fewer are impossible at that rate if all keys are
known before (sealed kinds), or if they come one by one (the others, at low rates)
$ tamis plan --for-transfer --kind auto --items 100k --bytes 1MB --json | grep -o '"kind": "[a-z]*"'
"kind": "bloom"
$ tamis plan --for-transfer --kind blocked --items 1M --fpr 1%
tamis: plan: planning for transfer is only for bloom
[2]

# There and back, bit for bit; a plain filter of the same rate is bigger on the wire.
$ seq 1 100000 > list; tamis build --for-transfer -o f.tamis list
tamis: f.tamis: 1,244,128 bytes, about 101,318 when packed
$ tamis build --for-transfer -q -f -o f.tamis list
$ tamis pack -o f.packed f.tamis; tamis unpack -o g.tamis f.packed; cmp f.tamis g.tamis; tamis check -c g.tamis list
100000
$ stat -c %s f.packed; tamis build --kind bloom -o plain.tamis list; stat -c %s plain.tamis
101270
120176
$ tamis pack -o - f.tamis | cmp - f.packed; tamis unpack -o - - < f.packed | cmp - f.tamis

# What arrived is alive.
$ seq 100001 100010 | tamis add -q g.tamis; tamis merge -o all.tamis g.tamis f.tamis; seq 100001 100010 | tamis check -c all.tamis
10

# Secret keys stay at home.
$ printf 'sixteen  bytes!!' > key; chmod 600 key; head -n 1000 list > few; tamis build --for-transfer -q --key-file key -o k.tamis few
$ tamis pack -o k.packed k.tamis; tamis unpack -o k2.tamis k.packed; cmp k.tamis k2.tamis; tamis check --key-file key -c k2.tamis few
1000

# Every kind can be packed; few are worth it.
$ tamis build --kind ribbon -o r.tamis list; tamis pack -o r.packed r.tamis; tamis unpack -o r2.tamis r.packed; cmp r.tamis r2.tamis
tamis: r.tamis: a ribbon is at the lower bound already, so packing saves nothing
$ tamis build --kind blocked -o b.tamis list; tamis pack -o b.packed b.tamis; tamis pack -q -f -o b.packed b.tamis
tamis: b.tamis: 126,528 bytes, packed 126,570: packing saves little; filters built with --for-transfer pack better
$ tamis build --kind counting --items 1M -o c.tamis list; tamis pack -o c.packed c.tamis; tamis unpack -o c2.tamis c.packed; cmp c.tamis c2.tamis
$ seq 1 10 | tamis build --kind growing --fpr 1% -o grown.tamis; tamis pack -q -o grown.packed grown.tamis; tamis unpack -o grown2.tamis grown.packed; cmp grown.tamis grown2.tamis

# A packed file is not a filter yet.
$ tamis check f.packed list
tamis: f.packed: this file is packed; unpack it first (tamis unpack), to 1244128 bytes
[2]
$ tamis info f.packed
tamis: f.packed: this file is packed; unpack it first (tamis unpack), to 1244128 bytes
[2]
$ tamis add f.packed list
tamis: f.packed: this file is packed; unpack it first (tamis unpack), to 1244128 bytes
[2]
$ tamis pack -o f2.packed f.packed
tamis: f.packed: this file is packed; unpack it first (tamis unpack), to 1244128 bytes
[2]

# What cannot be.
$ tamis unpack -o x.tamis f.tamis
tamis: f.tamis: this file is not packed; open it as it is
[2]
$ tamis unpack -o x.tamis list
tamis: list: not a packed Tamis file
[2]
$ tamis unpack -o x.tamis no-such-file
tamis: no-such-file: cannot open: No such file or directory
[2]
$ tamis unpack -o x.tamis .
tamis: .: cannot read: Is a directory
[2]
$ head -c 50000 f.packed > cut; tamis unpack -o x.tamis cut
tamis: cut: damaged or truncated: the checksum does not match
[2]
$ (head -c 50000 f.packed; printf x; tail -c +50002 f.packed) > bent; tamis unpack -o x.tamis bent
tamis: bent: damaged or truncated: the checksum does not match
[2]
$ ls x.tamis
ls: cannot access 'x.tamis': No such file or directory
[2]
$ tamis pack -o f.packed f.tamis
tamis: f.packed: already exists; use -f to replace it
[2]
$ tamis unpack -o g.tamis f.packed
tamis: g.tamis: already exists; use -f to replace it
[2]
$ tamis unpack -f -o f.packed f.packed
tamis: f.packed: is the input and cannot be the output
[2]
$ tamis pack -f -o f.tamis f.tamis
tamis: f.tamis: is the input and cannot be the output
[2]
$ tamis pack f.tamis
tamis: pack: give the output file with -o FILE; for example: tamis pack -o new-f.packed f.tamis
[2]
$ tamis pack -o x f.tamis g.tamis
tamis: pack: name one filter, not 2
[2]
$ tamis unpack -o x f.packed g.packed
tamis: unpack: name one file, not 2
[2]
$ tamis pack -o /dev/full/x f.tamis
tamis: /dev/full/x: cannot save: Not a directory
[2]
$ tamis pack -o - f.tamis > /dev/full
tamis: standard output: cannot write: No space left on device
[2]
