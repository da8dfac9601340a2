# Lines that did not come before, in their order.
$ printf 'b\na\nb\n\nc\na\n\n' | tamis uniq
b
a

c
$ printf 'b\na\nb\n\nc\na\n' | tamis uniq -v
b
a

$ printf 'one\0two\0one\0' | tamis uniq -z | tr '\0' '\n'
one
two
$ printf 'a\r\na\na' | tamis uniq | od -c | head -n 1
tamis: standard input: line 1 ends with a carriage return, which is part of its key: --crlf removes it
0000000   a  \r  \n   a  \n
$ (seq 30000; seq 20000 40000) > list && tamis uniq list | md5sum && awk '!s[$0]++' list | md5sum
1c0f34fee7176dc367bead8f96cba6bc  -
1c0f34fee7176dc367bead8f96cba6bc  -
$ tamis uniq --total list && tamis uniq -v --total list && tamis uniq -q list
40000
10001
$ gzip -c list | tamis uniq --total - list
40000
$ tamis uniq --json list
{"lines": 50001, "different": 40000, "repeated": 10001, "exact": false, "fpr_now": 3.61971341389e-08, "fpr_asked": 1e-06, "wrongly_dropped": 0.00091033176248, "bytes": 215240}
$ printf '' | tamis uniq --json
{"lines": 0, "different": 0, "repeated": 0, "exact": false, "fpr_now": 0, "fpr_asked": 1e-06, "wrongly_dropped": 0, "bytes": 1016}

# Exact until a budget is spent.
$ tamis uniq --exact-until 10MB --json list
{"lines": 50001, "different": 40000, "repeated": 10001, "exact": true, "fpr_now": 0, "fpr_asked": 0, "wrongly_dropped": 0, "bytes": 1048576}
$ tamis uniq --exact-until 100kB --json list
tamis: uniq: no longer exact: 3,072 distinct lines have used up 100,000 bytes; from now on 1.15e-06 % (1 in 86,767,016) of new lines are dropped
{"lines": 50001, "different": 40000, "repeated": 10001, "exact": false, "fpr_now": 3.61971341389e-08, "fpr_asked": 1e-06, "wrongly_dropped": 0.00088452295105, "bytes": 215240}
$ tamis uniq -q --exact-until 100kB --total list; tamis uniq --exact-until 100kB list 2>/dev/null | md5sum
1c0f34fee7176dc367bead8f96cba6bc  -

# Tomorrow it goes on.
$ seq 100 | tamis uniq --state state.tamis | wc -l
100
$ seq 50 150 | tamis uniq --state state.tamis | wc -l
50
$ tamis info state.tamis | head -n 2
state.tamis: growing filter
  items     150, grown from 100
$ tamis uniq --state list --total list
tamis: list: not a Tamis file
[2]
$ tamis uniq --exact-until 1M --state state.tamis list
tamis: uniq: --exact-until cannot be combined with --state or --window
[2]

# A window of lines: the last so many different ones at the least.
$ (seq 1000; seq 1000) | tamis uniq --window 1000 --total
1000
$ (seq 100000; seq 1000) | tamis uniq --window 1000 --total
101000
$ seq 10 | tamis uniq --window 1w
tamis: --window: '1w' is neither a number of lines (1000, 1M) nor a time (30s, 5m, 1h, 1d)
[2]
$ tamis uniq --window 1000 --items 5000 list
tamis: uniq: --window 1000 cannot be combined with --items
[2]
$ tamis uniq --window 1h --items 5000 --kind bloom list
tamis: uniq: --window 1h cannot be combined with --kind
[2]

# A window of time must be told how many lines come in it, however they are spread.
$ tamis uniq --window 1h list
tamis: uniq: --window 1h requires --items, the largest number of distinct lines in that time
[2]
$ tamis uniq --window 1h --items 40000 --total list && tamis uniq --window 1h --bytes 1MB --total list
40000
40000

