# top: what sort | uniq -c | sort -rn | head shows.
$ for i in $(seq 200); do seq $i; done > list; tamis top -n 3 list
       200  200..200          1
       199  199..199          2
       198  198..198          3
$ tamis top list | awk '{print $1, $3}' | md5sum; sort list | uniq -c | sort -rn | head | awk '{print $1, $2}' | md5sum
354c579a43ad1a68c7a115b11fae4ea9  -
354c579a43ad1a68c7a115b11fae4ea9  -
$ tamis top --json -n 2 list
{"item": "1", "count": 200, "lower": 200, "upper": 200, "confidence": 1, "below_noise": false, "certain": 200, "suspect": false}
{"item": "2", "count": 199, "lower": 199, "upper": 199, "confidence": 1, "below_noise": false, "certain": 199, "suspect": false}
$ printf '\377\n\303\277\na\377\n' | tamis top --json | grep -o '"item.*"count' | LC_ALL=C sort
"item": "\u00ff", "item_hex": "ff", "count
"item": "a\u00ff", "item_hex": "61ff", "count
"item": "ÿ", "count
$ printf '\377\n' | tamis top -o hex.tamis --json | grep -o '"item.*"count'; printf '\303\n' | tamis freq --json hex.tamis | grep -o '"item.*"count'
"item": "\u00ff", "item_hex": "ff", "count
"item": "\u00c3", "item_hex": "c3", "count
$ printf 'b\na\nb' | tamis top; printf '' | tamis top
         2  2..2              b
         1  1..1              a
[1]
$ printf 'a\0b\nc\0a' | tamis top -z | tr '\0' '|'; echo
         2  2..2              a|         1  1..1              b
c|
$ printf 'a\n\n\n\n' | tamis top
         3  3..3              
         1  1..1              a
$ gzip -c list | tamis top -n 1 - list
       400  400..400          1
$ tamis top -q list; tamis top -q /dev/null
[1]
$ tamis top no-such-file
tamis: no-such-file: cannot read: No such file or directory
[2]

# Fields and weights.
$ printf 'a 5\nb 7\na 4\nlonely\n' > pairs; tamis top --field 1 --weight-field 2 -t ' ' pairs
tamis: pairs: line 4: fewer than 2 fields; skipped 1 such line
         9  9..9              a
         7  7..7              b
$ echo 'a -1' | tamis top --field 1 --weight-field 2 -t ' '
tamis: standard input: line 1: this top has conservative updates, so nothing can be subtracted; use the kind signed-tally: tamis count --kind signed-tally
[2]
$ printf '1.2.3.4 - - [x] "GET /a" 200 512\n1.2.3.4 - - [x] "GET /b" 304 -\n5.6.7.8 - - [x] "GET /c" 200 1000\r\n' | tamis top --field 1 --weight-field 8 -t ' '
      1000  1000..1000        5.6.7.8
       512  512..512          1.2.3.4
$ tamis top --field 1 --weight-field 2 -t ' ' -o w.tamis pairs > /dev/full; ls w.tamis
tamis: pairs: line 4: fewer than 2 fields; skipped 1 such line
tamis: standard output: cannot write: No space left on device
ls: cannot access 'w.tamis': No such file or directory
[2]

# A share of all lines: every such item, or a refusal.
$ tamis top --min 0.9% list
       200  200..200          1
       199  199..199          2
       198  198..198          3
       197  197..197          4
       196  196..196          5
       195  195..195          6
       194  194..194          7
       193  193..193          8
       192  192..192          9
       191  191..191          10
       190  190..190          11
       189  189..189          12
       188  188..188          13
       187  187..187          14
       186  186..186          15
       185  185..185          16
       184  184..184          17
       183  183..183          18
       182  182..182          19
       181  181..181          20
$ tamis top --min 0.9% -n 1 list; tamis top --min 50% list
       200  200..200          1
[1]
$ seq 300000 | cat - list > long; tamis top --bytes 64KiB --min 0.001% long
tamis: top: --min: the list may lack lines that occurred 4 of 320,100 times: with 65,536 bytes it is complete from 16 (0.005 %) up; --bytes of about 1MiB would suffice
[2]
$ tamis top --bytes 64KiB --min 0.03% long | sed -n '1p;$p'
       207  200..212          1
        92  84..98            117
