# Mistyped commands, options, kinds and topics: a suggestion if one is near, and none if it would be
# a wild guess.
$ tamis chekc
tamis: there is no command 'chekc'; did you mean 'check'?
[2]
$ tamis biuld x
tamis: there is no command 'biuld'; did you mean 'build'?
[2]
$ tamis ver
tamis: there is no command 'ver'; did you mean 'verify'?
[2]
$ tamis frobnicate
tamis: there is no command 'frobnicate'; see 'tamis help'
[2]
$ tamis x
tamis: there is no command 'x'; see 'tamis help'
[2]
$ tamis build --itmes 5
tamis: build: unknown option '--itmes'; did you mean '--items'?
[2]
$ tamis build --parallel 5
tamis: build: unknown option '--parallel'; see 'tamis build --help'
[2]
$ tamis check --invret f
tamis: check: unknown option '--invret'; did you mean '--invert'?
[2]
$ tamis check -x f
tamis: check: unknown option '-x'; see 'tamis check --help'
[2]
$ tamis uniq -d , f; tamis uniq -qc f; tamis top -k5 f; tamis check -h f; tamis plan -k bloom
tamis: uniq: -d is no longer the delimiter: use -t; -v prints the repeated lines
tamis: uniq: -c no longer prints the number of lines: use --total; 'tamis top' counts each line
tamis: top: -k is no longer the number of lines: use -n
tamis: check: -h is another option in grep: use --help, or 'tamis check -h' alone; file names are printed only with -H
tamis: plan: -k is no longer the kind: use --kind; --k is the number of probes
[2]
$ tamis plan --fprr=1%
tamis: plan: unknown option '--fprr=1%'; did you mean '--fpr'?
[2]
$ tamis plan --kind blokced --items 10 --fpr 1%
tamis: --kind: unknown kind 'blokced'; did you mean 'blocked'?
[2]
$ tamis plan --kind zebra --items 10 --fpr 1%
tamis: --kind: unknown kind 'zebra'; the kinds are bloom, partitioned, blocked, counting, pair, growing, window, cuckoo, fuse, ribbon, exact, map, distinct, and auto
[2]
$ tamis plan --kind tally --bytes 1M
tamis: --kind: tally is a sketch; make it with 'tamis count'
[2]
$ tamis build --kind top -o x.tamis /dev/null
tamis: --kind: top is a sketch; make it with 'tamis count'
[2]
$ tamis plan --kind window --inner count-min --items 10 --fpr 1%
tamis: --inner: count-min is a sketch; make it with 'tamis count'
[2]
$ tamis count --kind zebra -o x.tamis /dev/null
tamis: --kind: unknown sketch 'zebra'; the sketches are count-min, count-sketch, tally, top, signed-tally
[2]
$ tamis count --kind tallly -o x.tamis /dev/null
tamis: --kind: unknown kind 'tallly'; did you mean 'tally'?
[2]
$ tamis help exits
tamis: there is no command or topic 'exits'; see 'tamis help'
[2]
$ tamis help zebra
tamis: there is no command or topic 'zebra'; see 'tamis help'
[2]

# Options: joined, apart, by =, anywhere, and the end of them.
$ seq 5 > five; tamis build -ofive.tamis --items=5 five
$ tamis check -vc five.tamis -- - < /dev/null
0
[1]
$ seq 4 7 > -odd && tamis check five.tamis -c -- -odd
2
$ printf '4\0zz\0' | tamis check -zc five.tamis
1
$ tamis check -c five.tamis - < five
5
$ tamis build --force=yes -o x five
tamis: --force takes no value
[2]
$ tamis build -o
tamis: -o requires a value: FILE
[2]
$ tamis build --items
tamis: --items requires a value: N
[2]

# Help and version.
$ tamis --version
tamis 1.0.0
$ tamis -V
tamis 1.0.0
$ tamis help exit-status
exit-status: what 0, 1 and 2 mean

  0  a line was selected, or the work was done
  1  no line was selected or listed (check, freq, top, guard check), no line to
     remove was present (remove), the measured rate is not the predicted one
     (verify), or the two sets differ (diff, which returns 0 if they are equal)
     (diff of filters: 0 means that they show no difference)
     (check of a private filter: 0 means that there were lines, 1 that
     there were no lines; neither shows what the filter contains)
  2  an error, with a message on standard error that names the file and the
     reason; no filter was written or changed
     (rotate with several filters: all are tried before the first is changed;
     if one cannot be saved then, those before it stay rotated)
     (build, add, compact and merge: also if the filter's rate would be more
     than twice the planned one; --overfill allows it)
     (uniq: also if new lines were dropped at more than twice the requested
     rate; the lines that it kept are printed, and its state is saved)
     (migrate: also if a key is not copied; the summary counts those that are)
     (guard fetch: if one list fails; the others are still updated)

If the reader of the output goes away (tamis check ... | head), the command ends
quietly by SIGPIPE. SIGINT (Ctrl-C), SIGTERM and SIGHUP end it by the signal,
which a shell reports as status 130, 143 or 129. No file is left half written,
and a line such as "tamis: interrupted: f.tamis is unchanged" says what was
kept. A signal that arrives while a file is being saved takes effect afterwards.
'uniq --state' saves what it has read before it ends, and commands that send
lines to servers finish those that they have sent; a second signal ends them at
once.

