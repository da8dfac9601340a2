# distinct: what sort -u | wc -l shows.
$ for i in $(seq 200); do seq $i; done > list; tamis distinct list; sort -u list | wc -l
200
200
$ printf '' | tamis distinct; tamis distinct /dev/null; tamis distinct --interval /dev/null
0
0
0	0..0
$ printf 'b\na\nb' | tamis distinct; printf '\n\n\n' | tamis distinct; printf 'a\0b\nc\0a' | tamis distinct -z
2
1
2
$ tamis distinct --interval list; seq 100000 | tamis distinct --interval
200	200..200
99829	99351..100000
$ tamis distinct --json list /dev/null; seq 100000 | tamis distinct --json
{"distinct": 200, "lower": 200, "upper": 200, "confidence": 1, "error": 0, "exact": true, "lines": 20100, "skipped": 0, "bytes": 1856}
{"distinct": 99829, "lower": 99351, "upper": 100000, "confidence": 0.99, "error": 0.00269091157861, "exact": false, "lines": 100000, "skipped": 0, "bytes": 65792}
$ tamis distinct list list - < list; gzip -c list | tamis distinct - list; gzip -c list | tamis distinct --raw | wc -l
200
200
1
$ tamis distinct -q list
$ seq 100000 > many; for threads in 1 2 7; do tamis distinct --threads $threads many many; done
99829
99829
99829
$ tamis distinct missing; tamis distinct list missing
tamis: missing: cannot read: No such file or directory
tamis: missing: cannot read: No such file or directory
[2]
$ tamis distinct . 2>&1
tamis: .: cannot read: Is a directory
[2]
$ tamis distinct list > /dev/full
tamis: standard output: cannot write: No space left on device
[2]
$ seq 5000 | tamis distinct --interval; seq 5000 | tamis distinct -q -o - | tamis distinct --interval
5000	4984..5000
5007	4984..5030

