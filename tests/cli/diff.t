# How two sets of lines differ: three columns, as comm prints them, but in the order of the files.
$ printf 'pear\napple\npear\nplum\n' > a; printf 'plum\nfig\napple\nfig\nkiwi\n' > b
$ tamis diff a b
pear
		apple
		plum
	fig
	kiwi
[1]
$ tamis diff -1 a b
	apple
	plum
fig
kiwi
[1]
$ tamis diff -2 a b
pear
	apple
	plum
[1]
$ tamis diff -3 a b
pear
	fig
	kiwi
[1]
$ tamis diff -12 a b
apple
plum
[1]
$ tamis diff -13 a b
fig
kiwi
[1]
$ tamis diff -2 -3 a b
pear
[1]
$ tamis diff --no-first --no-second a b
apple
plum
[1]
$ tamis diff -123 a b
[1]
$ tamis diff -q a b
[1]

# The same as comm of sorted sets, apart from the order.
$ tamis diff a b | sort > ours; sort -u a > sa; sort -u b > sb; comm sa sb | sort | cmp - ours
$ for columns in 1 2 3 12 13 23 123; do tamis diff -$columns a b | sort > ours; comm -$columns sa sb | sort | cmp - ours; done

# Only the numbers.
$ tamis diff -c a b
1	2	2
[1]
$ tamis diff -c -2 a b
1	2
[1]
$ tamis diff -c123 a b
[1]
$ tamis diff --json a b
{"first": "a", "second": "b", "first_lines": 4, "second_lines": 5, "first_only": 1, "second_only": 2, "common": 2, "passes": 1}
[1]
$ tamis diff --json -c a b
tamis: diff: --json and --count cannot be combined
[2]

# Equal sets, in another order and with repeated lines.
$ printf 'plum\npear\nplum\napple\n' > same; tamis diff a same
		pear
		apple
		plum
$ tamis diff -3 a same && echo equal
equal
$ tamis diff -c a a
0	0	3
$ tamis diff -q a same

# Empty files, empty lines, a last line without its end, and lines that end with NUL.
$ : > empty; tamis diff empty empty; tamis diff -c empty empty; tamis diff -c /dev/null empty
0	0	0
0	0	0
$ tamis diff empty b
	plum
	fig
	apple
	kiwi
[1]
$ tamis diff -2 a empty
pear
apple
plum
[1]
$ printf '\n' > blank; tamis diff -c blank empty
1	0	0
[1]
$ printf 'pear\nplum\napple' > ragged; tamis diff -3 a ragged; printf 'fig\nkiwi' > short; tamis diff short empty
fig
kiwi
[1]
$ printf 'x\ny\0z\0' > z1; printf 'z' > z2; tamis diff -z z1 z2 | tr '\0' '|'; echo
x
y|		z|
$ printf 'a\rb\nc\r\n' > return1; printf 'c\n' > return2; tamis diff -c return1 return2
tamis: return1: line 2 ends with a carriage return, which is part of its key: --crlf removes it
2	1	0
[1]

# Compressed input, and --raw, with which the compressed bytes are the lines.
$ gzip -kn a; gzip -c < b > b.gz; tamis diff -c a.gz b.gz; tamis diff -q a a.gz; tamis diff -q --raw a a.gz
1	2	2
[1]
$ gzip -c a | tamis diff a -
		pear
		apple
		plum
$ head -c 30 a.gz > broken.gz; tamis diff broken.gz b; tamis diff - b < broken.gz
pear
		apple
		plum
tamis: broken.gz: cannot read: gzip data ends too early
tamis: standard input: cannot read: gzip data ends too early
[2]

# Fields: whole lines are printed, the first with each value.
$ printf '1 x\n2 y\n1 z\n' > f1; printf '2 other\n3 w\nonly\n' > f2
$ tamis diff --field 1 -t ' ' f1 f2
1 x
		2 y
	3 w
	only
[1]
$ tamis diff --field 2 -t ' ' f1 f2
tamis: f2: line 3: fewer than 2 fields; skipped 1 such line
1 x
2 y
1 z
	2 other
	3 w
[1]
$ tamis diff --field 2 -t ' ' --memory 64KiB --threads 1 -c -q f1 f2
[1]
$ tamis diff -t ' ' f1 f2
tamis: --delimiter requires --field or --weight-field
[2]

