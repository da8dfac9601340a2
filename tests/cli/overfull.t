# build plans for exactly its lines. Up to twice the planned rate add warns, even with -q. Above
# that the file is unchanged.
$ seq 1000 > one; seq 1001 2000 > two; seq 1001 1080 > some; seq 500 > half
$ tamis build -o f.tamis one; tamis add -q f.tamis some
tamis: f.tamis: overfull: about 1,081 items, planned for 1,000; its false-positive rate is now 1.36 % (1 in 73)
$ cp f.tamis before; tamis add -q f.tamis two
tamis: f.tamis: unchanged: it would hold about 1,978 items, planned for 1,000; its false-positive rate would be 15.4 % (1 in 6), planned 1 % (1 in 100)
tamis: f.tamis: build it again with more room, from the LIST of its lines: tamis add -q --grow --from LIST f.tamis two; --overfill writes it anyway
[2]
$ cmp f.tamis before; tamis check -q f.tamis one
tamis: f.tamis: overfull: about 1,081 items, planned for 1,000; its false-positive rate is now 1.36 % (1 in 73)
$ tamis add --overfill f.tamis two
tamis: f.tamis: overfull: about 1,978 items, planned for 1,000; its false-positive rate is now 15.4 % (1 in 6)
$ tamis check -vc f.tamis one two
tamis: f.tamis: overfull: about 1,978 items, planned for 1,000; its false-positive rate is now 15.4 % (1 in 6)
0
[1]
$ cp f.tamis before; tamis add f.tamis one; cmp f.tamis before
tamis: f.tamis: unchanged: it would hold about 1,978 items, planned for 1,000; its false-positive rate would be 15.4 % (1 in 6), planned 1 % (1 in 100)
tamis: f.tamis: build it again with more room, from the LIST of its lines: tamis add --grow --from LIST f.tamis one; --overfill writes it anyway

# What the message names helps.
$ tamis build --items 2000 -f -o g.tamis one && tamis add g.tamis two && tamis build --kind growing -f -o g.tamis one && tamis add g.tamis two

# A small filter has room beyond its plan. A requested rate counts as far as the file records it.
$ seq 3 > three; tamis build -o t.tamis three; seq 4 6 | tamis add t.tamis; seq 7 100 | tamis add t.tamis
tamis: t.tamis: unchanged: it would hold about 92 items, planned for 3; its false-positive rate would be 11.9 % (1 in 8), planned 1 % (1 in 100)
tamis: t.tamis: build it again with more room, from the LIST of its lines: tamis add --grow --from LIST t.tamis; --overfill writes it anyway
[2]
$ tamis build --fpr 0.01% -o low.tamis one; tamis add low.tamis some; tamis add low.tamis two
tamis: low.tamis: overfull: about 1,080 items, planned for 1,000; its false-positive rate is now 0.0176 % (1 in 5,677)
tamis: low.tamis: unchanged: it would hold about 1,998 items, planned for 1,000; its false-positive rate would be 0.444 % (1 in 225), planned 0.0114 % (1 in 8,806)
tamis: low.tamis: build it again with more room, from the LIST of its lines: tamis add --grow --from LIST low.tamis two; --overfill writes it anyway
[2]