# The size: by error, by bytes, by both.
$ for size in '--error 10%' '--error 1%' '--error 0.1%' '--bytes 320' '--bytes 20k' '--error 1% --bytes 8448'; do tamis distinct $size --json many; done
{"distinct": 97255, "lower": 77962, "upper": 100000, "confidence": 0.99, "error": 0.0861091705156, "exact": false, "lines": 100000, "skipped": 0, "bytes": 320}
{"distinct": 99594, "lower": 97837, "upper": 100000, "confidence": 0.99, "error": 0.00761104729827, "exact": false, "lines": 100000, "skipped": 0, "bytes": 8448}
{"distinct": 100000, "lower": 99877, "upper": 100000, "confidence": 0.99, "error": 0.000951380912284, "exact": false, "lines": 100000, "skipped": 0, "bytes": 524544}
{"distinct": 97255, "lower": 77962, "upper": 100000, "confidence": 0.99, "error": 0.0861091705156, "exact": false, "lines": 100000, "skipped": 0, "bytes": 320}
{"distinct": 99547, "lower": 98417, "upper": 100000, "confidence": 0.99, "error": 0.00538182315722, "exact": false, "lines": 100000, "skipped": 0, "bytes": 16640}
{"distinct": 99594, "lower": 97837, "upper": 100000, "confidence": 0.99, "error": 0.00761104729827, "exact": false, "lines": 100000, "skipped": 0, "bytes": 8448}
$ tamis distinct --error 0 many
tamis: --error: '0' is not an error above 0 and at most 30%, like 1%
[2]
$ tamis distinct --error nan many
tamis: --error: 'nan' is not an error above 0 and at most 30%, like 1%
[2]
$ tamis distinct --error 31% many
tamis: distinct: the error must be above 0 and at most 30 %
[2]
$ tamis distinct --error -1% many
tamis: --error: '-1%' is not an error above 0 and at most 30%, like 1%
[2]
$ tamis distinct --error 1e-6 many
tamis: distinct: the least error is 0.0042 %
[2]
$ tamis distinct --bytes 319 many
tamis: distinct: 319 bytes are too few: at least 320 are needed
[2]
$ tamis distinct --bytes 0 many
tamis: --bytes: '0' is not a whole number of at least 1, like 1000000, 1M or 1e6
[2]
$ tamis distinct --error 1% --bytes 8447 many
tamis: distinct: 8447 bytes are too few: at least 8448 are needed
[2]
$ tamis plan --kind distinct --error 1%
kind                   bytes     error  exact up to  m
distinct               8,448    0.76 %        1,024  2,048
error: relative standard error of an estimate; 99 % are off by less than 2 %
$ tamis plan --kind distinct --error 1% --json
[{"kind": "distinct", "bytes": 8448, "error": 0.00761104729827, "exact_until": 1024, "m": 2048}]
$ tamis plan --kind distinct --bytes 66kB
kind                   bytes     error  exact up to  m
distinct              65,792    0.27 %        2,048  16,384
error: relative standard error of an estimate; 99 % are off by less than 0.69 %
$ tamis plan --kind distinct
tamis: plan: --kind distinct requires --error or --bytes
[2]
$ tamis plan --kind window --inner distinct --generations 3
tamis: plan: --inner distinct requires --error or --bytes
[2]
$ tamis plan --kind distinct --error 100%
tamis: --error: '100%' is not an error above 0 and at most 30%, like 1%
[2]
$ tamis plan --kind distinct --error 40%
tamis: plan: the error must be above 0 and at most 30 %
[2]
$ tamis plan --kind distinct --error 1% --items 1000
tamis: plan: a sketch has no items and no false positives: plan it by bytes, error or m
[2]
$ tamis plan --kind distinct --error 1% --plot
tamis: plan: there are pictures only of filters
[2]
$ tamis plan --error 1%
tamis: --error requires --kind distinct; a filter has a rate, --fpr
[2]
$ tamis build --error 1% -o x.tamis list
tamis: --error requires --kind distinct; a filter has a rate, --fpr
[2]
$ tamis count --kind distinct -o x.tamis list
tamis: --kind: a distinct sketch does not count each line; make it with 'tamis distinct -o'. The sketches that do are count-min, count-sketch, tally, top, signed-tally
[2]
$ tamis count --kind window --inner distinct -o x.tamis list
tamis: --inner: a distinct sketch does not count each line; make it with 'tamis distinct -o'. The sketches that do are count-min, count-sketch, tally, top, signed-tally
[2]
$ tamis uniq --kind distinct list
tamis: uniq: a distinct sketch does not report which lines are new; use blocked, bloom, partitioned or growing, or --window
[2]
$ tamis build --kind distnct -o x.tamis list
tamis: --kind: unknown kind 'distnct'; did you mean 'distinct'?
[2]
$ ls x.tamis
ls: cannot access 'x.tamis': No such file or directory
[2]

# Fields.
$ printf 'a 5\nb 7\na 4\nlonely\n' > pairs; tamis distinct --field 1 -t ' ' pairs; tamis distinct --field 2 -t ' ' pairs; tamis distinct --field 2 -t ' ' --json -q pairs; tamis distinct --field 2 -t ' ' --json pairs
3
tamis: pairs: line 4: fewer than 2 fields; skipped 1 such line
3
tamis: pairs: line 4: fewer than 2 fields; skipped 1 such line
{"distinct": 3, "lower": 3, "upper": 3, "confidence": 1, "error": 0, "exact": true, "lines": 3, "skipped": 1, "bytes": 280}
$ printf '  a  b\n\ta\tc\n\n' | tamis distinct --field 1 -t blanks
tamis: standard input: line 3: fewer than 1 field; skipped 1 such line
1
$ tamis distinct -t ' ' pairs
tamis: distinct: --delimiter requires --field or --by
[2]
$ tamis distinct --field 0 pairs
tamis: --field: '0' is not the number of a field, counted from 1, or the name of a column
[2]

