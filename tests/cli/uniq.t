# Lines that did not come before, in their order.
$ printf 'b\na\nb\n\nc\na\n\n' | tamis uniq
b
a

c
$ printf 'b\na\nb\n\nc\na\n' | tamis uniq -d
b
a

$ printf 'one\0two\0one\0' | tamis uniq -z | tr '\0' '\n'
one
two
$ printf 'a\r\na\na' | tamis uniq | od -c | head -n 1
0000000   a  \r  \n   a  \n
$ (seq 30000; seq 20000 40000) > list && tamis uniq list | md5sum && awk '!s[$0]++' list | md5sum
1c0f34fee7176dc367bead8f96cba6bc  -
1c0f34fee7176dc367bead8f96cba6bc  -
$ tamis uniq -c list && tamis uniq -dc list && tamis uniq -q list
40000
10001
$ gzip -c list | tamis uniq -c - list
40000
$ tamis uniq --json list
{"lines": 50001, "different": 40000, "repeated": 10001, "exact": false, "fpr_now": 1.85173121281e-08, "wrongly_dropped": 0.000620834772165, "bytes": 248800}
$ printf '' | tamis uniq --json
{"lines": 0, "different": 0, "repeated": 0, "exact": false, "fpr_now": 0, "wrongly_dropped": 0, "bytes": 1016}

# Exact until a budget is spent.
$ tamis uniq --exact-until 10MB --json list
{"lines": 50001, "different": 40000, "repeated": 10001, "exact": true, "fpr_now": 0, "wrongly_dropped": 0, "bytes": 1048576}
$ tamis uniq --exact-until 100kB --json list
tamis: uniq: no longer exact: 3,072 different lines have used up 100,000 bytes; from here on 1.15e-06 % (1 in 86,767,016) of new lines are dropped
{"lines": 50001, "different": 40000, "repeated": 10001, "exact": false, "fpr_now": 1.85173121281e-08, "wrongly_dropped": 0.000595025960736, "bytes": 248800}
$ tamis uniq -q --exact-until 100kB -c list; tamis uniq --exact-until 100kB list 2>/dev/null | md5sum
1c0f34fee7176dc367bead8f96cba6bc  -

# Tomorrow it goes on.
$ seq 100 | tamis uniq --state state.tamis | wc -l
100
$ seq 50 150 | tamis uniq --state state.tamis | wc -l
50
$ tamis info state.tamis | head -n 2
state.tamis: growing filter
  items     150, grown from 100
$ tamis uniq --state list -c list
tamis: list: not a Tamis file
[2]
$ tamis uniq --exact-until 1M --state state.tamis list
tamis: uniq: --exact-until is for one run, without --state and --window
[2]

# A window of lines: the last so many different ones at the least.
$ (seq 1000; seq 1000) | tamis uniq --window 1000 -c
1000
$ (seq 100000; seq 1000) | tamis uniq --window 1000 -c
101000
$ seq 10 | tamis uniq --window 1w
tamis: --window: '1w' is no number of lines (1000, 1M) and no time (30s, 5m, 1h, 1d)
[2]
$ seq 10 | tamis uniq --window 1h
1
2
3
4
5
6
7
8
9
10

# A size that was given; too small, it says so.
$ tamis uniq --items 40000 -c list && tamis uniq --items 40000 --bytes 100kB --json list
40000
{"lines": 50001, "different": 39999, "repeated": 10002, "exact": false, "fpr_now": 0.000265741007636, "wrongly_dropped": 1.610335727, "bytes": 99968}
$ seq 100000 | tamis uniq --items 1000 -c
100000
$ seq 100000 | tamis uniq --bytes 10kB --fpr 1% -c
tamis: uniq: over-full: about 8,172 items, planned for 7,707; its false-positive rate is now 1.33 % (1 in 75)
26344
$ tamis uniq missing
tamis: missing: cannot read: No such file or directory
[2]
$ tamis uniq --fpr 2 list
tamis: --fpr: '2' is not a rate between 0 and 1, like 0.01, 1% or 1/100
[2]
$ tamis uniq --kind ribbon list
tamis: uniq: a ribbon filter does not tell which lines are new; blocked, bloom, partitioned and growing do, and see --window
[2]
