# A filter to publish: one bit for each line, a round plan, and noise.
$ seq 1 10000 > list; tamis build --kind bloom --k 1 --items 10k --m 100k -o f.tamis list
$ tamis release --epsilon 2 -o f.private f.tamis
tamis: f.private: epsilon 2, 11.9 % (1 in 8) of its members are missed
$ tamis info f.private
f.private: private filter, sealed
  items     about ...
            by the bits ... distinct, with 99 % certainty ... to ...
  wrong     19... % (1 in 5) of never-added keys get a maybe now
  missed    11.9 % (1 in 8) of its members get a wrong no now
  privacy   epsilon 2 for adding or removing one item, twice that for exchanging one
  size      12,760 bytes, ... bits per item
  bits      19... % set; m = 100,000, k = 1
  hash      xxh3-128, seed 0
  file      format 1, generation 1
$ tamis info --json f.private | grep -o '"kind": "[a-z]*"\|"sealed": true\|"may_miss": true\|"epsilon": [0-9.]*\|"generation": 1'
"kind": "private"
"sealed": true
"may_miss": true
"epsilon": 1.99999999927
"generation": 1

# It misses some members and finds some non-members: an answer is evidence, and comes as a
# probability.
# (8,808 of them are to be expected after a yes, and 9 deviations are 300.)
$ tamis check f.private list > said; cut -f1 said | cut -c1-3 | sort -u; cut -f2 said | cmp - list
tamis: f.private: a private filter gives no verdicts: each line is printed after the probability that it is a member, for a prior of 50 %; see --prior
0.1
0.8
$ hits=$(grep -c '^0[.]8' said); test $hits -gt 8500 -a $hits -lt 9100
$ tamis check --prior 50% f.private list | cmp - said
$ head -n 400 list | tamis check --prior 1e-3 f.private | cut -f1 | cut -c1-5 | sort -u
0.000
0.004
$ tamis check --prior 1/2 -Hn f.private list | sed -n '10s/^0[.][0-9]*/P/p'
P	list:10:10
$ tamis check --json f.private list > json; grep -o '"[a-z_]*": \(true\|false\|0[.]8\|0[.]1192\|0[.]1\|0[.]5\|10000\|1.9999\)' json; grep -c 'absent\|maybe' json
"lines": 10000
"prior": 0.5
"bit_set": true
"probability": 0.8
"probability_low": 0.8
"probability_high": 0.8
"bit_set": false
"probability": 0.1
"probability_low": 0.1
"probability_high": 0.1
"fpr_now": 0.1
"miss_rate": 0.1192
"epsilon": 1.9999
0
[1]
$ grep -o '"lines": [0-9]*' json | grep -v 10000 | cut -d' ' -f2 > lines; { grep -c '^0[.]8' said; grep -c '^0[.]1' said; } | cmp - lines

# There is no verdict: exit status 0 is that there were lines, and what asks for one is refused.
$ seq 20001 20100 | tamis check --prior 50% f.private > others; echo $?; wc -l < others; tamis check --prior 50% f.private /dev/null
0
100
[1]
$ for o in -c -l -m1 -q -v -qv '--prior 1% -c' '--json -q'; do tamis check $o f.private list; echo $?; done 2>&1 | sort | uniq -c | sed 's/^ *//'
8 2
8 tamis: f.private: a private filter gives probabilities, not verdicts, so -c, -l, -m, -q and -v cannot be used
$ tamis check --confirm list f.private list
tamis: f.private: a private filter misses some members, so --confirm cannot make its answers exact; check -f LIST compares with the list itself
[2]
$ tamis check --prior 50% f.tamis list
tamis: f.tamis: --prior requires a private filter
[2]
$ tamis check --prior 0 f.private list
tamis: --prior: '0' is not a rate between 0 and 1, like 0.01, 1% or 1/100
[2]