# Every kind has its own way.
$ for k in bloom partitioned counting pair window; do tamis build --kind $k -f -o k.tamis one; cp k.tamis before; tamis add k.tamis two; cmp k.tamis before; tamis add -q --overfill k.tamis two; done
tamis: k.tamis: unchanged: it would hold about 2,003 items, planned for 1,000; its false-positive rate would be 15.8 % (1 in 6), planned 1 % (1 in 100)
tamis: k.tamis: build it again with more room, from the LIST of its lines: tamis add --grow --from LIST k.tamis two; --overfill writes it anyway
tamis: k.tamis: overfull: about 2,003 items, planned for 1,000; its false-positive rate is now 15.8 % (1 in 6)
tamis: k.tamis: unchanged: it would hold about 2,015 items, planned for 1,000; its false-positive rate would be 16.1 % (1 in 6), planned 1 % (1 in 100)
tamis: k.tamis: build it again with more room, from the LIST of its lines: tamis add --grow --from LIST k.tamis two; --overfill writes it anyway
tamis: k.tamis: overfull: about 2,015 items, planned for 1,000; its false-positive rate is now 16.1 % (1 in 6)
tamis: k.tamis: unchanged: it would hold about 2,003 items, planned for 1,000; its false-positive rate would be 15.8 % (1 in 6), planned 1 % (1 in 100)
tamis: k.tamis: build it again with more room, from the LIST of its lines: tamis add --grow --from LIST k.tamis two; --overfill writes it anyway
tamis: k.tamis: overfull: about 2,003 items, planned for 1,000; its false-positive rate is now 15.8 % (1 in 6)
tamis: k.tamis: unchanged: it would be worn; 15.4 % (1 in 6) of never-added keys would get a maybe, and 0 of its members a no, planned 1 % (1 in 100)
tamis: k.tamis: rebuild it with 'tamis compact' from the lines that remain, or build a bigger one with more --items; --overfill writes it anyway
tamis: k.tamis: worn: adds and removals have filled it beyond its plan; 15.4 % (1 in 6) of never-added keys now get a maybe, and 0 of its members a no; rebuild it with 'tamis compact'
tamis: k.tamis: unchanged: it would hold more items in a generation than the 1,000 planned for each; its false-positive rate would be 6.2 % (1 in 16), planned 1 % (1 in 100)
tamis: k.tamis: rotate it first ('tamis rotate'), or build it with more --items; --overfill writes it anyway
tamis: k.tamis: overfull: more items in a generation than the 1,000 planned for each; its false-positive rate is now 6.2 % (1 in 16)
$ for k in growing cuckoo ribbon fuse; do tamis build --kind $k -f -o k.tamis one; cp k.tamis before; tamis add k.tamis two; cmp -s k.tamis before; echo $?; done
1
tamis: k.tamis: unchanged: there is no room for a line; repeated lines also take room, so use sort -u, or build it with more --items or with --headroom 50%
0
tamis: k.tamis: unchanged: the filter is sealed and cannot change; build it again from all lines
0
tamis: k.tamis: unchanged: the filter is sealed and cannot change; build it again from all lines
0
$ tamis build --kind window --turning --items 1000 -f -o k.tamis one; tamis add k.tamis two; tamis check -q k.tamis two
$ tamis build -f --compact -o k.tamis one; tamis add k.tamis two
tamis: k.tamis: unchanged: it would hold about 2,027 items, planned for 1,000; its false-positive rate would be 13.9 % (1 in 7), planned 1 % (1 in 100)
tamis: k.tamis: build it again with more room, from the LIST of its lines: tamis add --grow --from LIST k.tamis two; --overfill writes it anyway
[2]
$ tamis build -f --strict -o k.tamis one; tamis add --overfill k.tamis two
tamis: k.tamis: unchanged: the filter is strict, and there are more lines than it was planned for
[2]

# Sketches have no rate.
$ for k in tally signed-tally count-min count-sketch top; do tamis count --kind $k --bytes 16KiB -f -o s.tamis one && tamis add s.tamis one two && tamis merge -f -o s2.tamis s.tamis s.tamis && tamis count --kind window --inner $k --bytes 64KiB -f -o w.tamis one && tamis add w.tamis one two && tamis rotate w.tamis; done 2>&1 | grep -i full
[1]