$ tamis top --min 0.03% long | wc -l; tamis top --bytes 2MiB --min 0.001% long | wc -l
105
198

# Where no line is frequent, the lines that met the most noise are listed, and the interval shows
# it.
$ seq 300000 | tamis top --json -n 2 --bytes 64kB
{"item": "294837", "count": 10, "lower": 1, "upper": 16, "confidence": 1, "below_noise": false, "certain": 1, "suspect": false}
{"item": "295330", "count": 10, "lower": 1, "upper": 16, "confidence": 1, "below_noise": false, "certain": 1, "suspect": false}

# The sketch is kept, asked, added to and merged.
$ tamis top -n 1 -o t.tamis list && tamis top -n 2 t.tamis && tamis freq t.tamis 1 200 201
       200  200..200          1
       200  200..200          1
       199  199..199          2
       200  200..200          1
         1  1..1              200
         0  0..0              201
$ tamis top -o t.tamis list
tamis: t.tamis: already exists; use -f to replace it
[2]
$ tamis add t.tamis list && tamis top -n 1 t.tamis; tamis count --kind top -o u.tamis pairs; tamis merge -o tu.tamis t.tamis u.tamis && tamis freq tu.tamis 'a 5' 1
       400  400..400          1
         1  1..1              a 5
       400  400..400          1
$ tamis info t.tamis
t.tamis: top sketch
  weight    40,200 in all
  noise     a key that never occurred has a count of at most 0 in 50 %, 0 in 99 % and 0 in 99.9 % of cases
  list      200 of at most 3,444 items; every item with a count of 1 or more is listed
  size      1,048,448 bytes
  cells     0.0 % in use; m = 772,296 of 8 bits, k = 4; none saturated
  hash      xxh3-128, seed 0
  file      format 1, generation 2
$ tamis top -n 1 t.tamis u.tamis
tamis: t.tamis: is a sketch, which accepts only -n, --min and --json; combine sketches with 'tamis merge', and add lines with 'tamis add'
[2]
$ tamis top --bytes 1MiB t.tamis
tamis: t.tamis: is a sketch, which accepts only -n, --min and --json; combine sketches with 'tamis merge', and add lines with 'tamis add'
[2]
$ tamis count -o c.tamis list; tamis top c.tamis
tamis: c.tamis: its kind (tally) keeps no list of lines; make a sketch that does with 'tamis top -o' or 'tamis count --kind top'
[2]
$ tamis top --raw -n 1 c.tamis | wc -l
1
$ head -c 500 t.tamis > cut; tamis top cut
tamis: cut: truncated: 500 bytes of 1048448
[2]
$ tamis top -o - list
tamis: top: the list and the sketch cannot both go to standard output; -q omits the list
[2]
$ tamis top -q -o - list | tamis top --raw -q && tamis top -q -o - list > v.tamis && tamis top -n 1 v.tamis
       200  200..200          1

# Options that make no sense, and lines that are long.
$ tamis top --live list
tamis: top: --live requires a terminal and cannot be combined with --json or -q
[2]
$ tamis top --bytes 1000 -n 1000 list
tamis: top: that is too small for 1000 items: it takes 177024 bytes
[2]
$ tamis top -n 0 list
tamis: --number: '0' is not a whole number of at least 1, like 1000000, 1M or 1e6
[2]
$ (head -c 100000 /dev/zero | tr '\0' x; echo; echo y) > wide; tamis top wide | cut -c 1-40; tamis top --json wide | grep -o '"length.*'
         1  1..1              xxxxxxxxxx
         1  1..1              y
"length": 100000, "count": 1, "lower": 1, "upper": 1, "confidence": 1, "below_noise": false, "certain": 1, "suspect": false}

# A sketch among the input files is not a file of lines.
$ seq 10 > lines; tamis count -o kept.tamis lines
$ tamis top lines kept.tamis
tamis: kept.tamis: is a sketch, which accepts only -n, --min and --json; combine sketches with 'tamis merge', and add lines with 'tamis add'
[2]