# The same release again is the same file again; other noise is a matter of the budget.
$ cp f.private kept; tamis release --epsilon 2 -o f.private f.tamis; cmp kept f.private
tamis: f.private: already is that release; nothing to do
$ tamis release --epsilon 2 -o copy.private f.tamis; cmp kept copy.private
tamis: copy.private: a copy of ...f.private; repeating the same release adds no epsilon
$ tamis release --epsilon 2 -o - f.tamis | cmp - kept
tamis: -: a copy of ...f.private; repeating the same release adds no epsilon
$ tamis release --epsilon 1 -o f.private f.tamis
tamis: f.private: already exists and is not this release; use -f to replace it
[2]
$ tamis release --epsilon 1 -f -o f.private f.tamis; cmp -s kept f.private
tamis: f.private: epsilon 1, 26.9 % (1 in 4) of its members are missed; total epsilon 3 with earlier releases (1)
[1]
$ tamis release --epsilon 2 -o f2.private f.tamis
tamis: f.tamis: was already released with this epsilon, as ...f.private. That file was removed, or never written because the command was interrupted. Restore it, or draw fresh noise with --again, for a total epsilon of 5
[2]
$ tamis release --epsilon 2 --again -o f2.private f.tamis; cmp -s f2.private kept
tamis: f2.private: epsilon 2, 11.9 % (1 in 8) of its members are missed; total epsilon 5 with earlier releases (2)
[1]
$ rm f2.private; tamis release --epsilon 2 -q -o g.private f.tamis
tamis: f.tamis: was already released with this epsilon, as ...f2.private. That file was removed, or never written because the command was interrupted. Restore it, or draw fresh noise with --again, for a total epsilon of 7
[2]
$ wc -l < f.tamis.releases; stat -c %a f.tamis.releases
3
600

# A filter that was only saved again is the same; one that has changed is not.
$ tamis add -q f.tamis list; tamis release --epsilon 1 -o again.private f.tamis; cmp again.private f.private
tamis: again.private: a copy of ...f.private; repeating the same release adds no epsilon
$ echo new | tamis add -q f.tamis; tamis release --epsilon 1 -q -o new.private f.tamis; cmp -s new.private f.private
[1]
$ echo damage >> f.tamis.releases; tamis release --epsilon 3 -o more.private f.tamis
tamis: ...f.tamis.releases: not a record of releases: line 5 is damaged
[2]
$ sed -i '5d; 1s/^\([^ ]*\) \([^ ]*\) /\1 \2x /' f.tamis.releases; tamis release --epsilon 3 -o more.private f.tamis
tamis: ...f.tamis.releases: not a record of releases: line 1 is damaged
[2]

# A plan of the lines that are there betrays how many they are.
$ head -n 1234 list | tamis build --kind bloom --k 1 --fpr 10% -o counted.tamis; tamis release --epsilon 1 -o counted.private counted.tamis
tamis: counted.tamis: planned for 1,234 items, which looks like a count of its lines; the number of bits would then reveal it, so build the filter with a round --items
tamis: counted.private: epsilon 1, 26.9 % (1 in 4) of its members are missed

# With so few bits and so much noise nothing can be concluded. The plan differs from that of the
# source, and is not shown.
$ seq 3 | tamis build -q --kind bloom --k 1 --items 10 --m 8 -o tiny.tamis; tamis release -q --epsilon 0.001 -o tiny.private tiny.tamis
$ tamis info tiny.private | sed -n 3p; tamis info --plot tiny.private | grep -c 'of the plan'
            the noise allows any number of distinct items from 0 up
0
[1]

# With a secret key, which is not needed to release.
$ printf 'sixteen  bytes!!' > key; chmod 600 key; tamis build --key-file key --kind bloom --k 1 --items 10k --m 100k -o k.tamis list
$ tamis release --epsilon 8 -q -o k.private k.tamis; tamis check --key-file key --prior 50% k.private list | wc -l; tamis check k.private list
10000
tamis: k.private: this filter was made with a secret key, which was not given; give it with --key-file
[2]