# merge: filters for their own lines only make a union that is overfull.
$ tamis build -o a.tamis one; tamis build -o b.tamis two; tamis merge -q -o m.tamis a.tamis b.tamis
tamis: m.tamis: not written: it would hold about 1,978 items, planned for 1,000; its false-positive rate would be 15.4 % (1 in 6), planned 1 % (1 in 100)
tamis: m.tamis: build each filter with --items N for the lines of all of them together; --overfill writes it anyway
[2]
$ ls m.tamis; cp a.tamis before; tamis merge -f -o a.tamis a.tamis b.tamis; cmp a.tamis before
ls: cannot access 'm.tamis': No such file or directory
tamis: a.tamis: unchanged: it would hold about 1,978 items, planned for 1,000; its false-positive rate would be 15.4 % (1 in 6), planned 1 % (1 in 100)
tamis: a.tamis: build each filter with --items N for the lines of all of them together; --overfill writes it anyway
$ tamis merge --overfill -o m.tamis a.tamis b.tamis; tamis info --json m.tamis | grep -o '"overfull": [a-z]*'
tamis: m.tamis: overfull: about 1,978 items, planned for 1,000; its false-positive rate is now 15.4 % (1 in 6)
"overfull": true
$ tamis build --items 1080 -o a2.tamis one; tamis build --items 1080 -o b2.tamis two; tamis build --items 1080 -o c2.tamis some; tamis merge -o m2.tamis a2.tamis c2.tamis
$ seq 1001 1150 | tamis build --items 1080 -f -o c2.tamis; tamis merge -q -o m3.tamis a2.tamis c2.tamis
tamis: m3.tamis: overfull: about 1,153 items, planned for 1,080; its false-positive rate is now 1.15 % (1 in 87)
$ tamis build --items 2000 -f -o a2.tamis one; tamis build --items 2000 -f -o b2.tamis two; tamis merge -f -o m2.tamis a2.tamis b2.tamis

# compact and build follow the same rule; so do filters for other programs.
$ cp m.tamis before; tamis compact m.tamis one two; cmp m.tamis before; tamis compact m.tamis one && tamis check -c m.tamis one
tamis: m.tamis: unchanged: it would hold about 1,978 items, planned for 1,000; its false-positive rate would be 15.4 % (1 in 6), planned 1 % (1 in 100)
tamis: m.tamis: build it with --items N for all lines to come, or with --kind growing; --overfill writes it anyway
1000
$ tamis build --items 1000 -o over.tamis one two; ls over.tamis
tamis: over.tamis: not written: it would hold about 1,978 items, planned for 1,000; its false-positive rate would be 15.4 % (1 in 6), planned 1 % (1 in 100)
tamis: over.tamis: give more --items, or --kind growing; --overfill writes it anyway
ls: cannot access 'over.tamis': No such file or directory
[2]
$ tamis build -q --overfill --items 1000 -o over.tamis one two
tamis: over.tamis: overfull: about 1,978 items, planned for 1,000; its false-positive rate is now 15.4 % (1 in 6)
$ tamis build -q --items 1920 -o nearly.tamis one two
tamis: nearly.tamis: overfull: about 1,997 items, planned for 1,920; its false-positive rate is now 1.15 % (1 in 87)
$ tamis build --to dcso --items 100 -o over.bloom one; ls over.bloom; tamis build -q --to dcso --overfill --items 100 -o over.bloom one
tamis: over.bloom: not written: it would hold about 939 items, planned for 100; its false-positive rate would be 99.3 %, planned 1.02 % (1 in 98)
tamis: over.bloom: give more --items; --overfill writes it anyway
ls: cannot access 'over.bloom': No such file or directory
tamis: over.bloom: overfull: about 939 items, planned for 100; its false-positive rate is now 99.3 %

