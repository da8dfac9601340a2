$ seq 1000 > all; seq 1 2 999 > odd

# Removing: counting filters, and pairs.
$ tamis build --kind counting --fpr 0.0001 -o c.tamis all
$ tamis info c.tamis
c.tamis: counting filter
  items     1,000 of 1,000 planned
            by the bits 989 distinct, with 99 % certainty 974 to 1,004
  wrong     0.00898 % (1 in 11,138) of never-added keys get a maybe now; planned 0.00996 % (1 in 10,037)
  size      9,848 bytes, 78.78 bits per item; 5.29 times the lower bound of 14.89
  cells     48.8 % in use; m = 19,184 of 4 bits, k = 13
            no saturated counters; the probability of any is 2.3e-11
  hash      xxh3-128, seed 0
  file      format 1, generation 1
$ tamis remove c.tamis odd
$ tamis check -c c.tamis all
500
$ tamis check -c c.tamis odd
0
[1]
$ tamis remove c.tamis odd
tamis: c.tamis: 500 of 500 lines were certainly not present
[1]
$ printf '2\nbrick\n' | tamis remove c.tamis
tamis: c.tamis: 1 of 2 lines were certainly not present
$ printf '2\n' | tamis remove -q c.tamis
[1]
$ tamis add c.tamis odd && tamis check -c c.tamis all
999
$ tamis build --kind counting --counter-bits 8 --inner blocked --fpr 1% -o lined.tamis all && tamis info lined.tamis | grep cells
  cells     33.0 % in use; m = 12,160 of 8 bits, k = 5
$ tamis build --kind counting --counter-bits 7 -o bad.tamis all
tamis: bad.tamis: a counter has 4, 8 or 16 bits, not 7
[2]
$ tamis build --kind bloom --counter-bits 8 -o bad.tamis all
tamis: bad.tamis: bits of a counter or value are only for counting, count-min, count-sketch, tally, signed-tally, top, map
[2]
$ tamis build --kind pair --fpr 0.0001 -o p.tamis all && tamis remove p.tamis odd && tamis check -c p.tamis all
500
$ tamis add --overfill p.tamis odd && tamis check -c p.tamis all
tamis: p.tamis: worn: adds and removals have filled it beyond its plan; 0.104 % (1 in 966) of never-added keys now get a maybe, and 0.0002 % (1 in 500,002) of its members a no; rebuild it with 'tamis compact'
tamis: p.tamis: worn: adds and removals have filled it beyond its plan; 0.104 % (1 in 966) of never-added keys now get a maybe, and 0.0002 % (1 in 500,002) of its members a no; rebuild it with 'tamis compact'
1000
$ tamis info p.tamis | grep missed
  missed    0.0002 % (1 in 500,002) of its members get a wrong no now

# A filter that cannot says which can.
$ tamis build -o b.tamis all
$ tamis remove b.tamis odd
tamis: b.tamis: keys cannot be removed from blocked filters; use the kind cuckoo: tamis build --kind cuckoo
[2]
$ tamis rotate b.tamis
tamis: b.tamis: blocked filters cannot rotate; use the kind window: tamis build --kind window
[2]
$ tamis merge -o m.tamis p.tamis p.tamis
tamis: p.tamis: cannot be merged with p.tamis: pair filters cannot be merged; use the kind blocked
[2]
$ tamis remove no-such-file odd
tamis: no-such-file: cannot open: No such file or directory
[2]

# Compacting: from the lines that are left.
$ tamis remove p.tamis odd && seq 2 2 1000 > even && tamis compact p.tamis even && tamis check -c p.tamis all
tamis: p.tamis: worn: adds and removals have filled it beyond its plan; 0.0944 % (1 in 1,059) of never-added keys now get a maybe, and 0.00928 % (1 in 10,780) of its members a no; rebuild it with 'tamis compact'
500
$ tamis info p.tamis | grep missed
  missed    0 of its members get a wrong no now