# It forgets between runs as well: the state records its epoch. It rotates every third of the time.
# ./past lets periods of ten days pass.
$ printf '#!/bin/sh\nPYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$TAMIS_SOURCE/tests/support/past_epoch.py" "$@"\n' > past; chmod +x past
$ seq 3 | tamis uniq --window 30d --items 100 --state hour.tamis --total; seq 4 | tamis uniq --window 30d --state hour.tamis
3
4
$ ./past 2 hour.tamis; seq 5 | tamis uniq --window 30d --state hour.tamis
5
$ ./past 9 hour.tamis; seq 2 | tamis uniq --window 30d --state hour.tamis
1
2
$ ./past 2 hour.tamis; seq 5 | tamis uniq --window 30d --state hour.tamis
3
4
5
$ ./past 3 hour.tamis; seq 6 | tamis uniq --window 30d --state hour.tamis
6

# A job that runs every five days forgets, although none waits for a rotation. A line that occurs
# again is not forgotten.
$ for i in 1 2 3 4 5 6 7 8 9; do echo x | tamis uniq --window 30d --items 9 --state cron.tamis --total; ./past $((i % 2)) cron.tamis; done | tr '\n' ' '
1 0 0 0 0 0 0 0 0 
$ rm cron.tamis; for i in 1 2 3 4 5 6 7 8 9; do echo $i | tamis uniq --window 30d --items 9 --state cron.tamis -q; ./past $((i % 2)) cron.tamis; done; seq 9 | tamis uniq --window 30d --state cron.tamis | tr '\n' ' '
1 2 3 

# A clock that was set back forgets nothing, and the epoch stays. If it is behind by more than the
# window, either it is wrong or the window was shorter before.
$ seq 3 | tamis uniq --window 30d --items 100 --state back.tamis -q; ./past -3 back.tamis; tamis info back.tamis | grep epoch > was; seq 4 | tamis uniq --window 30d --state back.tamis; tamis info back.tamis | grep epoch | cmp - was
4
$ cp back.tamis was; ./past -9 back.tamis; seq 5 | tamis uniq --window 30d --state back.tamis; seq 5 | tamis uniq --window 60d --state was
tamis: back.tamis: this state is at epoch ..., but the clock and --window 30d give ...: the clock was set back, or --window was shorter before
tamis: was: this state is at epoch ..., but the clock and --window 60d give ...: the clock was set back, or --window was shorter before
[2]
$ seq 4 | tamis uniq --window 1h --state was --total
tamis: was: everything in this state is forgotten: its epoch ... is long past, or --window was longer before
4
$ seq 3 | tamis uniq --window 1h --items 100 --state was2 -q; seq 3 | tamis uniq --window 30m --state was2 --total
tamis: was2: everything in this state is forgotten: its epoch ... is long past, or --window was longer before
3

# Its epoch is that of rotate, and a state without one, of an older version, gets it.
$ seq 100 | tamis build --kind window --items 400 --fpr 1e-6 -o old.tamis && seq 101 | tamis uniq --window 30d --state old.tamis && cp old.tamis was && tamis rotate --every 10d old.tamis && cmp old.tamis was && tamis info old.tamis | grep -c epoch
101
1