# check warns once, whatever it prints; --json tells it.
$ tamis check -c over.tamis one two
tamis: over.tamis: overfull: about 1,978 items, planned for 1,000; its false-positive rate is now 15.4 % (1 in 6)
2000
$ echo 1 | tamis check -q over.tamis
tamis: over.tamis: overfull: about 1,978 items, planned for 1,000; its false-positive rate is now 15.4 % (1 in 6)
$ tamis check --json over.tamis one; tamis check --json f.tamis half; tamis check --json a.tamis one
tamis: over.tamis: overfull: about 1,978 items, planned for 1,000; its false-positive rate is now 15.4 % (1 in 6)
{"filter": "over.tamis", "lines": 1000, "maybe": 1000, "absent": 0, "fpr_now": 0.154177859255, "overfull": true}
tamis: f.tamis: overfull: about 1,978 items, planned for 1,000; its false-positive rate is now 15.4 % (1 in 6)
{"filter": "f.tamis", "lines": 500, "maybe": 500, "absent": 0, "fpr_now": 0.154177859255, "overfull": true}
{"filter": "a.tamis", "lines": 1000, "maybe": 1000, "absent": 0, "fpr_now": 0.0100037291829, "overfull": false}
$ tamis check -c - one < over.tamis; cat over.tamis | tamis check -c - one
tamis: standard input: overfull: about 1,978 items, planned for 1,000; its false-positive rate is now 15.4 % (1 in 6)
1000
tamis: standard input: overfull: about 1,978 items, planned for 1,000; its false-positive rate is now 15.4 % (1 in 6)
1000
$ tamis check -c nearly.tamis half; tamis check -c a.tamis half; tamis check -c --confirm one over.tamis half
tamis: nearly.tamis: overfull: about 1,997 items, planned for 1,920; its false-positive rate is now 1.15 % (1 in 87)
500
500
tamis: over.tamis: overfull: about 1,978 items, planned for 1,000; its false-positive rate is now 15.4 % (1 in 6)
500
$ tamis check -c -f half --bytes 400 half
500
$ tamis build --kind window --generations 3 --overfill -f -o w.tamis one; for i in 1 2 3; do tamis add -q --overfill w.tamis two; done; tamis check -c w.tamis half
tamis: w.tamis: overfull: more items in a generation than the 1,000 planned for each; its false-positive rate is now 6.91 % (1 in 14)
tamis: w.tamis: overfull: more items in a generation than the 1,000 planned for each; its false-positive rate is now 6.91 % (1 in 14)
tamis: w.tamis: overfull: more items in a generation than the 1,000 planned for each; its false-positive rate is now 6.91 % (1 in 14)
tamis: w.tamis: overfull: more items in a generation than the 1,000 planned for each; its false-positive rate is now 6.91 % (1 in 14)
500

# Removals wear a pair; those of other kinds only make room.
$ tamis build --kind pair -f -o p.tamis one; for i in 1 2; do tamis remove -q p.tamis one; tamis add -q --overfill p.tamis one; done; tamis remove -q p.tamis one
tamis: p.tamis: worn: adds and removals have filled it beyond its plan; 15.7 % (1 in 6) of never-added keys now get a maybe, and 0.843 % (1 in 119) of its members a no; rebuild it with 'tamis compact'
tamis: p.tamis: worn: adds and removals have filled it beyond its plan; 0 of never-added keys now get a maybe, and 16.5 % (1 in 6) of its members a no; rebuild it with 'tamis compact'
tamis: p.tamis: worn: adds and removals have filled it beyond its plan; 42.3 % (1 in 2) of never-added keys now get a maybe, and 9.55 % (1 in 10) of its members a no; rebuild it with 'tamis compact'
tamis: p.tamis: worn: adds and removals have filled it beyond its plan; 0 of never-added keys now get a maybe, and 51.8 % of its members a no; rebuild it with 'tamis compact'
$ tamis build --kind counting -f --overfill --items 500 -o c.tamis one; tamis remove c.tamis half
tamis: c.tamis: overfull: about 1,000 items, planned for 500; its false-positive rate is now 15.7 % (1 in 6)