# Standard input and pipes; temporary files have no names.
$ tamis diff a b > ours; tamis diff - b < a | cmp - ours; cat b | tamis diff a - | cmp - ours; cat b | tamis diff a /dev/stdin | cmp - ours
$ mkfifo pipe1 pipe2; cat a > pipe1 & cat b > pipe2 & tamis diff pipe1 pipe2 | cmp - ours
$ mkdir temp; cat b | tamis diff -c --temp temp a -; ls temp
1	2	2
$ cat a | tamis diff -c --temp missing - b
tamis: missing: cannot create a temporary file: No such file or directory
[2]
$ cat a | TMPDIR=missing tamis diff -c - b
tamis: missing: cannot create a temporary file: No such file or directory
[2]
$ cat a | tamis diff - -
tamis: diff: standard input cannot be both sets
[2]
$ cat a | tamis diff - /dev/stdin
tamis: diff: standard input cannot be both sets
[2]
$ tamis diff a - < a && echo equal
		pear
		apple
		plum
equal

# Memory for a few thousand lines: several passes, the same output.
$ seq 1 50000 > s1; (seq 60000 -2 1000; seq 3000) > s2
$ tamis diff s1 s2 > whole; for memory in 64KiB 100000 1MiB; do for columns in '' -1 -2 -3 -12 -13 -23; do tamis diff $columns s1 s2 > want; tamis diff $columns --memory $memory s1 s2 | cmp - want; done; done
$ tamis diff --json s1 s2; tamis diff --json --memory 64KiB s1 s2 | sed 's/"passes": [1-9][0-9]/"passes": many/'
{"first": "s1", "second": "s2", "first_lines": 50000, "second_lines": 32501, "first_only": 23500, "second_only": 5000, "common": 26500, "passes": 1}
{"first": "s1", "second": "s2", "first_lines": 50000, "second_lines": 32501, "first_only": 23500, "second_only": 5000, "common": 26500, "passes": many}
$ cat s2 | tamis diff --memory 64KiB s1 - | cmp - whole; cat s1 | tamis diff --memory 64KiB - s2 | cmp - whole
$ tamis diff --memory 64KiB --temp temp s1 s2 | cmp - whole; ls temp; tamis diff --memory 64KiB --temp missing s1 s2 | head -n 0
tamis: missing: cannot create a temporary file: No such file or directory
$ tamis diff --memory 64KiB --temp missing -c s1 s2
23500	5000	26500
[1]
$ seq 200000 | tamis diff -q --memory 64KiB - s1; seq 50000 -1 1 | tamis diff -q --memory 64KiB - s1
$ tamis diff --memory 1k a b
tamis: diff: --memory must be at least 64KiB
[2]

# What cannot be read.
$ tamis diff a missing
tamis: missing: cannot read: No such file or directory
[2]
$ tamis diff missing missing
tamis: missing: cannot read: No such file or directory
[2]
$ tamis diff a .
tamis: .: cannot read: Is a directory
[2]
$ tamis diff a
tamis: diff: usage: tamis diff [OPTION...] A B; see 'tamis diff -h'
[2]
$ tamis diff a b empty
tamis: diff: usage: tamis diff [OPTION...] A B; see 'tamis diff -h'
[2]
$ tamis diff a b --total
tamis: diff: unknown option '--total'; see 'tamis diff --help'
[2]

# Filters: the sizes of both differences and of the intersection.
$ for kind in blocked bloom partitioned counting; do seq 1000 | tamis build -q --kind $kind --items 3000 -o $kind.1; seq 501 1500 | tamis build -q --kind $kind --items 3000 -o $kind.2; tamis diff $kind.1 $kind.2; done
blocked.1 and blocked.2
  1st only  about 500, with 99 % certainty 466 to 533
  2nd only  about 494, with 99 % certainty 461 to 528
  common    about 506, with 99 % certainty 459 to 553
bloom.1 and bloom.2
  1st only  about 503, with 99 % certainty 469 to 536
  2nd only  about 504, with 99 % certainty 471 to 538
  common    about 499, with 99 % certainty 453 to 545
partitioned.1 and partitioned.2
  1st only  about 502, with 99 % certainty 469 to 535
  2nd only  about 502, with 99 % certainty 469 to 536
  common    about 498, with 99 % certainty 452 to 544
counting.1 and counting.2
  1st only  about 493, with 99 % certainty 459 to 526
  2nd only  about 504, with 99 % certainty 471 to 538
  common    about 503, with 99 % certainty 457 to 549
