# freq: count, interval, item; - or nothing reads lines.
$ (yes common | head -n 5000; seq 60000; echo rare) > list; tamis count --bytes 16KiB -o s.tamis list
$ tamis freq s.tamis common rare never
      5000  4992..5000        common
        ~2  1..9              rare
        ~0  0..7              never
$ printf 'common\nnever' | tamis freq s.tamis; printf 'rare\n' | tamis freq s.tamis never - common
      5000  4992..5000        common
        ~0  0..7              never
        ~0  0..7              never
        ~2  1..9              rare
      5000  4992..5000        common
$ tamis freq --json s.tamis common 'say "\	"' ''
{"item": "common", "count": 5000, "lower": 4992, "upper": 5000, "confidence": 0.99, "below_noise": false, "certain": 0, "suspect": null}
{"item": "say \"\\\u0009\"", "count": 1, "lower": 0, "upper": 8, "confidence": 0.99, "below_noise": true, "certain": 0, "suspect": null}
{"item": "", "count": 0, "lower": 0, "upper": 7, "confidence": 0.99, "below_noise": true, "certain": 0, "suspect": null}
$ tamis freq -q s.tamis common; echo nothing is printed
nothing is printed
$ tamis count -o few.tamis /dev/null; tamis freq few.tamis a b
         0  0..0              a
         0  0..0              b
[1]
$ tamis freq -q few.tamis a < /dev/null
[1]
$ tamis freq few.tamis < /dev/null
[1]
$ printf 'a\033[2Jb\n' | tamis freq few.tamis | od -c | head -n 3
0000000                                       0           0   .   .   0
0000020                                                           a 033
0000040   [   2   J   b  \n

# Filters that count can be asked, too; others say who can.
$ printf 'a\na\nb\n' > abc; for k in counting cuckoo; do tamis build --kind $k -o $k.tamis abc; tamis freq $k.tamis a b c; done
         2  0..2              a
         1  0..1              b
         0  0..0              c
         2  0..2              a
         1  0..1              b
         0  0..0              c
$ tamis build -o b.tamis abc; tamis freq b.tamis a
tamis: b.tamis: blocked filters do not count; use the kind tally: tamis count --kind tally
[2]
$ tamis freq no-such-file a
tamis: no-such-file: cannot open: No such file or directory
[2]
$ tamis freq abc a
tamis: abc: not a Tamis file
tamis: freq: to make a sketch of a file of lines: tamis count -o abc-counts.tamis abc
[2]

# A poisoned count: 40 lines, chosen against the public hash to share the counters of a line that
# never occurred, and to stay out of the list.
$ tamis count --kind top --bytes 64KiB --field 1 --weight-field 2 -o p.tamis "$TAMIS_SOURCE/tests/cli/poison.tsv"; tamis freq p.tamis 1 2
    ?20000  0..20000          1
         0  0..0              2
$ tamis freq --json p.tamis 1 2
{"item": "1", "count": 20000, "lower": 0, "upper": 20000, "confidence": 1, "below_noise": false, "certain": 0, "suspect": true}
{"item": "2", "count": 0, "lower": 0, "upper": 0, "confidence": 0.99, "below_noise": true, "certain": 0, "suspect": false}
$ tamis top p.tamis -n 1; tamis top --json -n 100 p.tamis | grep -c '"suspect": true'
     20012  20012..20012      13994
0
[1]
$ tamis key new -q key; tamis count --kind top --key-file key --bytes 64KiB --field 1 --weight-field 2 -o k.tamis "$TAMIS_SOURCE/tests/cli/poison.tsv"; tamis freq --key-file key k.tamis 1
         0  0..0              1
[1]
# A tally cannot tell.
$ tamis count --bytes 64KiB --field 1 --weight-field 2 -o t.tamis "$TAMIS_SOURCE/tests/cli/poison.tsv"; tamis freq --json t.tamis 1 | grep -o '"certain.*'
"certain": 0, "suspect": null}
