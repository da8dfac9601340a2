# Members and known others: never wrong about either.
$ seq 3000 | sed 's/^/in /' > in && seq 9000 | sed 's/^/out /' > out && seq 5000 | sed 's/^/new /' > new
$ tamis build --never out -o e.tamis in
tamis: e.tamis: exact filter of 2,104 bytes, 1.73 times the lower bound; 25 % (1 in 4) of lines on neither list get a maybe (--fpr lowers this rate)
$ tamis check -c e.tamis in
3000
$ tamis check -c e.tamis out
0
[1]
$ tamis info e.tamis
e.tamis: exact filter, sealed
  items     3,000 of 3,000 planned
  never     9,000 excluded keys: none of them gets a maybe
  wrong     25 % (1 in 4) of all other keys get a maybe now; planned 25 % (1 in 4)
  size      2,104 bytes, 5.61 bits per item; 1.73 times the lower bound of 3.24
  table     sealed, with every cell in use
  hash      xxh3-128, seed 0
  file      format 1, generation 1
$ tamis verify e.tamis
e.tamis: undamaged: every checksum is right
e.tamis: 250,087 of 1,000,000 random keys got a maybe: 25 % (1 in 4); the bits predict 25 % (1 in 4): good

# With a rate for all others; the lists in several files, from a stream, repeated.
$ head -n 100 out > out1 && tail -n +50 out > out2
$ cat in in | tamis build --never out1 --never out2 --fpr 1/1000 -o f.tamis
tamis: f.tamis: exact filter of 4,704 bytes, 1.26 times the lower bound; 0.0999 % (1 in 1,001) of lines on neither list get a maybe
$ tamis check -c f.tamis in out
3000
$ tamis check -c f.tamis out
0
[1]
$ tamis info --json f.tamis | tr , '\n' | grep -E 'kind|excluded|sealed'
 "kind": "exact"
 "excluded": 9000
 "sealed": true
$ tamis build -q --never - -o g.tamis in < out && tamis check -c g.tamis in out
3000
$ tamis build --never missing -o h.tamis in
tamis: missing: cannot read: No such file or directory
[2]
$ ls h.tamis
ls: cannot access 'h.tamis': No such file or directory
[2]
$ tamis add e.tamis new
tamis: e.tamis: unchanged: the filter is sealed and cannot change; build it again from all lines
[2]
$ tamis build --never e.tamis -f -o e.tamis in
tamis: e.tamis: is one of the inputs and cannot be the output
[2]

# A line on both lists.
$ (cat out; echo in 7) > both && tamis build --never out1 --never both -o h.tamis in
tamis: both: line 9,001: 'in 7' is also in the set; a line cannot be both a member and excluded
[2]
$ tamis build --never - -o h.tamis in < both
tamis: h.tamis: line 9,001 of --never is also in the set; a line cannot be both a member and excluded
[2]
$ tamis build --kind ribbon --never out -o h.tamis in
tamis: --never requires an exact filter, because a ribbon filter can be wrong about any line
[2]
$ tamis plan -n 1M --never-items 100M
kind                   items           bytes    bits  bound  ratio  false positives              k  m
exact              1,000,000       1,087,051    8.70   8.09   1.07  0.781 % (1 in 128)           0  -
bits: per item, of the whole file; bound: fewer are impossible at that rate if all keys are
known before (sealed kinds), or if they come one by one (the others, at low rates)
$ tamis plan -n 1M --never-items 100M -p 1/40000 --kind exact --json
[{"kind": "exact", "items": 1000000, "bytes": 1937396, "bits_per_item": 15.499168, "bound_bits": 15.2877197262, "bound_ratio": 1.01383125002, "bound": "static", "fpr": 2.49998726929e-05, "m": 0, "k": 0}]

# The smallest sealed kind.
$ tamis build --static -o s.tamis in
tamis: s.tamis: chose ribbon, the smallest: 3,337 bytes, 1.34 times the lower bound; fuse 3,848, blocked 4,096
$ tamis build --static --kind fuse -o t.tamis in
tamis: --static and --kind both choose the kind; give only one of them
[2]
$ tamis build --static --never out --fpr 1% -f -o s.tamis in
tamis: s.tamis: exact filter of 3,424 bytes, 1.37 times the lower bound; 0.988 % (1 in 101) of lines on neither list get a maybe