# A filter for another program that holds exactly the planned items is written, even if it is small,
# and whatever its bits are by chance.
$ for to in "parquet --type string" dcso redisbloom redisbloom-dump "guava --type string"; do for n in $(seq 20); do for p in 0.01 1e-6; do seq -f "$n-$p-%.0f" $n > small; tamis build --to $to --fpr $p -f -o small.out small || echo "$to $n $p"; done; done; done
$ tamis build --to parquet --type string --items 30 -f -o small.out half; tamis build --to guava --type string --items 480 -f -o small.out half
tamis: small.out: not written: it would hold more than 160 items, planned for 30; its false-positive rate would be 100 %, planned 1 % (1 in 100)
tamis: small.out: give more --items; --overfill writes it anyway
tamis: small.out: overfull: about 503 items, planned for 480; its false-positive rate is now 1.24 % (1 in 80)
$ tamis build --to guava --type string --items 900 -f -o small.out one; tamis build --to dcso --items 900 -f -o small.out one
tamis: small.out: overfull: about 1,003 items, planned for 900; its false-positive rate is now 1.65 % (1 in 60)
tamis: small.out: overfull: about 982 items, planned for 900; its false-positive rate is now 1.51 % (1 in 66)

# The planned rate is that of the shape, whatever the filter is made of. A third more than planned
# is too much for it.
$ seq 1001 1300 > third; for k in bloom blocked partitioned; do for w in pair window; do tamis build --kind $w --inner $k --fpr 1e-5 -f -o i.tamis one; tamis add i.tamis third; done; done
tamis: i.tamis: unchanged: it would be worn; 0.0174 % (1 in 5,756) of never-added keys would get a maybe, and 0 of its members a no, planned 0.00102 % (1 in 98,327)
tamis: i.tamis: rebuild it with 'tamis compact' from the lines that remain, or build a bigger one with more --items; --overfill writes it anyway
tamis: i.tamis: unchanged: it would hold more items in a generation than the 1,000 planned for each; its false-positive rate would be 0.00601 % (1 in 16,644), planned 0.00102 % (1 in 98,070)
tamis: i.tamis: rotate it first ('tamis rotate'), or build it with more --items; --overfill writes it anyway
tamis: i.tamis: unchanged: it would be worn; 0.00357 % (1 in 28,020) of never-added keys would get a maybe, and 0 of its members a no, planned 0.00101 % (1 in 98,615)
tamis: i.tamis: rebuild it with 'tamis compact' from the lines that remain, or build a bigger one with more --items; --overfill writes it anyway
tamis: i.tamis: unchanged: it would be worn; 0.0159 % (1 in 6,299) of never-added keys would get a maybe, and 0 of its members a no, planned 0.00102 % (1 in 98,113)
tamis: i.tamis: rebuild it with 'tamis compact' from the lines that remain, or build a bigger one with more --items; --overfill writes it anyway
tamis: i.tamis: unchanged: it would hold more items in a generation than the 1,000 planned for each; its false-positive rate would be 0.00589 % (1 in 16,987), planned 0.00103 % (1 in 97,498)
tamis: i.tamis: rotate it first ('tamis rotate'), or build it with more --items; --overfill writes it anyway
[2]
$ for k in bloom blocked; do tamis build --kind counting --inner $k --fpr 1e-5 -f -o i.tamis one; tamis add i.tamis third; done
tamis: i.tamis: unchanged: it would hold about 1,283 items, planned for 1,000; its false-positive rate would be 0.0158 % (1 in 6,346), planned 0.001 % (1 in 99,873)
tamis: i.tamis: build it again with more room, from the LIST of its lines: tamis add --grow --from LIST i.tamis third; --overfill writes it anyway
tamis: i.tamis: unchanged: it would hold about 1,310 items, planned for 1,000; its false-positive rate would be 0.00285 % (1 in 35,039), planned 0.00101 % (1 in 99,493)
tamis: i.tamis: build it again with more room, from the LIST of its lines: tamis add --grow --from LIST i.tamis third; --overfill writes it anyway
[2]
$ seq 1000 1020 > twenty; for k in bloom blocked partitioned; do for w in pair window; do seq 20 | tamis build --kind $w --inner $k -f -o i.tamis; tamis add i.tamis twenty; done; done
tamis: i.tamis: unchanged: it would be worn; 13 % (1 in 8) of never-added keys would get a maybe, and 0 of its members a no, planned 1 % (1 in 100)
tamis: i.tamis: rebuild it with 'tamis compact' from the lines that remain, or build a bigger one with more --items; --overfill writes it anyway
tamis: i.tamis: unchanged: it would hold more items in a generation than the 20 planned for each; its false-positive rate would be 13 % (1 in 8), planned 1 % (1 in 100)
tamis: i.tamis: rotate it first ('tamis rotate'), or build it with more --items; --overfill writes it anyway
tamis: i.tamis: unchanged: it would be worn; 8.38 % (1 in 12) of never-added keys would get a maybe, and 0 of its members a no, planned 1 % (1 in 100)
tamis: i.tamis: rebuild it with 'tamis compact' from the lines that remain, or build a bigger one with more --items; --overfill writes it anyway
tamis: i.tamis: unchanged: it would hold more items in a generation than the 20 planned for each; its false-positive rate would be 8.38 % (1 in 12), planned 1 % (1 in 100)
tamis: i.tamis: rotate it first ('tamis rotate'), or build it with more --items; --overfill writes it anyway
[2]

