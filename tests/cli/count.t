# count: how often each line came, in memory that does not grow.
$ for i in $(seq 100); do seq $i; done > list; tamis count -o s.tamis list && tamis freq s.tamis 1 2 100 101
       100  100..100          1
        99  99..99            2
         1  1..1              100
         0  0..0              101
$ tamis count -o s.tamis list
tamis: s.tamis: exists already; -f replaces it
[2]
$ tamis count -f -o s.tamis list && tamis info s.tamis
s.tamis: tally sketch
  weight    5,050 in all
  noise     a key that never came counts 0 as a rule, up to 0 in 99 % and 0 in 99.9 % of cases
  size      1,048,576 bytes
  cells     0.0 % in use; m = 917,224 of 8 bits, k = 4; none at their end
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
tamis: count: where to? -o FILE
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
  noise     a key that never came counts 0 as a rule, up to 0 in 99 % and 0 in 99.9 % of cases
            (the textbook only promises 5: 0.001 times the weight)
  size      54,640 bytes
  cells     3.6 % in use; m = 2,719 of 32 bits, k = 5; none at their end
  hash      xxh3-128, seed 0
  file      format 1, generation 1
$ tamis count --conservative --m 1000 --k 3 --counter-bits 64 -f -o s.tamis list && tamis info s.tamis | sed -n '1p;6p'
s.tamis: count-min sketch, conservative
  cells     9.3 % in use; m = 1,000 of 64 bits, k = 3; none at their end
$ tamis count --kind blocked -o x.tamis list
tamis: --kind: a blocked filter does not tell how often, see 'tamis build'; there are count-min, count-sketch, tally, top, signed-tally
[2]
$ tamis count --kind tally --error 1e-3 -o x.tamis list
tamis: count: no formula tells the error of a tally, which depends on the stream: plan it by bytes
[2]
$ tamis count --bytes 100 -o x.tamis list
tamis: count: that is too small: it takes 384 bytes
[2]
$ tamis count --kind count-min --bytes 1000 --error 1e-6 -o x.tamis list
tamis: count: that needs 43498016 bytes, more than the budget of 1000
[2]

# Fields and weights.
$ printf 'a 5\nb 7\na -2\n\nc 0\n' > pairs; tamis count --kind count-min --field 1 --weight-field 2 -d ' ' -f -o s.tamis pairs && tamis freq s.tamis a b c
tamis: skipped 1 line of fewer than 2 fields
         3  3..3              a
         7  7..7              b
         0  0..0              c
$ tamis count --field 1 --weight-field 2 -d ' ' -f -o s.tamis pairs
tamis: pairs: line 3: updates of this tally are conservative, so nothing can be taken away; signed-tally can: tamis count --kind signed-tally
[2]
$ printf 'a 9223372036854775807\na 1\nb 9223372036854775808' > big; tamis count --field 1 --weight-field 2 -d ' ' -f -o s.tamis big
tamis: big: line 3: the weight '9223372036854775808' is not a whole number of 64 bits; skipped 1 such line
$ head -n 2 big | tamis count --field 1 --weight-field 2 -d ' ' -f -o s.tamis && tamis freq s.tamis a && tamis info s.tamis | sed -n 2p
9223372036854775807  9223372036854775807..9223372036854775807  a
  weight    9,223,372,036,854,775,807 in all
$ printf 'a\t1\t\n' | tamis count --weight-field 3 -f -o s.tamis
tamis: standard input: line 1: the weight '' is not a whole number of 64 bits; skipped 1 such line
$ (seq 300000 | sed 's/$/ 1/'; echo x; echo 'y 2 z'; echo 'y 1.5') > long; echo 'a 1' > short
$ tamis count -q --weight-field 2 -d ' ' -o x.tamis short long short; ls x.tamis
x.tamis
$ head -n 300002 long | tamis count --threads 3 --weight-field 2 -d ' ' -f -o s.tamis - short; tamis freq s.tamis 'y 2 z' '299999 1' 'a 1' x
tamis: skipped 1 line of fewer than 2 fields
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
$ echo 'a 1000' | tamis add --field 1 --weight-field 2 -d ' ' s.tamis && tamis freq s.tamis a
      1000  1000..1000        a
$ cp s.tamis before; echo 'a -1' | tamis add --field 1 --weight-field 2 -d ' ' s.tamis; cmp s.tamis before
tamis: standard input: line 1: updates of this tally are conservative, so nothing can be taken away; signed-tally can: tamis count --kind signed-tally
$ echo 1 | tamis remove count-min.tamis; tamis freq count-min.tamis 1
        99  99..99            1
$ tamis key new -q key; tamis count --key-file key -f -o s.tamis list; tamis freq s.tamis 1; tamis freq --key-file key s.tamis 1
tamis: s.tamis: hashed with a secret key, which was not given; see --key-file
       100  100..100          1
$ head -c 1000 all.tamis > cut; tamis freq cut 1
tamis: cut: truncated: 1000 bytes of 1048576
[2]