# What cannot be done.
$ tamis build -o b.tamis list; tamis release --epsilon 1 -o b.private b.tamis; ls b.private b.tamis.releases
tamis: b.tamis: only a bloom filter with k = 1 can be released; this blocked filter has k = 8, and k bits per key cost k times the privacy
ls: cannot access 'b.private': No such file or directory
ls: cannot access 'b.tamis.releases': No such file or directory
[2]
$ tamis release --epsilon 1 -o x f.private
tamis: f.private: this filter is private already; copy it, because more noise protects nobody better
[2]
$ tamis release --epsilon 17 -o x f.tamis
tamis: f.tamis: epsilon must be between 0.001 and 16
[2]
$ tamis release --epsilon -1 -o x f.tamis
tamis: --epsilon: '-1' is not a number above 0, like 0.5 or 2
[2]
$ tamis release -o x f.tamis
tamis: release: give the privacy loss with --epsilon, for example --epsilon 1
[2]
$ tamis release --epsilon 1 f.tamis
tamis: release: give the output file with -o FILE; for example: tamis release -o new-f.private --epsilon 1 f.tamis
[2]
$ tamis release --epsilon 1 -o f.tamis f.tamis
tamis: f.tamis: is the input and cannot be the output
[2]
$ tamis release --epsilon 1 -o x f.tamis b.tamis
tamis: release: name one filter, not 2
[2]
$ echo a | tamis add f.private
tamis: f.private: unchanged: the filter is sealed and cannot change; build it again from all lines
[2]
$ tamis merge -o x f.private new.private
tamis: f.private: private filters cannot be merged, because their noise adds up; merge the filters that they were released from
[2]
$ tamis merge -o x f.private; ls x
tamis: f.private: private filters cannot be merged, because their noise adds up; merge the filters that they were released from
ls: cannot access 'x': No such file or directory
[2]
$ tamis explain cost f.private
tamis: f.private: a private filter cannot stand before a set, because it misses 26.9 % (1 in 4) of its members
[2]
$ tamis pack -o x f.private
tamis: x: a private filter cannot be packed, because noise does not shrink; send it as it is
[2]
$ tamis convert --to bloom -o x f.private
tamis: f.private: no bloom filter gives the same answers as this private filter
[2]
$ tamis build --kind private -o x list
tamis: x: a private filter is released from a bloom filter with k = 1, not planned
[2]
$ tamis plan --kind private --items 1k --fpr 1%
tamis: plan: a private filter is released from a bloom filter with k = 1, not planned
[2]
$ mkdir readonly; cp k.tamis readonly; mkdir readonly/k.tamis.releases; tamis release --epsilon 1 -o x readonly/k.tamis
tamis: ...readonly/k.tamis.releases: every release must be recorded in this file, but it cannot be opened: Is a directory
[2]
# Symbolic links lead to the record of the filter, from anywhere; a copy has a record of its own.
$ mkdir far; cp k.tamis far/l.tamis; ln -s far/l.tamis l.tamis; ln -s l.tamis l2.tamis; tamis release -q --epsilon 1 -o l.1 far/l.tamis
$ tamis release --epsilon 1 -o l.2 l2.tamis; cmp l.1 l.2; ls far l*.releases
tamis: l.2: a copy of ...l.1; repeating the same release adds no epsilon
ls: cannot access 'l*.releases': No such file or directory
far:
l.tamis
l.tamis.releases
[2]
$ (cd far; tamis release --epsilon 2 -o l.3 ../l.tamis)
tamis: l.3: epsilon 2, 11.9 % (1 in 8) of its members are missed; total epsilon 3 with earlier releases (1)
# A note that a full disk or a power failure cut off belongs to a release that was never published.
# Where its epsilon can be read, it counts.
$ tamis build -q --kind bloom --k 1 --items 10000 --fpr 20% -o cut.tamis list; tamis release -q --epsilon 1 -o cut.1 cut.tamis
$ printf '0123456789abcdef0123' >> cut.tamis.releases; tamis release -q --again --epsilon 1 -o cut.2 cut.tamis; wc -l < cut.tamis.releases
tamis: ...cut.tamis.releases: the last entry was cut off; that release was never published
2
$ truncate -s -1 cut.tamis.releases; tamis release --again --epsilon 2 -o cut.3 cut.tamis; wc -l < cut.tamis.releases
tamis: ...cut.tamis.releases: the last entry was cut off; its epsilon counts, but that release may never have been published
tamis: cut.3: epsilon 2, 11.9 % (1 in 8) of its members are missed; total epsilon 4 with earlier releases (2)
3
$ tamis build -q --kind bloom --k 1 --items 10000 --fpr 20% -o every.tamis list; tamis release -q --epsilon 1 -o every.1 every.tamis
$ cp every.tamis.releases whole; rm every.1; size=$(stat -c %s whole); test $size -gt 75 || echo too short
> for n in $(seq 1 $((size - 1))); do head -c $n whole > every.tamis.releases; tamis release -qf --epsilon 1 -o every.2 every.tamis || echo refused; done 2>&1 | sed 's/.*releases: //' | sort -u
the last entry was cut off; its epsilon counts, but that release may never have been published
the last entry was cut off; that release was never published
$ tamis release --epsilon 1 -o every.3 every.tamis; cmp every.2 every.3; wc -l < every.tamis.releases
tamis: every.3: a copy of ...every.2; repeating the same release adds no epsilon
2
# And it stays one, when a release at another epsilon has ended it.
$ head -c -1 whole > every.tamis.releases; tamis release -q --epsilon 2 -o every.4 every.tamis; tamis release --epsilon 1 -o every.5 every.tamis
tamis: ...every.tamis.releases: the last entry was cut off; its epsilon counts, but that release may never have been published
tamis: every.5: epsilon 1, 26.9 % (1 in 4) of its members are missed; total epsilon 4 with earlier releases (2)
$ tamis help release
Usage: tamis release [OPTION...] --epsilon E -o OUT FILTER