On a terminal, work that takes longer than half a second shows its progress on
standard error: how much is done, how fast, and the time that is left, or that
has passed if the end is unknown. It is not shown with -q, while one types the
input, or if lines are printed into a pipe, whose reader may use the same
terminal.

Examples:
  Use the exit status:
    tamis check -q bad.tamis bad-urls.txt && echo some of them are listed
$ tamis > out 2> err; echo $?; cat out; tamis -h | cmp - err
2
$ tamis 2>&1 | head -n 1
Tamis answers "have I seen this?", "how often?" and "how many distinct?" about

# The cost model of the lectures: 51,000 seconds a year without a filter, about 1,740 with it.
$ tamis explain cost
102,000 lookups, 2,000 of them for items in the set; the filter answers maybe to
1.27 % (1 in 78) of the others.

without a filter
  every lookup in the set              102,000 x 0.5 s          51,000 s
with a filter
  every lookup in the filter           102,000 x 1 ms              102 s
  members, in the set                    2,000 x 0.5 s           1,000 s
  false positives, in the set            1,275 x 0.5 s             637 s
  together                                                       1,739 s

29.3 times as fast with the filter. It pays if more than 0.203 % (1 in 494) of the
lookups are for items that are not in the set.
The set itself takes 200,000,000 bytes, the filter 9,376,344: 21.3 times less.
$ tamis explain cost --json
{"visits": 102000, "bad": 2000, "lookup": 0.001, "confirm": 0.5, "fpr": 0.0127477326096, "false_positives": 1274.77326096, "seconds_without": 51000, "seconds_with": 1739.38663048, "times_as_fast": 29.3206806965, "items": 5000000, "list_bytes": 200000000, "filter_bytes": 9376344}
$ tamis explain cost --fpr 1.28% --json | grep -o '"seconds_with": [0-9.]*'
"seconds_with": 1742
$ tamis explain cost --visits 1000 --bad 10% --lookup 10us --confirm 1ms --fpr 1/100 --items 1000
1,000 lookups, 100 of them for items in the set; the filter answers maybe to
1 % (1 in 100) of the others.

without a filter
  every lookup in the set                1,000 x 1 ms                1 s
with a filter
  every lookup in the filter             1,000 x 10 us             10 ms
  members, in the set                      100 x 1 ms              0.1 s
  false positives, in the set                9 x 1 ms               9 ms
  together                                                       0.119 s

8.4 times as fast with the filter. It pays if more than 1.01 % (1 in 99) of the
lookups are for items that are not in the set.
The set itself takes 40,000 bytes, the filter 1,456: 27.5 times less.
$ tamis explain cost --lookup 1s --confirm 1ms | tail -n 2
0.001 times as fast with the filter. Looking up the filter takes longer than it can save.
The set itself takes 200,000,000 bytes, the filter 9,376,344: 21.3 times less.
$ tamis explain cost --bad 0 five.tamis --json | grep -o '"items": [0-9]*, .*'
"items": 5, "list_bytes": 200, "filter_bytes": 320}
$ tamis explain cost --bad 200k
tamis: --bad: 200,000 is more than the 102,000 visits
[2]
$ tamis explain cost --bad some
tamis: --bad: 'some' is neither a number, like 2000, nor a share, like 2%
[2]
$ tamis explain cost --lookup 0
tamis: --lookup: '0' is not a time, like 0.5, 500ms, 30s or 5m
[2]
$ tamis explain cost --lookup 5minutes
tamis: --lookup: '5minutes' is not a time, like 0.5, 500ms, 30s or 5m
[2]
# Times are written alike everywhere.
$ tamis explain cost --lookup 5m --confirm 1h --json | grep -o '"lookup": 300, "confirm": 3600'
"lookup": 300, "confirm": 3600
$ tamis explain cost --lookup 1d --confirm 0.5 --json | grep -o '"lookup": 86400, "confirm": 0.5'
"lookup": 86400, "confirm": 0.5
$ tamis explain cost --confirm five.tamis
tamis: --confirm: 'five.tamis' is not a time, like 0.5, 500ms, 30s or 5m
[2]
$ tamis explain cost --lookup 1e308d
tamis: --lookup: '1e308d' is not a time, like 0.5, 500ms, 30s or 5m
[2]
$ for time in 10s 10 5m 0.5d 20000ms; do tamis check --timeout $time five.tamis five; done 2>&1 | uniq -c
      5 tamis: check: --timeout requires a set at a redis:// address