# A state that is something else than what was asked for.
$ tamis uniq --state hour.tamis list
tamis: hour.tamis: this state is a window of time; give its length with --window
[2]
$ tamis uniq --state hour.tamis --window 1000 list
tamis: hour.tamis: this state is a window of time, but --window 1000 is a number of lines
[2]
$ tamis uniq --state hour.tamis --window 1h --items 200 list
tamis: hour.tamis: this state was made for 100 lines, but --items is 200
[2]
$ tamis uniq --state hour.tamis --window 1h --fpr 1% list
tamis: hour.tamis: this state was made for a rate of 8.63e-05 % (1 in 1,159,270), but --fpr is 1 % (1 in 100)
[2]
$ tamis uniq --state state.tamis --window 1h list
tamis: state.tamis: this state is a growing filter, which forgets nothing, but --window 1h was given
[2]
$ tamis uniq --state state.tamis --kind bloom list
tamis: state.tamis: this state is a growing filter, but --kind is bloom
[2]
$ tamis uniq --state state.tamis --items 1000 list
tamis: state.tamis: this state was made for 100 lines, but --items is 1,000
[2]
$ tamis uniq --state state.tamis --fpr 1e-9 list
tamis: state.tamis: this state was made for a rate of 5.83e-05 % (1 in 1,714,558), but --fpr is 1e-07 % (1 in 1,000,000,000)
[2]
$ tamis uniq --state state.tamis --seed 1 list
tamis: state.tamis: this state was made with seed 0, but --seed is 1
[2]
$ seq 10 | tamis uniq --state seven.tamis --seed 7 --kind bloom --items 1000 --total
10
$ tamis uniq --state seven.tamis --seed 0 list
tamis: seven.tamis: this state was made with seed 7, but --seed is 0
[2]
$ tamis uniq --state seven.tamis --bytes 1000 list
tamis: seven.tamis: this state has 3,856 bytes, but --bytes is 1,000
[2]
$ tamis uniq --state seven.tamis --bytes 1M list
tamis: seven.tamis: this state has 3,856 bytes, but --bytes is 1,000,000
[2]
$ tamis uniq --state seven.tamis --bytes 1M --fpr 1e-6 --items 1000 --kind bloom --seed 7 --total /dev/null; tamis uniq --state seven.tamis --kind auto --total /dev/null
0
0
$ seq 10 | tamis uniq --state lines.tamis --window 1000 --total; seq 10 | tamis uniq --state lines.tamis --window 1000 --total; seq 10 | tamis uniq --state lines.tamis --total
10
0
0
$ tamis uniq --state lines.tamis --window 2000 list
tamis: lines.tamis: this state is a window of 1,000 lines, but --window 2000 was given
[2]
$ tamis uniq --state lines.tamis --window 1h list
tamis: lines.tamis: this state is a window of 1,000 lines, but --window 1h was given
[2]
$ tamis key new my.key > key.id; tamis uniq --state seven.tamis --key-file my.key list
tamis: seven.tamis: a secret key was given, but this filter was made without one
[2]
$ seq 3 | tamis uniq --state keyed.tamis --key-file my.key --total; tamis uniq --state keyed.tamis --key-file my.key --seed 1 list
3
tamis: keyed.tamis: this state was made with a secret key, but --seed 1 was given
[2]
$ seq 10 > small; tamis build --kind cuckoo -o cuckoo.tamis small; tamis uniq --state cuckoo.tamis small
tamis: cuckoo.tamis: a cuckoo filter does not report which lines are new; use blocked, bloom, partitioned or growing, or --window
[2]
$ tamis count -o counts.tamis list; tamis uniq --state counts.tamis list
tamis: counts.tamis: a tally sketch does not report which lines are new; use blocked, bloom, partitioned or growing, or --window
[2]
$ tamis uniq --state - list
tamis: uniq: --state requires a file, which is read and written; write ./- for a file named -
[2]
$ tamis uniq --state full.tamis small > /dev/full; ls full.tamis
tamis: standard output: cannot write: No space left on device
ls: cannot access 'full.tamis': No such file or directory
[2]

# One column is the key; the whole line is printed.
$ printf '1 a\n2 a\n1 b\n3\n 2\n' > columns; tamis uniq --field 1 -t ' ' columns; awk -F '[ ]' '!s[$1]++' columns | tamis uniq --total
1 a
2 a
3
 2
4
$ tamis uniq --field 2 -t ' ' columns; tamis uniq -q --field 2 -t ' ' columns
1 a
1 b
 2
tamis: columns: line 4: fewer than 2 fields; skipped 1 such line
$ tamis uniq -v --field 1 --delimiter ' ' columns
1 b
$ tamis uniq -t ' ' columns
tamis: --delimiter requires --field or --weight-field
[2]

# A size that was given; too small, it says so.
$ tamis uniq --items 40000 --total list && tamis uniq --items 40000 --bytes 100kB --json list
40000
{"lines": 50001, "different": 39999, "repeated": 10002, "exact": false, "fpr_now": 0.000265741007636, "fpr_asked": 0.000263859939537, "wrongly_dropped": 1.61397943373, "bytes": 99968}
$ seq 100000 | tamis uniq --items 1000 --total
100000