$ tamis compact p.tamis no-such-file
tamis: no-such-file: cannot read: No such file or directory
[2]
$ tamis check -c p.tamis all
500

# Windows: four generations, forgotten one by one.
$ tamis build --kind window --fpr 0.0001 -o w.tamis all
$ tamis rotate w.tamis && seq 2001 3000 | tamis add w.tamis && tamis info w.tamis
w.tamis: window filter
  items     2,000 of 4,000 planned
            by the bits 1,999 distinct, with 99 % certainty 1,976 to 2,023
  wrong     0.00574 % (1 in 17,432) of never-added keys get a maybe now; planned 0.00934 % (1 in 10,705)
  size      15,552 bytes, 62.21 bits per item; 4.01 times the lower bound of 15.53
  bits      11.6 % set; m = 30,208, k = 8; 4 generations
  hash      xxh3-128, seed 0
  file      format 1, generation 3
$ tamis check -c w.tamis all
1000
$ cp w.tamis before.tamis; tamis rotate w.tamis nothere b.tamis; cmp w.tamis before.tamis
tamis: nothere: cannot open: No such file or directory
tamis: b.tamis: blocked filters cannot rotate; use the kind window: tamis build --kind window
$ tamis rotate w.tamis ./w.tamis; cmp w.tamis before.tamis
tamis: ./w.tamis: is named twice
$ tamis rotate w.tamis && tamis rotate w.tamis && tamis check -c w.tamis all
1000
$ tamis rotate w.tamis && tamis check -c w.tamis all
0
[1]
$ tamis rotate w.tamis && tamis check -c w.tamis all
0
[1]

# By epochs: as often as is due, and not at all within an epoch. The first one is only recorded.
$ seq 1000 | tamis build --kind window -o e.tamis && tamis rotate --to 100 e.tamis && tamis check -c e.tamis all
1000
$ tamis rotate --to 103 e.tamis && tamis check -c e.tamis all && tamis info e.tamis | grep -A 9 generations
1000
  bits      11.3 % set; m = 13,312, k = 8; 4 generations
  epoch     103
  hash      xxh3-128, seed 0
  file      format 1, generation 3
$ cp e.tamis same; tamis rotate --to 103 e.tamis && cmp e.tamis same && tamis rotate --to 102 e.tamis; cmp e.tamis same
tamis: e.tamis: epoch 102 is in the past: the window is at epoch 103
$ tamis info --json e.tamis | grep -o '"epoch": [0-9]*'
"epoch": 103
$ tamis rotate --to 104 e.tamis && tamis check -c e.tamis all
0
[1]
$ tamis rotate --every 1d e.tamis && cp e.tamis same && tamis rotate --every 1d e.tamis && cmp e.tamis same && tamis rotate --every 30d e.tamis 2>&1 | sed 's/[0-9][0-9]*/N/g'
tamis: e.tamis: epoch N is in the past: the window is at epoch N
$ tamis rotate --every 1d --to 5 e.tamis
tamis: rotate: --every and --to cannot be combined
[2]
$ tamis rotate --to 0 e.tamis
tamis: --to: '0' is not a whole number of at least 1, like 1000000, 1M or 1e6
[2]
$ tamis rotate --every 0s e.tamis
tamis: --every: '0s' is not a time, like 0.5, 500ms, 30s or 5m
[2]
$ tamis rotate --to 5 b.tamis
tamis: b.tamis: blocked filters cannot rotate; use the kind window: tamis build --kind window
[2]
$ seq 9 | tamis count --kind window --inner tally --bytes 16KiB -o h.tamis && tamis rotate --to 7 h.tamis && tamis rotate --to 8 h.tamis && tamis freq h.tamis 9 && tamis info h.tamis | grep -A 1 cells
         1  1..1              9
  cells     0.3 % in use; m = 3,360 of 8 bits, k = 4; none saturated
  epoch     8
