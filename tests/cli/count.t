# count: how often each line came, in memory that does not grow.
$ for i in $(seq 100); do seq $i; done > list; tamis count -o s.tamis list && tamis freq s.tamis 1 2 100 101
       100  100..100          1
        99  99..99            2
         1  1..1              100
         0  0..0              101
$ tamis count -o s.tamis list
tamis: s.tamis: already exists; use -f to replace it
[2]
$ tamis count -f -o s.tamis list && tamis info s.tamis
s.tamis: tally sketch
  weight    5,050 in all
  noise     a key that never occurred has a count of at most 0 in 50 %, 0 in 99 % and 0 in 99.9 % of cases
  size      1,048,576 bytes
  cells     0.0 % in use; m = 917,224 of 8 bits, k = 4; none saturated
  hash      xxh3-128, seed 0
  file      format 1, generation 1
$ printf 'a\nb\na' | tamis count --bytes 2KiB -f -o s.tamis && tamis freq s.tamis a b ''
         2  2..2              a
         1  1..1              b
         0  0..0              
$ printf 'a\0b\na\0a' | tamis count -z -f -o s.tamis && printf 'a\0b\na' | tamis freq -z s.tamis - | tr '\0' '|'; echo
         2  2..2              a|         1  1..1              b
a|
$ gzip -c list | tamis count -f -o s.tamis - list && tamis freq s.tamis 1
       200  200..200          1
$ tamis count -f -o s.tamis /dev/null && tamis freq s.tamis a
         0  0..0              a
[1]
$ tamis count -o - list > out.tamis; tamis count -f -o s.tamis list; cmp out.tamis s.tamis
$ tamis count list
tamis: count: give the output file with -o FILE; for example: tamis count -o list-counts.tamis list
[2]
$ tamis count -o x.tamis no-such-file; ls x.tamis
tamis: no-such-file: cannot read: No such file or directory
ls: cannot access 'x.tamis': No such file or directory
[2]

# Kinds, and ways to say how big.
$ for k in tally count-min count-sketch; do tamis count --kind $k -f -o $k.tamis list && tamis freq $k.tamis 1 && stat -c %s $k.tamis; done
       100  100..100          1
1048576
       100  100..100          1
1048576
       100  100..100          1
1048560
$ tamis count --error 1e-3 --delta 1% -f -o s.tamis list && tamis info s.tamis
s.tamis: count-min sketch
  weight    5,050 in all
  noise     a key that never occurred has a count of at most 0 in 50 %, 0 in 99 % and 0 in 99.9 % of cases
            (the textbook bound is 5: 0.001 times the weight)
  size      54,640 bytes
  cells     3.6 % in use; m = 2,719 of 32 bits, k = 5; none saturated
  hash      xxh3-128, seed 0
  file      format 1, generation 1
$ tamis count --conservative --m 1000 --k 3 --counter-bits 64 -f -o s.tamis list && tamis info s.tamis | sed -n '1p;6p'
s.tamis: count-min sketch, conservative
  cells     9.3 % in use; m = 1,000 of 64 bits, k = 3; none saturated
$ tamis count --kind blocked -o x.tamis list
tamis: --kind: a blocked filter does not count; make it with 'tamis build'. The sketches are count-min, count-sketch, tally, top, signed-tally
[2]
$ tamis count --kind tally --error 1e-3 -o x.tamis list
tamis: count: no formula gives the error of a tally, which depends on the stream: plan it by bytes
[2]
$ tamis count --bytes 100 -o x.tamis list
tamis: count: that is too small: it takes 384 bytes
[2]
$ tamis count --kind count-min --bytes 1000 --error 1e-6 -o x.tamis list
tamis: count: needs 43498016 bytes, more than the 1000 given
[2]

# Fields and weights.
$ printf 'a 5\nb 7\na -2\n\nc 0\n' > pairs; tamis count --kind count-min --field 1 --weight-field 2 -t ' ' -f -o s.tamis pairs && tamis freq s.tamis a b c
tamis: pairs: line 4: fewer than 2 fields; skipped 1 such line
         3  3..3              a
         7  7..7              b
         0  0..0              c
$ tamis count --field 1 --weight-field 2 -t ' ' -f -o s.tamis pairs
tamis: pairs: line 3: this tally has conservative updates, so nothing can be subtracted; use the kind signed-tally: tamis count --kind signed-tally
[2]
$ printf 'a 9223372036854775807\na 1\nb 9223372036854775808' > big; tamis count --field 1 --weight-field 2 -t ' ' -f -o s.tamis big
tamis: big: line 3: the weight '9223372036854775808' is not a whole number of at most 64 bits; skipped 1 such line
tamis: s.tamis: 4 counters are saturated at their limit: freq reports the counts of such lines as "or more"
$ head -n 2 big | tamis count --field 1 --weight-field 2 -t ' ' -f -o s.tamis && tamis freq s.tamis a && tamis info s.tamis | sed -n 2p
tamis: s.tamis: 4 counters are saturated at their limit: freq reports the counts of such lines as "or more"
9223372036854775807+  9223372036854775807..  a
  weight    9,223,372,036,854,775,807 or more in all