# Overfull: the command reports it, at the planned rate and at ten times the rate, and reports at
# the end how much is wrong. If that is much, it is an error.
$ seq 8200 | tamis uniq --bytes 10kB --fpr 1% --total
tamis: uniq: overfull: about 8,172 items, planned for 7,707; its false-positive rate is now 1.33 % (1 in 75)
8179
tamis: uniq: 8,200 lines, 8,179 distinct; about 18 new lines are expected to have been wrongly dropped; the rate is 1.33 % (1 in 75), but 1 % (1 in 100) was requested
$ seq 12000 | tamis uniq --bytes 10kB --fpr 1% --json
tamis: uniq: overfull: about 8,172 items, planned for 7,707; its false-positive rate is now 1.33 % (1 in 75)
{"lines": 12000, "different": 11843, "repeated": 157, "exact": false, "fpr_now": 0.0674600531852, "fpr_asked": 0.01, "wrongly_dropped": 157, "bytes": 9984}
tamis: uniq: 12,000 lines, 11,843 distinct; about 157 new lines are expected to have been wrongly dropped; the rate is 6.75 % (1 in 15), but 1 % (1 in 100) was requested
[2]
$ seq 100000 | tamis uniq --kind bloom --items 1000 | wc -l
tamis: uniq: overfull: about 1,020 items, planned for 1,000; its false-positive rate is now 0.00013 % (1 in 769,010)
tamis: uniq: overfull: about 2,051 items, planned for 1,000; its false-positive rate is now 0.408 % (1 in 245)
tamis: uniq: overfull: about 3,075 items, planned for 1,000; its false-positive rate is now 8.09 % (1 in 12)
tamis: uniq: overfull: about 8,627 items, planned for 1,000; its false-positive rate is now 95.1 %
tamis: uniq: 100,000 lines, 5,155 distinct; up to 94,845 new lines wrongly dropped; the rate is 100 %, but 0.0001 % (1 in 1,000,000) was requested
5155
$ seq 100000 | tamis uniq --kind bloom --items 1000 --json 2> /dev/null
{"lines": 100000, "different": 5155, "repeated": 94845, "exact": false, "fpr_now": 1, "fpr_asked": 1e-06, "wrongly_dropped": null, "bytes": 3856}
[2]
$ seq 100000 | tamis uniq --kind bloom --items 1000 -q
[2]
$ seq 3000 | tamis uniq --kind bloom --items 1000 -q --state over.tamis; seq 3000 | tamis uniq -q --state over.tamis; tamis uniq --total --state over.tamis /dev/null
tamis: uniq: overfull: about 3,003 items, planned for 1,000; its false-positive rate is now 7.05 % (1 in 14)
0
tamis: uniq: 0 lines, 0 distinct; 0 new lines are expected to have been wrongly dropped; the rate is 7.05 % (1 in 14), but 0.0001 % (1 in 1,000,000) was requested
[2]
$ seq 60 | tamis uniq --window 1h --items 10 --fpr 1e-3 --total
tamis: uniq: overfull: more items in a generation than the 10 planned for each; its false-positive rate is now 1.71 % (1 in 58)
59
tamis: uniq: 60 lines, 59 distinct; 0.511 new lines are expected to have been wrongly dropped; the rate is 1.71 % (1 in 58), but 0.1 % (1 in 1,000) was requested
[2]
$ tamis uniq missing
tamis: missing: cannot read: No such file or directory
[2]
$ tamis uniq --fpr 2 list
tamis: --fpr: '2' is not a rate between 0 and 1, like 0.01, 1% or 1/100
[2]
$ tamis uniq --kind ribbon list
tamis: uniq: a ribbon filter does not report which lines are new; use blocked, bloom, partitioned or growing, or --window
[2]

# The same command again is the same state: bytes are a limit where the lines are said.
$ for i in 1 2; do seq 5 | tamis uniq --state same1.tamis --items 12345 --bytes 1MB | wc -l; seq 5 | tamis uniq --state same2.tamis --window 1000 --fpr 1% --bytes 1MB | wc -l; done
5
5
0
0
# What appears at the path of a new state meanwhile is not replaced.
$ (seq 100000; echo precious > late.tamis) | tamis uniq --state late.tamis | wc -l; cat late.tamis
tamis: late.tamis: another process has created this file meanwhile; it is not replaced, so these lines are not remembered
100000
precious

# 5m is five minutes, 5M are lines, and so are 5k and 5mb.
$ seq 10 | tamis uniq --window 5m
tamis: uniq: --window 5m requires --items, the largest number of distinct lines in that time
[2]
$ for w in 5M 5mb 5000k 5000K; do seq 10 | tamis uniq --total --window $w --state five.tamis; done
10
0
0
0
$ seq 10 | tamis uniq --total --window 5m --state five.tamis
tamis: five.tamis: this state is a window of 5,000,000 lines, but --window 5m was given
[2]