# A window is planned for the lines of all its generations together, and build adds to the newest
# one: a warning says what to do.
$ tamis build --kind window --items 1000 -f -o w.tamis one; tamis check -c w.tamis half
tamis: w.tamis: overfull: about 982 items in a generation planned for 250; its false-positive rate is now 39.9 % (1 in 3)
tamis: w.tamis: give --items 4132, for 4 generations of as many items, or --turning
tamis: w.tamis: overfull: more items in a generation than the 250 planned for each; its false-positive rate is now 39.9 % (1 in 3)
500
$ tamis build --kind window --items 4000 -f -o w.tamis one; tamis build --kind window -f -o w.tamis one; tamis build --kind window --items 1000 --turning -f -o w.tamis one
$ tamis build --kind window --items 1000 -f -o w.tamis one two; tamis build --help | grep -A2 'In a window'
tamis: w.tamis: not written: it would hold about 1,902 items in a generation planned for 250; its false-positive rate would be 89.2 %, planned 1 % (1 in 100)
tamis: w.tamis: give --items 8300, for 4 generations of as many items, or --turning; --overfill writes it anyway
In a window, --items is the number for all generations together; without it,
each generation is planned for as many lines as were counted. The lines go to
the newest generation.

# Standard output has a name.
$ tamis build --items 100 -o - one > out; tamis build --to dcso --items 100 -o - one > out; tamis build --kind fuse --fpr 1e-30 -o - one > out
tamis: standard output: not written: it would hold more than 629 items, planned for 100; its false-positive rate would be 100 %, planned 1 % (1 in 100)
tamis: standard output: give more --items, or --kind growing; --overfill writes it anyway
tamis: standard output: not written: it would hold about 939 items, planned for 100; its false-positive rate would be 99.3 %, planned 1.02 % (1 in 98)
tamis: standard output: give more --items; --overfill writes it anyway
tamis: standard output: the false-positive rate must be at least 1e-18 and below 1
[2]

# check reports in --json what it warns about: a filter with room beyond its plan is not overfull,
# although it holds more.
$ tamis build -f -o t.tamis three; seq 4 6 | tamis add t.tamis; tamis check --json t.tamis three; tamis info --json t.tamis | grep -o '"overfull": [a-z]*'
{"filter": "t.tamis", "lines": 3, "maybe": 3, "absent": 0, "fpr_now": 3.45323769579e-09, "overfull": false}
"overfull": true