[1]
$ seq 5000 | tamis distinct -qo d1; seq 4001 9000 | tamis distinct -qo d2; seq 5000 | tamis distinct -q --error 5% -o d3
$ tamis diff d1 d2
d1 and d2
  1st only  about 4,002, with 99 % certainty 3,929 to 4,074
  2nd only  about 3,995, with 99 % certainty 3,922 to 4,067
  common    about 1,005, with 99 % certainty 907 to 1,104
[1]
$ tamis diff -13 d1 d2
d1 and d2
  2nd only  about 3,995, with 99 % certainty 3,922 to 4,067
[1]
$ tamis diff --json blocked.1 blocked.2
{"first": "blocked.1", "second": "blocked.2", "first_only": 499.532713713, "first_only_low": 466.376486037, "first_only_high": 532.869087157, "second_only": 494.339155018, "second_only_low": 461.111537927, "second_only_high": 527.745052594, "common": 506.15295023, "common_low": 459.841923293, "common_high": 552.801841133}
[1]
$ tamis diff -q blocked.1 blocked.2
[1]
$ tamis diff - blocked.2 < blocked.1
standard input and blocked.2
  1st only  about 500, with 99 % certainty 466 to 533
  2nd only  about 494, with 99 % certainty 461 to 528
  common    about 506, with 99 % certainty 459 to 553
[1]
$ cat d1 | tamis diff d2 -
d2 and standard input
  1st only  about 3,995, with 99 % certainty 3,922 to 4,067
  2nd only  about 4,002, with 99 % certainty 3,929 to 4,074
  common    about 1,005, with 99 % certainty 907 to 1,104
[1]

# Exit status 0: they show no difference. One more line is enough for 1.
$ cp blocked.1 copy; tamis diff blocked.1 copy
blocked.1 and copy
  1st only  too small to estimate, with 99 % certainty at most 27
  2nd only  too small to estimate, with 99 % certainty at most 27
  common    about 1,006, with 99 % certainty 966 to 1,020
$ echo more | tamis add -q copy; tamis diff -3 blocked.1 copy
blocked.1 and copy
  1st only  too small to estimate, with 99 % certainty at most 27
  2nd only  too small to estimate, with 99 % certainty at most 28
[1]
$ tamis diff -q d1 d3 && echo no difference
no difference
$ cp counting.1 copy; seq 1000 | tamis add -q copy; tamis diff -q counting.1 copy && echo no difference
no difference
$ tamis build -q --items 3000 -o none /dev/null; tamis diff none none
none and none
  1st only  exactly 0
  2nd only  exactly 0
  common    exactly 0
$ seq 100000 | tamis build -q --overfill --items 3000 -o full; tamis diff -q full full; tamis diff -3 full blocked.1
tamis: full: overfull: more than 31,888 items, planned for 3,000; its false-positive rate is now 100 %
tamis: diff: full and full are so overfull that every bit is set, which shows nothing about their lines; build them again with more --items
full and blocked.1
  1st only  with 99 % certainty at least 29,979
  2nd only  with 99 % certainty 0 to 1,020
[1]

# Filters that cannot be compared, and why.
$ tamis diff blocked.1 bloom.1
tamis: bloom.1: cannot be compared with blocked.1: one is blocked, the other bloom; build both with the same options
[2]
$ seq 10 | tamis build -q --items 10 -o little; tamis diff blocked.1 little
tamis: little: cannot be compared with blocked.1: they differ in shape: m = 30720, k = 8 and m = 512, k = 8; build both with the same options and the same --items, a number that fits both: --items 3000
[2]
$ seq 10 | tamis build -q --kind growing -o growing; tamis diff growing growing
tamis: growing: growing filters cannot be compared; use the kind blocked: tamis build --kind blocked
[2]
$ seq 10 | tamis count -qo counts; tamis diff counts counts
tamis: counts: is a sketch of how often lines occurred, which cannot be compared; use sketches of distinct lines: tamis distinct -o
[2]
$ tamis pack -q -o packed blocked.1; tamis diff packed packed
tamis: packed: this file is packed; unpack it first (tamis unpack), to 4096 bytes
[2]
$ gzip -c blocked.1 > filter.gz; tamis diff filter.gz blocked.1; tamis diff - blocked.1 < filter.gz
tamis: filter.gz: is a compressed filter; decompress it first
standard input and blocked.1
  1st only  too small to estimate, with 99 % certainty at most 27
  2nd only  too small to estimate, with 99 % certainty at most 27
  common    about 1,006, with 99 % certainty 966 to 1,020