$ cp h.tamis h2.tamis && tamis rotate --to 9 h2.tamis && tamis merge -o h3.tamis h.tamis h2.tamis
tamis: h2.tamis: cannot be merged with h.tamis: the windows are at the epochs 8 and 9; rotate both to the same epoch first
[2]

# Windows that rotate by themselves.
$ tamis build --kind window --turning --items 400 --fpr 0.0001 --generations 4 -o t.tamis all && tamis info t.tamis
t.tamis: window filter
  items     400 of 400 planned
            by the bits 399 distinct, with 99 % certainty 385 to 416
  wrong     0.00841 % (1 in 11,892) of never-added keys get a maybe now; planned 0.00742 % (1 in 13,472)
  size      1,984 bytes, 39.68 bits per item; 2.65 times the lower bound of 14.98
  bits      22.9 % set; m = 3,072, k = 8; 4 generations that rotate by themselves
  hash      xxh3-128, seed 0
  file      format 1, generation 1
$ seq 701 1000 | tamis check -c t.tamis
300
$ seq 1 599 | tamis check -c t.tamis
0
[1]
$ tamis build --kind window --generations 300 -o bad.tamis all
tamis: bad.tamis: a window has 2 to 256 generations, not 300
[2]
$ tamis build --kind bloom --generations 3 -o bad.tamis all
tamis: bad.tamis: generations are only for window
[2]

# The plain filter of the same answers.
$ tamis convert --to bloom -o plain.tamis c.tamis && tamis check -c plain.tamis all
999
$ tamis convert --to blocked -o w2.tamis w.tamis
tamis: w.tamis: no blocked filter gives the same answers as this window filter
[2]
$ tamis convert --to bloom -o plain.tamis c.tamis
tamis: plain.tamis: already exists; use -f to replace it
[2]
$ tamis convert --to bloom -f -o c.tamis c.tamis
tamis: c.tamis: is the input and cannot be the output
[2]
$ tamis convert --to bloom -o x.tamis plain.tamis
tamis: plain.tamis: it is of kind bloom already, so there is nothing to convert
[2]
$ tamis convert --to counting -o x.tamis plain.tamis
tamis: plain.tamis: no counting filter gives the same answers as this bloom filter
[2]
$ tamis convert --to cheese -o x.tamis plain.tamis
tamis: --to: unknown kind or format 'cheese'
[2]
$ tamis convert -o x.tamis plain.tamis
tamis: convert: give the result with --to, for example --to bloom
[2]

# Help.
$ tamis remove --help | head -3
Usage: tamis remove [OPTION...] FILTER [FILE...]

Remove lines from a filter or a sketch.
$ tamis rotate 2>&1 | head -n 1
Usage: tamis rotate [OPTION...] FILTER...
$ tamis build --kind cheese -o x.tamis all
tamis: --kind: unknown kind 'cheese'; the kinds are bloom, partitioned, blocked, counting, pair, growing, window, cuckoo, fuse, ribbon, exact, map, distinct, and auto
[2]

# A cuckoo filter counts repeated lines: four in its slots, and more in its stash.
$ yes apple | head -4 | tamis build --kind cuckoo --items 100 -o f.tamis && yes apple | head -1000 | tamis add f.tamis && tamis info f.tamis | grep items
  items     1,004 of 100 planned: overfull
$ yes apple | head -1003 | tamis remove f.tamis && echo apple | tamis check f.tamis && echo apple | tamis remove f.tamis && echo apple | tamis check f.tamis
apple
[1]
# It is full when 64 distinct lines beyond the plan found no slot.
$ seq 500 | tamis build -f --kind cuckoo --items 100 -o f.tamis
tamis: f.tamis: there is no room for a line; repeated lines also take room, so use sort -u, or build it with more --items or with --headroom 50%
[2]
$ tamis build --kind cuckoo --fpr 0.1% -o k.tamis all && tamis remove k.tamis odd && tamis check -c k.tamis all && tamis info k.tamis
500
k.tamis: cuckoo filter
  items     500 of 1,000 planned
  wrong     0.0439 % (1 in 2,276) of never-added keys get a maybe now; planned 0.0878 % (1 in 1,139)
  size      1,936 bytes, 30.98 bits per item; 2.46 times the lower bound of 12.60
  cells     44.9 % in use; m = 1,114 of 12 bits, k = 2
  hash      xxh3-128, seed 0
  file      format 1, generation 2