$ printf 'a\t1\t\n' | tamis count --weight-field 3 -f -o s.tamis
tamis: standard input: line 1: the weight '' is not a whole number of at most 64 bits; skipped 1 such line
$ (seq 300000 | sed 's/$/ 1/'; echo x; echo 'y 2 z'; echo 'y 1.5') > long; echo 'a 1' > short
$ tamis count -q --weight-field 2 -t ' ' -o x.tamis short long short; ls x.tamis
x.tamis
$ head -n 300002 long | tamis count --threads 3 --weight-field 2 -t ' ' -f -o s.tamis - short; tamis freq s.tamis 'y 2 z' '299999 1' 'a 1' x
tamis: standard input: line 300,001: fewer than 2 fields; skipped 1 such line
         2  1..2              y 2 z
        ~1  0..1              299999 1
        ~1  0..1              a 1
         0  0..0              x

# Going on, and together: the sketch is the same.
$ tamis count -f -o all.tamis list pairs; tamis count -f -o s.tamis list; tamis add s.tamis pairs; tail -c +257 all.tamis > all; tail -c +257 s.tamis | cmp - all; tamis freq s.tamis 1 'a 5'
       100  100..100          1
         1  1..1              a 5
$ tamis count -f -o a.tamis list; tamis count -f -o b.tamis pairs; tamis merge -f -o ab.tamis a.tamis b.tamis; tamis freq ab.tamis 1 'a 5'
       100  100..100          1
         1  1..1              a 5
$ tamis merge -f -o x.tamis a.tamis count-min.tamis
tamis: count-min.tamis: cannot be merged with a.tamis: one is tally, the other count-min
[2]
$ echo 'a 1000' | tamis add --field 1 --weight-field 2 -t ' ' s.tamis && tamis freq s.tamis a
      1000  1000..1000        a
$ cp s.tamis before; echo 'a -1' | tamis add --field 1 --weight-field 2 -t ' ' s.tamis; cmp s.tamis before
tamis: standard input: line 1: this tally has conservative updates, so nothing can be subtracted; use the kind signed-tally: tamis count --kind signed-tally
$ echo 1 | tamis remove count-min.tamis; tamis freq count-min.tamis 1
        99  99..99            1
$ tamis key new -q key; tamis count --key-file key -f -o s.tamis list; tamis freq s.tamis 1; tamis freq --key-file key s.tamis 1
tamis: s.tamis: this filter was made with a secret key, which was not given; give it with --key-file
       100  100..100          1
$ head -c 1000 all.tamis > cut; tamis freq cut 1
tamis: cut: truncated: 1000 bytes of 1048576
[2]

# What came lately: a window of sketches.
$ tamis count --kind window --inner top --generations 3 --bytes 96KiB -o hour.tamis list && tamis top -n 2 hour.tamis && tamis info hour.tamis
       100  100..100          1
        99  99..99            2
hour.tamis: window of 3 generations, each a top sketch
  weight    5,050 in all
  noise     a key that never occurred has a count of at most 0 in 50 %, 0 in 99 % and 0 in 99.9 % of cases
  list      100 of at most 756 items; every item with a count of 1 or more is listed
  size      97,984 bytes
  cells     0.0 % in use; m = 12,432 of 8 bits, k = 4; none saturated
  hash      xxh3-128, seed 0
  file      format 1, generation 1
$ tamis rotate hour.tamis && printf 'new\n%.0s' 1 2 3 | tamis add hour.tamis && tamis freq hour.tamis 1 new && tamis top -n 2 hour.tamis
       100  100..100          1
         3  3..3              new
       100  100..100          1
        99  99..99            2
$ tamis rotate hour.tamis && tamis rotate hour.tamis && tamis freq hour.tamis 1 new; tamis top hour.tamis
         0  0..0              1
         3  3..3              new
         3  3..3              new
$ tamis rotate hour.tamis && tamis top hour.tamis
[1]
$ tamis info --json hour.tamis | grep -o '"kind.*"weight": [0-9]*'; tamis info --plot hour.tamis | tail -n 1
"kind": "window", "inner": "top", "generations": 3, "weight": 0
  cells     [.....................................] 0 % in use
$ tamis count --kind window -o w.tamis list && tamis info w.tamis | sed -n 1,2p && tamis freq w.tamis 1 && tamis top w.tamis
w.tamis: window of 4 generations, each a tally sketch
  weight    5,050 in all
       100  100..100          1