# Sketches in files: the union, in any order, with the bytes of one sketch of all lines.
$ seq 1 60000 | tamis distinct -o first.tamis; seq 30001 100000 | tamis distinct -o second.tamis; tamis distinct first.tamis second.tamis; tamis distinct second.tamis first.tamis; tamis distinct many
59941
70000
99829
99829
99829
$ tamis distinct --json first.tamis second.tamis
{"distinct": 99829, "lower": 99351, "upper": 100309, "confidence": 0.99, "error": 0.00269091157861, "exact": false, "lines": null, "skipped": null, "bytes": 65792}
$ tamis merge -o both.tamis first.tamis second.tamis; tail -c +257 both.tamis > cells; tamis distinct -q -o - many | tail -c +257 | cmp - cells; tamis distinct - < both.tamis; cat both.tamis | tamis distinct; cat both.tamis | tamis distinct first.tamis -
99829
99829
99829
$ cp first.tamis more.tamis; seq 30001 100000 | tamis add more.tamis; seq 5 | tamis add more.tamis; tamis distinct more.tamis
99829
$ tamis build --kind distinct -o built.tamis many; tail -c +257 built.tamis | cmp - cells; tac many | cat - many | tamis build --kind distinct -o turned.tamis; cmp turned.tamis built.tamis
$ tamis info both.tamis
both.tamis: distinct sketch
  distinct  about 99,829, with 99 % certainty 99,351 to 100,309
  error     0.27 % standard error of an estimate
  size      65,792 bytes
  cells     99.8 % in use; m = 16,384 registers of 32 bits
  hash      xxh3-128, seed 0
  file      format 1, generation 2