$ tamis check --timeout 10x five.tamis five
tamis: --timeout: '10x' is not a time, like 0.5, 500ms, 30s or 5m
[2]
$ for window in 0.5 0 -5m 1e99d 5x; do seq 3 | tamis uniq --window $window; done
tamis: --window: '0.5' is neither a number of lines (1000, 1M) nor a time (30s, 5m, 1h, 1d)
tamis: --window: '0' is neither a number of lines (1000, 1M) nor a time (30s, 5m, 1h, 1d)
tamis: --window: '-5m' is neither a number of lines (1000, 1M) nor a time (30s, 5m, 1h, 1d)
tamis: --window: '1e99d' is neither a number of lines (1000, 1M) nor a time (30s, 5m, 1h, 1d)
tamis: --window: '5x' is neither a number of lines (1000, 1M) nor a time (30s, 5m, 1h, 1d)
[2]
$ for window in 0.5m 5m 10000ms 1h 1d; do seq 3 | tamis uniq --total --items 9 --window $window; done | uniq -c
      5 3
$ tamis explain cost nowhere.tamis
tamis: nowhere.tamis: cannot open: No such file or directory
[2]
$ tamis explain cost five.tamis five.tamis
tamis: explain cost: name at most one filter
[2]
$ tamis explain --k 1 --m 4 -- cost | tail -n 5
Add cost: one bit in each row becomes 1.
  cost  h = (0)
    h1 [1] 0  0  0

25 % of the bits are set: a word never added gets a maybe with probability 25 % (1 in 4).

# Pictures, here in ASCII.
$ COLUMNS=60 tamis plan --items 1M --fpr 1% --plot | tail -n 12

bits per item: # the lower bound, if there is one, - the rest
bloom        ########- 9.60
partitioned  ########- 9.60
blocked      ########-- 10.10
counting     ########----------------------------- 38.38
pair         ########----------- 20.20
growing      ------------------ 18.45
window       ########----- 13.27
cuckoo       ########- 9.54
fuse         #######- 7.92
ribbon       ######- 6.78
$ COLUMNS=60 tamis plan --items 1M --bytes 1MB --kind bloom --plot | tail -n 2
bits per item: # the lower bound, if there is one, - the rest
bloom        ################################----- 8.00
$ seq 100000 > many; tamis build --kind counting -o many.tamis many; COLUMNS=60 tamis info --plot many.tamis | tail -n 9
  hash      xxh3-128, seed 0
  file      format 1, generation 1
  full      [#################] 100 % of the plan
  table     5455545555555555455555455555555555455
            cells in use, from the beginning to the end of the table, in tenths
  counters            0 ############............. 48.2 %
                      1 #########................ 35.1 %
                    2-3 ####..................... 16 %
                    4-7 ......................... 0.661 %
$ tamis build --kind partitioned -o rows.tamis many; COLUMNS=60 tamis info --plot rows.tamis | tail -n 3
  full      [#################] 99.9 % of the plan
  table     4555544555555554455555555545455545555
            cells in use, from the beginning to the end of the table, in tenths
$ tamis build --kind ribbon -o ribbon.tamis many; COLUMNS=60 tamis info --plot ribbon.tamis | tail -n 2
  file      format 1, generation 1
  full      [#################] 100 % of the plan
$ tamis build --kind growing -o growing.tamis many; COLUMNS=60 tamis info --plot growing.tamis | tail -n 2
  file      format 1, generation 1
  cells     [###########......] 67.3 % in use
$ for columns in 0 1 30 99999999999999999999 x; do COLUMNS=$columns tamis info --plot many.tamis | wc -l; done | uniq
16
$ tamis info --plot --json many.tamis
tamis: info: --plot and --json cannot be combined
[2]
$ tamis plan --plot --json --items 1 --fpr 0.1
tamis: plan: --plot and --json cannot be combined
[2]

# As SVG; with bytes asked for, the rates stand beside the kinds.
$ tamis plan --items 1M --fpr 1% --svg sizes.svg | tail -n 1
known before (sealed kinds), or if they come one by one (the others, at low rates)
$ grep -c '<path class="kind' sizes.svg; grep '<title id' sizes.svg
20
<title id="title">False-positive rate against size, for 1,000,000 items</title>
$ grep -o '<desc.*partitioned' sizes.svg
<desc id="desc">bloom: 1,199,504 bytes, 1 % (1 in 100). partitioned
$ tamis plan --items 1M --fpr 1% --svg sizes.svg > /dev/null
tamis: sizes.svg: already exists; use -f to replace it
[2]
$ tamis plan --items 1M --bytes 2MB --kind bloom --svg sizes.svg -f > /dev/null; grep -o '>0.046 %<' sizes.svg
>0.046 %<
$ tamis plan --items 1M --fpr 1% --svg - | cmp -n 60 - sizes.svg
$ tamis plan --fpr 1% --bytes 1MB --svg no.svg
tamis: plan: --svg requires --items
[2]
$ tamis plan --items 1M --fpr 1% --svg no/where.svg
tamis: no/where.svg: cannot write: No such file or directory
[2]
$ for plan in '1 --fpr 0.9' '4e15 --fpr 0.1' '10 --bytes 1TB' '1000 --fpr 1e-18'; do tamis plan --items $plan --svg - | tail -n 1; done
</svg>
tamis: plan: no shape of up to 2^52 bits does that
</svg>
</svg>
$ ls *.tmp* 2> /dev/null
[2]