tamis: w.tamis: its kind (window of tally) keeps no list of lines; make a sketch that does with 'tamis top -o' or 'tamis count --kind top'
[2]
$ tamis merge -f -o ww.tamis w.tamis w.tamis && tamis freq ww.tamis 1
       200  200..200          1
$ for i in tally signed-tally count-min count-sketch; do tamis count --kind window --inner $i --bytes 64KiB -f -o w.tamis list && tamis rotate w.tamis && tamis add w.tamis list && tamis freq w.tamis 1; done
       200  200..200          1
       200  200..200          1
       200  200..200          1
       200  200..200          1
$ tamis count --kind window --error 1e-3 --delta 1% --generations 2 -f -o w.tamis list && tamis info w.tamis | sed -n '1p;4p'
w.tamis: window of 2 generations, each a count-min sketch
            (the textbook bound is 5: 0.001 times the weight)
$ tamis count --kind window --inner blocked -o none.tamis list
tamis: --inner: a blocked filter does not count; make it with 'tamis build'. The sketches are count-min, count-sketch, tally, top, signed-tally
[2]
$ tamis count --kind window --generations 1 -o none.tamis list
tamis: count: a window has 2 to 256 generations, not 1
[2]
$ tamis count --inner top -o none.tamis list; tamis count --kind tally --generations 3 -o none.tamis list
tamis: --inner and --generations require --kind window, in a file
tamis: --inner and --generations require --kind window, in a file
[2]
$ echo 1 | tamis remove w.tamis; tamis explain cost w.tamis
tamis: w.tamis: nothing can be subtracted from a window, which forgets by itself; use the kind signed-tally: tamis count --kind signed-tally
tamis: w.tamis: this is a sketch, which has no false-positive rate
[2]

# Counters that have reached their end say so.
$ printf 'a 3000000000\na 3000000000\n' > plus; printf 'a -3000000000\na -2999999999\n' > minus
$ for k in count-min count-sketch; do tamis count --kind $k --field 1 --weight-field 2 -t ' ' -f -o e.tamis plus && tamis add --field 1 --weight-field 2 -t ' ' e.tamis minus && tamis freq e.tamis a b && tamis freq --json e.tamis a; done
tamis: e.tamis: 4 counters are saturated at their limit: freq reports the counts of such lines as "or more"; build the sketch with 'tamis count --counter-bits 64'
tamis: e.tamis: 4 counters are saturated at their limit: freq reports the counts of such lines as "or more"; build the sketch with 'tamis count --counter-bits 64'
        0+  0..               a
         0  0..0              b
{"item": "a", "count": 9223372036854775807, "lower": 0, "upper": 9223372036854775807, "confidence": 1, "below_noise": false, "certain": 0, "suspect": null}
tamis: e.tamis: 5 counters are saturated at their limit: freq reports the counts of such lines as "or more"; build the sketch with 'tamis count --counter-bits 64'
tamis: e.tamis: 5 counters are saturated at their limit: freq reports the counts of such lines as "or more"; build the sketch with 'tamis count --counter-bits 64'
   unknown  ..                a
         0  0..0              b
{"item": "a", "count": 9223372036854775807, "lower": -9223372036854775808, "upper": 9223372036854775807, "confidence": 1, "below_noise": false, "suspect": null}
$ tamis count --conservative --field 1 --weight-field 2 -t ' ' -f -o e.tamis plus && tamis freq e.tamis a && tamis count -q --conservative --field 1 --weight-field 2 -t ' ' -f -o e.tamis plus
tamis: e.tamis: 4 counters are saturated at their limit: freq reports the counts of such lines as "or more"; build the sketch with 'tamis count --counter-bits 64'
4294967295+  4294967295..      a
$ tamis count --kind count-min --counter-bits 64 --field 1 --weight-field 2 -t ' ' -f -o e.tamis plus minus && tamis freq e.tamis a
         1  1..1              a

# What a sketch has no number for is not told.
$ tamis count --kind count-sketch --error 0.088 -f -o s.tamis list && tamis info s.tamis | sed -n '1,4p'
s.tamis: count-sketch sketch
  weight    5,050 in all
  noise     a key that never occurred has a count of at most 0 in 50 %, 27 in 99 % and 68 in 99.9 % of cases
            (the textbook bound is 0.0879 times the square root of the sum of all squared counts)
$ echo 'a 1234567890123456789' | tamis count --weight-field 2 --field 1 -t ' ' -f -o s.tamis && tamis info --json s.tamis | sed 's/"hash.*//'
{"file": "s.tamis", "kind": "tally", "weight": 1234567890123456789, "noise_median": 0, "noise_99": 0, "noise_999": 0, "error": 0, "conservative": false, "bytes": 1048576, "fill": 3.48878790786e-05, "m": 917224, "k": 4, 
$ tamis info --plot s.tamis | tail -n 2
  file      format 1, generation 1
  cells     [.....................................] 0.00349 % in use