$ tamis info --json both.tamis
{"file": "both.tamis", "kind": "distinct", "distinct": 99829, "lower": 99351, "upper": 100309, "confidence": 0.99, "exact": false, "error": 0.00269091157861, "bytes": 65792, "fill": 0.998291015625, "m": 16384, "k": 1, "hash": "xxh3-128", "seed": 0, "hash_suspect": false, "keyed": false, "sealed": false, "cell_bits": 32, "saturated": 0, "sections": 1, "generation": 2, "format": 1}
$ seq 3 | tamis distinct -o few.tamis --error 10%; tamis info few.tamis; tamis info --plot both.tamis | tail -n 1
3
few.tamis: distinct sketch
  distinct  3, exactly
  error     8.6 % standard error of an estimate
  size      280 bytes
  cells     a hash of each line, up to 8 lines; then m = 16 registers
  hash      xxh3-128, seed 0
  file      format 1, generation 1
  cells     [#####################################] 99.8 % in use
$ tamis distinct few.tamis both.tamis; tamis distinct --json few.tamis both.tamis
97255
{"distinct": 97255, "lower": 77962, "upper": 121321, "confidence": 0.99, "error": 0.0861091705156, "exact": false, "lines": null, "skipped": null, "bytes": 320}
$ tamis verify few.tamis both.tamis
few.tamis: undamaged: every checksum is right
few.tamis: 0 of 50,000,000 random keys got a maybe: 0; the bits predict 3.47e-16 %: good
both.tamis: undamaged: every checksum is right
both.tamis: 398,337 of 1,000,000 random keys got a maybe: 39.8 % (1 in 3); the bits predict 39.8 % (1 in 3): good
$ tamis pack -q -o few.packed few.tamis; tamis unpack -o again.tamis few.packed; tamis distinct again.tamis
3

# A window forgets its oldest generation.
$ seq 2000 | tamis distinct -q --generations 3 -o window.tamis; tamis rotate --to 5 window.tamis; tamis rotate --to 6 window.tamis; seq 1001 3000 | tamis add window.tamis; tamis distinct window.tamis; tamis rotate --to 8 window.tamis; tamis distinct window.tamis; tamis rotate --to 9 window.tamis; tamis distinct --interval window.tamis
3003
2001
0	0..0
$ tamis info window.tamis; tamis info --json window.tamis
window.tamis: window of 3 generations, each a distinct sketch
  distinct  0, exactly
  error     0.27 % standard error of an estimate
  size      196,992 bytes
  cells     0.0 % in use; m = 16,384 registers of 32 bits
  epoch     9
  hash      xxh3-128, seed 0
  file      format 1, generation 6
{"file": "window.tamis", "kind": "window", "inner": "distinct", "generations": 3, "distinct": 0, "lower": 0, "upper": 0, "confidence": 1, "exact": true, "error": 0.00269091157861, "bytes": 196992, "fill": 0, "m": 16384, "k": 1, "hash": "xxh3-128", "seed": 0, "hash_suspect": false, "keyed": false, "sealed": false, "cell_bits": 32, "saturated": 0, "sections": 3, "epoch": 9, "generation": 6, "format": 1}
$ seq 2000 | tamis build --kind window --inner distinct --generations 3 --error 1% -o other.tamis; tamis distinct --json other.tamis
{"distinct": 2001, "lower": 1975, "upper": 2027, "confidence": 0.99, "error": 0.00761104729827, "exact": false, "lines": null, "skipped": null, "bytes": 24960}
$ tamis plan --kind window --inner distinct --generations 3 --error 1%; tamis plan --kind window --inner distinct --generations 3 --error 1% --json
kind                   bytes     error  exact up to  m
window                24,960    0.76 %            0  2,048
error: relative standard error of an estimate; 99 % are off by less than 2 %
[{"kind": "window", "inner": "distinct", "generations": 3, "bytes": 24960, "error": 0.00761104729827, "exact_until": 0, "m": 2048}]
$ tamis check window.tamis list
tamis: window.tamis: is a window of distinct sketches, which does not know its lines; 'tamis distinct' prints how many it has, and 'tamis build' makes a filter that can be checked
[2]
$ tamis freq window.tamis 1
tamis: window.tamis: is a window of distinct sketches, which counts distinct lines together ('tamis distinct'); make a sketch that counts each line with 'tamis count'
[2]
$ tamis remove window.tamis list
tamis: window.tamis: is a window of distinct sketches, from which no line can be removed; a window forgets old lines: 'tamis distinct --generations N -o FILE'
[2]
$ tamis top window.tamis
tamis: window.tamis: is a window of distinct sketches, which keeps no list of lines; 'tamis distinct' prints how many it has, and 'tamis top -o' makes a sketch with a list
[2]
$ tamis distinct --generations 3 list
tamis: distinct: --generations requires -o, because it makes a window in a file
[2]
$ tamis distinct --generations 1 -o x.tamis list
tamis: distinct: a window has 2 to 256 generations, not 1
[2]
$ tamis distinct window.tamis both.tamis
tamis: both.tamis: cannot be counted together with window.tamis: one is window, the other distinct
[2]

# A filter shows it as well, by its bits.
$ for kind in bloom partitioned blocked counting growing; do tamis build -q --kind $kind -o $kind.tamis many; tamis distinct --interval $kind.tamis; done; tamis distinct --json bloom.tamis
99970	99759..100183
100025	99813..100238
100107	99889..100326
99955	99743..100168
100009	99987..100032
{"distinct": 99970, "lower": 99759, "upper": 100183, "confidence": 0.99, "error": null, "exact": false, "lines": null, "skipped": null, "bytes": 120176}
$ tamis build --kind ribbon -o ribbon.tamis many; tamis distinct ribbon.tamis
tamis: ribbon.tamis: the cells of ribbon do not show how many distinct keys there are; use the kind distinct: tamis distinct -o
[2]
$ tamis count -o tally.tamis many; tamis distinct tally.tamis
tamis: tally.tamis: the cells of tally do not show how many distinct keys there are; use the kind distinct: tamis distinct -o
[2]
$ tamis build -q --overfill --items 100 -o full.tamis many 2> /dev/null; tamis distinct full.tamis
tamis: full.tamis: is too full: it had more than 629 distinct lines
[2]
$ tamis distinct bloom.tamis both.tamis
tamis: both.tamis: cannot be counted together with bloom.tamis: one is bloom, the other distinct
[2]

# Lines or sketches, not both.
$ tamis distinct first.tamis list
tamis: list: is not a sketch, but first.tamis is; count lines and sketches separately, or add the lines to the sketch with 'tamis add'
[2]
$ tamis distinct list first.tamis
tamis: list: is not a sketch, but first.tamis is; count lines and sketches separately, or add the lines to the sketch with 'tamis add'
[2]
$ tamis distinct first.tamis - < list
tamis: standard input: is not a sketch, but first.tamis is; count lines and sketches separately, or add the lines to the sketch with 'tamis add'
[2]
$ cat first.tamis | tamis distinct list -
tamis: list: is not a sketch, but standard input is; count lines and sketches separately, or add the lines to the sketch with 'tamis add'
[2]
$ tamis distinct first.tamis missing
tamis: missing: cannot open: No such file or directory
[2]
$ tamis distinct --raw first.tamis list | wc -l
1
$ tamis distinct --field 1 first.tamis
tamis: first.tamis: is a sketch, which accepts only --interval and --json; combine sketches with 'tamis merge', and add lines with 'tamis add'
[2]
$ tamis distinct -o x.tamis first.tamis
tamis: first.tamis: is a sketch, which accepts only --interval and --json; combine sketches with 'tamis merge', and add lines with 'tamis add'
[2]
$ tamis distinct --error 1% first.tamis
tamis: first.tamis: is a sketch, which accepts only --interval and --json; combine sketches with 'tamis merge', and add lines with 'tamis add'
[2]
$ tamis distinct --by 1 first.tamis
tamis: first.tamis: is a sketch, which accepts only --interval and --json; combine sketches with 'tamis merge', and add lines with 'tamis add'
[2]
$ ls x.tamis
ls: cannot access 'x.tamis': No such file or directory
[2]

# Packed or compressed sketches, and a second pipe, are not counted as lines.
$ seq 1000 > thousand; tamis distinct -q -o t.tamis thousand; tamis pack -q -o t.pack t.tamis; gzip -k t.tamis; xz -k t.tamis; gzip -c t.pack > t.pack.gz
$ tamis distinct t.pack
tamis: t.pack: this file is packed; unpack it first (tamis unpack), to 8256 bytes
[2]
$ tamis info t.pack
tamis: t.pack: this file is packed; unpack it first (tamis unpack), to 8256 bytes
[2]
$ cat t.pack | tamis distinct
tamis: standard input: this file is packed; unpack it first (tamis unpack), to 8256 bytes
[2]
$ tamis distinct t.tamis.gz
tamis: t.tamis.gz: is a compressed sketch; decompress it first
[2]
$ tamis distinct --by 1 -z thousand t.tamis.xz
tamis: t.tamis.xz: is a compressed sketch; decompress it first
[2]
$ tamis distinct t.pack.gz
tamis: t.pack.gz: is a compressed sketch; decompress it first
[2]
$ tamis distinct < t.tamis.gz
tamis: standard input: is a compressed sketch; decompress it first
[2]
$ tamis distinct first.tamis t.tamis.gz
tamis: t.tamis.gz: is a compressed sketch; decompress it first
[2]
$ mkfifo one two; cat thousand > one & cat t.tamis > two & tamis distinct one two
tamis: two: a sketch from a pipe must be the only pipe; save it to a file first
[2]
$ cat t.tamis > one & cat t.tamis > two & tamis distinct one two
tamis: two: a sketch from a pipe must be the only pipe; save it to a file first
[2]
$ cat thousand > one & cat t.tamis | tamis distinct one -
tamis: standard input: a sketch from a pipe must be the only pipe; save it to a file first
[2]
$ cat t.tamis > one & cat thousand | tamis distinct one -
tamis: standard input: is not a sketch, but one is; count lines and sketches separately, or add the lines to the sketch with 'tamis add'
[2]
$ cat t.tamis > one & tamis distinct t.tamis one
1000
$ tamis distinct --raw t.pack | wc -l; printf '\211TAMIS\r\r\n' | tamis distinct; printf '\211TAM\n' | tamis distinct - thousand
1
tamis: standard input: line 1 ends with a carriage return, which is part of its key: --crlf removes it
1
1001

# Hashes that differ; and damage.
$ seq 10 | tamis distinct --seed 7 -o seed.tamis; tamis distinct first.tamis seed.tamis; tamis merge -o x.tamis first.tamis seed.tamis
10
tamis: seed.tamis: cannot be counted together with first.tamis: they differ in their seed
tamis: seed.tamis: cannot be merged with first.tamis: they differ in their seed
[2]
$ tamis key new -q key; seq 10 | tamis distinct --key-file key -o keyed.tamis; tamis distinct keyed.tamis; tamis distinct keyed.tamis first.tamis
10
10
tamis: first.tamis: cannot be counted together with keyed.tamis: they use different hash functions
[2]
$ seq 5 15 | tamis add keyed.tamis
tamis: keyed.tamis: this filter was made with a secret key, which was not given; give it with --key-file
[2]
$ seq 5 15 | tamis add --key-file key keyed.tamis; tamis distinct keyed.tamis
15
$ head -c 5000 first.tamis > cut.tamis; tamis distinct cut.tamis
tamis: cut.tamis: truncated: 5000 bytes of 65792
[2]
$ (head -c 3000 first.tamis; printf x; tail -c +3002 first.tamis) > bad.tamis; tamis distinct bad.tamis
tamis: bad.tamis: damaged: the checksum of a chunk does not match
[2]
$ printf '7\n07\n' | tamis distinct --encoding int64le
tamis: standard input: line 2: '07' is not an integer of 64 bits in plain decimal, as the keys of this file are
[2]
$ printf '7\n8\n' | tamis distinct --encoding int64le -o ints.tamis; echo 9 | tamis add ints.tamis; tamis distinct ints.tamis
2
3

# The output file.
$ tamis distinct -o first.tamis many
tamis: first.tamis: already exists; use -f to replace it
[2]
$ tamis distinct -f -o first.tamis list; tamis distinct first.tamis
200
200
$ tamis distinct -o - list | wc -c
tamis: distinct: the number and the sketch cannot both go to standard output; -q omits the number
0
$ tamis distinct -q -o - list | tamis distinct
200
$ tamis distinct -o none/x.tamis list
200
tamis: none/x.tamis: cannot open the directory: No such file or directory
[2]
$ tamis distinct -o y.tamis list missing; ls y.tamis
tamis: missing: cannot read: No such file or directory
ls: cannot access 'y.tamis': No such file or directory
[2]
$ tamis distinct -o y.tamis list > /dev/full; ls y.tamis
tamis: standard output: cannot write: No space left on device
ls: cannot access 'y.tamis': No such file or directory
[2]

# Each group.
$ printf 'fr\tann\nde\tbob\nfr\tann\nfr\tcid\nde\tbob\nit\n\tdee\n' > visits; tamis distinct --by 1 visits; sort -u visits | cut -f 1 | uniq -c | sort -k 1,1nr -k 2
2	fr
1	
1	de
1	it
      2 fr
      1 
      1 de
      1 it
$ tamis distinct --by 1 --field 2 visits; tamis distinct --by 2 visits
tamis: visits: line 6: fewer than 2 fields; skipped 1 such line
2	fr
1	
1	de
tamis: visits: line 6: fewer than 2 fields; skipped 1 such line
1	ann
1	bob
1	cid
1	dee
$ tamis distinct --by 1 -n 2 --interval visits; tamis distinct --by 1 -q visits
2	2..2	fr
1	1..1	
$ tamis distinct --by 2 --field 1 --json visits
tamis: visits: line 6: fewer than 2 fields; skipped 1 such line
{"group": "ann", "distinct": 1, "lower": 1, "upper": 1, "confidence": 1, "error": 0, "exact": true, "lines": 2}
{"group": "bob", "distinct": 1, "lower": 1, "upper": 1, "confidence": 1, "error": 0, "exact": true, "lines": 2}
{"group": "cid", "distinct": 1, "lower": 1, "upper": 1, "confidence": 1, "error": 0, "exact": true, "lines": 1}
{"group": "dee", "distinct": 1, "lower": 1, "upper": 1, "confidence": 1, "error": 0, "exact": true, "lines": 1}
{"groups": 4, "lines": 6, "skipped": 1, "bytes": ...}
$ printf '\377\tx\n\303\277\tx\n\303\277\ty\n' | tamis distinct --by 1 --json
{"group": "ÿ", "distinct": 2, "lower": 2, "upper": 2, "confidence": 1, "error": 0, "exact": true, "lines": 2}
{"group": "\u00ff", "group_hex": "ff", "distinct": 1, "lower": 1, "upper": 1, "confidence": 1, "error": 0, "exact": true, "lines": 1}
{"groups": 2, "lines": 3, "skipped": 0, "bytes": ...}
$ printf 'a,1\0b,1\0b\n,2\0' | tamis distinct --by 1 -t , -z | tr '\0' '|'; echo
1	a|1	b|1	b
|
$ tamis distinct --by 1 /dev/null; tamis distinct --by 1 --json /dev/null
{"groups": 0, "lines": 0, "skipped": 0, "bytes": 0}
$ seq 30000 | sed 's/\(.*\)\(.\)$/\2 \1/' > digits; tamis distinct --by 1 -t ' ' digits; tamis distinct --by 1 -t ' ' -n 1 --interval --error 5% digits
3000	2
3000	4
3000	5
3000	6
3000	7
3000	8
2994	0
2992	9
2987	1
2987	3
3000	2706..3000	2
$ tamis distinct --by 9 digits
tamis: digits: line 1: fewer than 9 fields; skipped 30,000 such lines
$ tamis distinct --by 1 --memory 20k -t ' ' digits
tamis: distinct: --by: more than 20,000 bytes of memory are needed; there were 0 groups after 8,192 lines; give more --memory, or sketches with a greater --error
[2]
$ tamis distinct --by 1 -o x.tamis digits
tamis: distinct: --by makes no file; -o and --generations cannot be combined with it
[2]
$ tamis distinct --by 1 --generations 4 digits
tamis: distinct: --by makes no file; -o and --generations cannot be combined with it
[2]
$ tamis distinct --by 1 --encoding int64le digits
tamis: distinct: --by and --encoding cannot be combined
[2]
$ tamis distinct --memory 1M digits
tamis: distinct: --memory requires --by
[2]
$ tamis distinct -n 5 digits
tamis: distinct: -n requires --by
[2]
$ tamis distinct --by 0 digits
tamis: --by: '0' is not the number of a field, counted from 1, or the name of a column
[2]
$ tamis distinct --by 1 --error 50% digits
tamis: distinct: the error must be above 0 and at most 30 %
[2]
$ tamis distinct --by 1 visits missing
tamis: missing: cannot read: No such file or directory
[2]
$ tamis distinct --by 1 visits > /dev/full
tamis: standard output: cannot write: No space left on device
[2]

# What a distinct sketch cannot do.
$ tamis check both.tamis list
tamis: both.tamis: is a distinct sketch, which does not know its lines; 'tamis distinct' prints how many it has, and 'tamis build' makes a filter that can be checked
[2]
$ tamis freq both.tamis 1
tamis: both.tamis: is a distinct sketch, which counts distinct lines together ('tamis distinct'); make a sketch that counts each line with 'tamis count'
[2]
$ tamis top both.tamis
tamis: both.tamis: is a distinct sketch, which keeps no list of lines; 'tamis distinct' prints how many it has, and 'tamis top -o' makes a sketch with a list
[2]
$ tamis remove both.tamis list
tamis: both.tamis: is a distinct sketch, from which no line can be removed; a window forgets old lines: 'tamis distinct --generations N -o FILE'
[2]
$ tamis rotate both.tamis
tamis: both.tamis: is a distinct sketch, which has no generations; make a window of them with 'tamis distinct --generations N -o FILE'
[2]
$ tamis uniq --state both.tamis list
tamis: both.tamis: a distinct sketch does not report which lines are new; use blocked, bloom, partitioned or growing, or --window
[2]
$ tamis explain cost both.tamis
tamis: both.tamis: this is a sketch, which has no false-positive rate
[2]
$ tamis convert --to bloom -o x.tamis both.tamis
tamis: both.tamis: is a distinct sketch, which cannot be converted to another kind
[2]
$ tamis release --epsilon 1 -o x.tamis both.tamis
tamis: both.tamis: only a bloom filter with k = 1 can be released; this distinct filter has k = 1, and k bits per key cost k times the privacy
[2]
$ tamis add --weight-field 1 both.tamis list
tamis: both.tamis: distinct sketches do not support weights; use the kind tally
[2]
$ tamis build --kind distinct --items 1000 -o x.tamis list
tamis: x.tamis: a sketch has no items and no false positives: plan it by bytes, error or m
[2]
$ tamis build --kind distinct --fpr 1% -o x.tamis list
tamis: x.tamis: a sketch has no items and no false positives: plan it by bytes, error or m
[2]
$ tamis build --kind distinct --strict -o x.tamis list
tamis: x.tamis: a sketch is never full
[2]
$ tamis build --kind distinct --never list -o x.tamis list
tamis: --never requires an exact filter, because a distinct filter can be wrong about any line
[2]
$ tamis build --kind distinct --memory 64MiB -o x.tamis list
tamis: --memory requires --kind ribbon
[2]
$ tamis build --kind distinct --to guava -o x.tamis list
tamis: --to guava: --kind is not available for filters of other programs
[2]
$ tamis build --kind pair --inner distinct -o x.tamis list
tamis: x.tamis: a pair is made of one of: bloom, partitioned, blocked
[2]
$ ls x.tamis
ls: cannot access 'x.tamis': No such file or directory
[2]

# A filter, or a sketch of counts, and lines.
$ tamis build -q -o filter.tamis list; tamis count -o often.tamis list; tamis distinct filter.tamis list; tamis distinct list often.tamis
tamis: filter.tamis: is a filter, which distinct cannot count together with lines
tamis: often.tamis: is a sketch of how often lines occurred, which distinct cannot count together with lines
[2]