Make a private copy of a filter, to be published.

Examples:
  Make a filter of one probe, and publish a private copy of it:
    tamis build --kind bloom --k 1 --items 100k --fpr 10% \
      -o urls.tamis access-urls.txt &&
    tamis release --epsilon 2 -o urls.private urls.tamis

Use it when others may query the filter but must not learn which lines are in
it. FILTER must be a bloom filter with k = 1. In the copy, called the release,
each bit is flipped at random, with the system's random numbers. The release is
epsilon-differentially private: any published file is at most e^E times as
likely with a given line in the set as without it. Exchanging one line for
another counts as 2 E.

The release misses a member with probability 1 / (1 + e^E). It can neither be
added to nor merged. 'tamis check' prints how likely each line is a member, and
gives no verdicts.

Each release is recorded in FILTER.releases. Keep this file with the filter, and
do not publish it. If the same filter is released again with the same epsilon,
the result is the same file, because fresh noise would average out over several
releases. --again draws fresh noise nevertheless. The epsilons of all releases
of a filter add up. A symbolic link to the filter leads to the same record.
Copies and hard links each start their own record, although their epsilons add
up as well.

The number of bits is published as it is. Build the filter with --items and a
round number. Without --items, the number of bits would reveal the number of
lines.

Filter or sketch:
      --epsilon E        privacy loss of the release, 0.001 to 16. A smaller
                         value is more private; 1 is usual
      --again            release the filter once more, with fresh noise. The
                         epsilons of all releases add up

Output:
  -o, --output FILE      file to write; - for standard output
  -f, --force            replace the output file if it exists
  -q, --quiet            print no results and no progress. Errors are still
                         printed, and the exit status shows the result

Other:
      --color WHEN       when to use colours: auto (default: on a terminal,
                         unless NO_COLOR is set), always or never
  -h, --short-help       print one screen of help: examples and the most used
                         options
      --help             print all of the help, with every option