# Removing from a growing filter, which must have been built for it.
$ tamis build --removable -o r.tamis all && tamis info r.tamis | head -2
r.tamis: growing filter, removable
  items     1,000, grown from 1,920
$ tamis remove r.tamis odd && tamis check -c r.tamis all && tamis info --json r.tamis | grep -o '"removable": [a-z]*'
500
"removable": true
$ seq 1001 30000 | tamis add r.tamis && seq 2001 30000 | tamis remove r.tamis && seq 2 2 1000 | tamis check -c r.tamis && seq 1001 2000 | tamis check -c r.tamis
500
1000
$ echo 99999999 | tamis remove r.tamis
tamis: r.tamis: 1 of 1 lines were certainly not present
[1]
# A line that was in it seven times stays.
$ yes apple | head -6 | tamis add r.tamis && yes apple | head -6 | tamis remove r.tamis && echo apple | tamis check r.tamis
[1]
$ yes apple | head -10000 | tamis add r.tamis && yes apple | head -10000 | tamis remove r.tamis && echo apple | tamis check r.tamis
apple
$ tamis build --kind growing -o s.tamis all && tamis remove s.tamis odd
tamis: s.tamis: keys can be removed from a growing filter only if it is planned with TAMIS_REMOVABLE: tamis build --kind growing --removable
[2]
$ tamis build --kind cuckoo --removable -o x.tamis all
tamis: x.tamis: planning for removals is only for growing
[2]
$ tamis build --kind growing --removable --strict -o x.tamis all
tamis: x.tamis: a growing filter is never full
[2]
$ tamis plan --kind growing --removable --fpr 1e-14
tamis: plan: that growing filter keeps a rate of 6.95e-14, not 1e-14
[2]

# A growing filter needs no number, and takes no limit but one of memory.
$ seq 20000 | tamis build --kind growing --fpr 0.1% -o g.tamis && seq 20000 | tamis check -c g.tamis && tamis info g.tamis
20000
g.tamis: growing filter
  items     19,999, grown from 100
            by the bits 19,999 distinct, with 99 % certainty 19,999 to 20,002
  wrong     0.00235 % (1 in 42,556) of never-added keys get a maybe now; planned 0.0597 % (1 in 1,674)
  size      77,704 bytes, 31.08 bits per item
  cells     71.4 % in use; m = 28,000, k = 13
  hash      xxh3-128, seed 0
  file      format 1, generation 1
$ tamis build --kind growing --strict -o bad.tamis all
tamis: bad.tamis: a growing filter is never full
[2]
$ tamis plan --kind growing --fpr 0.01
kind                   items           bytes    bits  bound  ratio  false positives              k  m
growing                  100             680   54.40      -      -  0.956 % (1 in 105)           9  128
bits: per item, of the whole file; bound: fewer are impossible at that rate if all keys are
known before (sealed kinds), or if they come one by one (the others, at low rates)
$ tamis verify g.tamis k.tamis
g.tamis: undamaged: every checksum is right
g.tamis: 1,001 of 42,556,162 random keys got a maybe: 0.00235 % (1 in 42,514); the bits predict 0.00235 % (1 in 42,556): good
k.tamis: undamaged: every checksum is right
k.tamis: 1,013 of 2,276,264 random keys got a maybe: 0.0445 % (1 in 2,247); the bits predict 0.0439 % (1 in 2,276): good