$ tamis build -q --to dcso -o other a; tamis diff other a; printf 'PAR1\n' > par; tamis diff par a; tamis diff -c --raw par a
tamis: other: this filter belongs to another program; only check, info and convert accept it. If the file has lines, give --raw
tamis: par: this filter belongs to another program; only check, info and convert accept it. If the file has lines, give --raw
1	3	0
[1]
$ tamis diff -c blocked.1 blocked.2
tamis: blocked.1: is a filter, which accepts only -1, -2, -3, --json and --quiet
[2]
$ tamis diff redis://localhost/a redis://localhost/b
tamis: diff works on files, not on sets at redis:// addresses
[2]

# A filter and lines: the command to use instead.
$ tamis diff blocked.1 s1
tamis: diff: blocked.1 is a filter, but s1 has lines; to print the lines that are not in the filter: tamis check -v blocked.1 s1
[2]
$ tamis diff 'a' blocked.1
tamis: diff: blocked.1 is a filter, but a has lines; to print the lines that are not in the filter: tamis check -v blocked.1 a
[2]
$ cp a "it's"; tamis diff "it's" blocked.1
tamis: diff: blocked.1 is a filter, but it's has lines; to print the lines that are not in the filter: tamis check -v blocked.1 'it'\''s'
[2]
$ tamis diff d1 a
tamis: diff: d1 is a distinct sketch, but a has lines; make a sketch of them, and compare the two: tamis distinct -qo lines.tamis a && tamis diff d1 lines.tamis
[2]
$ tamis diff counts a
tamis: diff: counts is a sketch of how often lines occurred, but a has lines; to look them up: tamis freq counts - < a
[2]
$ tamis diff --raw -q blocked.1 a
[1]

# Standard input is read as a file is: without the mark of Windows, and with the same messages.
$ printf '\357\273\277a\nb\n' > marked; printf 'a\nb\n' > bare; tamis diff marked bare > both; cat marked | tamis diff - bare | cmp - both
$ printf 'x\r\n' | tamis diff -c - bare
tamis: standard input: line 1 ends with a carriage return, which is part of its key: --crlf removes it
1	2	0
[1]
$ printf 'a,"b\n' | tamis diff -c --csv --field 1 --strict-input - bare
tamis: standard input: line 1, column 3: the quote that begins here is never closed
[2]

# --header: a single column is a table with a header, that of the file from which its lines come.
$ printf 'id,n\n1,a\n2,b\n' > h1; printf 'n,id\nb,2\nc,3\n' > h2
$ for columns in 12 13 23 3 123; do tamis diff --csv --header --field id -$columns h1 h2; done; tamis diff -c --csv --header --field id h1 h2
id,n
2,b
n,id
c,3
id,n
1,a
1,a
	c,3
1	1	1
[1]
$ (echo id; seq 50000) > h3; (echo id; seq 5 2 50009) > h4; for columns in 12 13 23; do tamis diff -$columns --header h3 h4 > want; head -n 1 want; grep -c id want; tamis diff -$columns --memory 64KiB --header h3 h4 | cmp - want; done
id
1
id
1
id
1

# Options for lines are refused for filters and sketches.
$ for option in --csv --tsv --header --crlf --strict-input -z '--jsonl --field a' '--threads 1'; do tamis diff $option blocked.1 blocked.2; done
tamis: blocked.1: is a filter, which accepts only -1, -2, -3, --json and --quiet
tamis: blocked.1: is a filter, which accepts only -1, -2, -3, --json and --quiet
tamis: blocked.1: is a filter, which accepts only -1, -2, -3, --json and --quiet
tamis: blocked.1: is a filter, which accepts only -1, -2, -3, --json and --quiet
tamis: blocked.1: is a filter, which accepts only -1, -2, -3, --json and --quiet
tamis: blocked.1: is a filter, which accepts only -1, -2, -3, --json and --quiet
tamis: blocked.1: is a filter, which accepts only -1, -2, -3, --json and --quiet
tamis: blocked.1: is a filter, which accepts only -1, -2, -3, --json and --quiet
[2]
$ tamis diff -c d1 d2
tamis: d1: is a sketch, which accepts only -1, -2, -3, --json and --quiet
[2]

# Filters of counted lines differ in shape.
$ seq 1000 > a1000; seq 3000 > a3000; tamis build -o A.t a1000; tamis build -o B.t a3000; tamis diff A.t B.t
tamis: B.t: cannot be compared with A.t: they differ in shape: m = 10240, k = 8 and m = 30720, k = 8; build both with the same options and the same --items, a number that fits both: --items 3000
[2]
