# A file can state how lines become keys. By default it states nothing, and lines are keys as they
# are.
$ seq -3 500 > numbers && tamis build -q --encoding int64le -o n.tamis numbers
$ tamis info n.tamis | grep "^  keys"
  keys      int64le, 8 bytes each
$ tamis info --json n.tamis | grep -o '"encoding".*"key_width": *[0-9]*'
"encoding": "int64le", "key_width": 8
$ tamis check -c n.tamis numbers
504
$ printf '%s\n' 1000000 -1000000 9223372036854775807 -9223372036854775808 | tamis check n.tamis
[1]
# The keys are 8 bytes, little-endian, in two's complement.
$ /usr/bin/python3 -c "import sys; sys.path.insert(0, '$TAMIS_SOURCE/tests/support'); sys.dont_write_bytecode = True; from reader import Image; i = Image(open('n.tamis', 'rb').read()); print(all(i.may_contain(v.to_bytes(8, 'little', signed=True)) for v in range(-3, 501)), i.may_contain((10**6).to_bytes(8, 'little')))"
True False
# Every command that reads lines follows the statement. What is not an integer in its usual spelling
# is an error, and nothing is saved.
$ cp n.tamis before.tamis
$ for line in 01 +1 -0 ' 1' '1 ' 1.0 0x1 '' - 9223372036854775808 -9223372036854775809 one; do printf '%s\n' 7 "$line" 8 | tamis add n.tamis; done
tamis: standard input: line 2: '01' is not an integer of 64 bits in plain decimal, as the keys of this file are
tamis: standard input: line 2: '+1' is not an integer of 64 bits in plain decimal, as the keys of this file are
tamis: standard input: line 2: '-0' is not an integer of 64 bits in plain decimal, as the keys of this file are
tamis: standard input: line 2: ' 1' is not an integer of 64 bits in plain decimal, as the keys of this file are
tamis: standard input: line 2: '1 ' is not an integer of 64 bits in plain decimal, as the keys of this file are
tamis: standard input: line 2: '1.0' is not an integer of 64 bits in plain decimal, as the keys of this file are
tamis: standard input: line 2: '0x1' is not an integer of 64 bits in plain decimal, as the keys of this file are
tamis: standard input: line 2: '' is not an integer of 64 bits in plain decimal, as the keys of this file are
tamis: standard input: line 2: '-' is not an integer of 64 bits in plain decimal, as the keys of this file are
tamis: standard input: line 2: '9223372036854775808' is not an integer of 64 bits in plain decimal, as the keys of this file are
tamis: standard input: line 2: '-9223372036854775809' is not an integer of 64 bits in plain decimal, as the keys of this file are
tamis: standard input: line 2: 'one' is not an integer of 64 bits in plain decimal, as the keys of this file are
[2]
$ cmp n.tamis before.tamis
$ printf '%s\n' 7 eight 9 | tamis check n.tamis
tamis: standard input: line 2: 'eight' is not an integer of 64 bits in plain decimal, as the keys of this file are
7
[2]
$ printf '%s\n' 7 8 | tamis check -q n.tamis && tamis check -c --confirm numbers n.tamis numbers
504
$ printf 'a,1\nb,2\nc,x\n' | tamis add -q --field 2 -t, n.tamis
tamis: standard input: line 3: 'x' is not an integer of 64 bits in plain decimal, as the keys of this file are
[2]
$ seq 600 2000 > more && (cat more; echo no; cat more) | tamis check -c --threads 2 n.tamis
tamis: standard input: line 1,402: 'no' is not an integer of 64 bits in plain decimal, as the keys of this file are
16
[2]
$ echo 9999 | tamis add -q --overfill n.tamis && printf '9999\n9998\n' | tamis check n.tamis
9999
$ tamis verify n.tamis | grep -c good
1
# A store has texts as keys, and a state of uniq is followed, too.
$ awk '{ print; print "" }' numbers | mdb_load -T -n n.mdb; tamis check --confirm n.mdb n.tamis numbers
tamis: n.mdb: a store cannot confirm the integers of this filter (int64le); a list can
[2]
$ tamis build -q --kind growing --encoding int64le -o u.tamis numbers && printf '%s\n' 5 1000 1000 -1000 | tamis uniq --state u.tamis
1000
-1000
$ printf '%s\n' 2000 x 3000 | tamis uniq --state u.tamis; printf '%s\n' 1000 2000 | tamis check u.tamis
tamis: standard input: line 2: 'x' is not an integer of 64 bits in plain decimal, as the keys of this file are
2000
1000
# Counting and removing.
$ printf '%s\n' 5 -5 5 | tamis count -q --encoding int64le -o c.tamis
$ tamis freq c.tamis 5 -- -5
         2  2..2              5
         1  1..1              -5
$ tamis freq c.tamis five
tamis: c.tamis: 'five' is not an integer of 64 bits in plain decimal, as the keys of this file are
[2]
$ tamis build -q --kind counting --encoding int64le -o r.tamis numbers && printf '%s\n' 5 6 | tamis remove -q r.tamis && printf '%s\n' 4 5 6 7 | tamis check r.tamis
4
7
$ echo 5x | tamis remove r.tamis
tamis: standard input: line 1: '5x' is not an integer of 64 bits in plain decimal, as the keys of this file are
[2]
$ seq 3 | tamis count --kind top --encoding int64le -o top.tamis
tamis: top.tamis: this sketch lists integers of 8 bytes (int64le), which are not lines
[2]
# Lines of a fixed length.
$ printf '%s\n' abcd efgh | tamis build -q --encoding fixed:4 -o f.tamis
$ printf '%s\n' abcd abcde | tamis check f.tamis
tamis: standard input: line 2: 'abcde' has 5 bytes, but the keys of this file have 4
abcd
[2]
$ printf '%s\n' ab | tamis add f.tamis
tamis: standard input: line 1: 'ab' has 2 bytes, but the keys of this file have 4
[2]
$ printf '%s\n' ab abc | tamis count --kind top --encoding fixed:2 -o t.tamis
tamis: standard input: line 2: the keys are encoded as fixed, 2 bytes each; this key has 3
[2]
# Text is what it always was, and only a merge tells the difference.
$ tamis build -q -o plain.tamis numbers && tamis build -q --encoding text -o text.tamis numbers && tamis check -c text.tamis numbers
504
$ tamis merge -f -o m.tamis plain.tamis text.tamis && tamis info m.tamis | grep "^  keys"
  keys      text
$ tamis merge -f -o m.tamis text.tamis n.tamis
tamis: n.tamis: cannot be merged with text.tamis: the keys of one are encoded as text, of the other as int64le
[2]
$ tamis compare text.tamis before.tamis
tamis: before.tamis: cannot be compared with text.tamis: the keys of one are encoded as text, of the other as int64le; build both with the same options
[2]
# Keys that only programs make.
$ cp $TAMIS_SOURCE/tests/golden/window-caller-keys.tamis $TAMIS_SOURCE/tests/golden/ribbon-sha256-keyed.tamis .
$ tamis check window-caller-keys.tamis numbers
tamis: window-caller-keys.tamis: the keys of this filter are encoded by another program (caller), so lines cannot be added or checked
[2]
$ echo 000102030405060708090a0b0c0d0e0f > key && chmod 600 key && tamis check --key-file key ribbon-sha256-keyed.tamis numbers
tamis: ribbon-sha256-keyed.tamis: the keys of this filter are SHA-256 hashes, not lines; to check URLs against a version of the guard, use 'tamis guard check'
[2]
$ tamis info ribbon-sha256-keyed.tamis | grep "^  keys"
  keys      sha256, 32 bytes each
# Wrong options.
$ for e in int64 fixed fixed:0 fixed:65536 fixed:x sha256 ''; do tamis build --encoding "$e" -o x.tamis numbers; done
tamis: --encoding: 'int64' is not text, int64le, or fixed:N with a number of bytes from 1 to 65535
tamis: --encoding: 'fixed' is not text, int64le, or fixed:N with a number of bytes from 1 to 65535
tamis: --encoding: 'fixed:0' is not text, int64le, or fixed:N with a number of bytes from 1 to 65535
tamis: --encoding: 'fixed:65536' is not text, int64le, or fixed:N with a number of bytes from 1 to 65535
tamis: --encoding: 'fixed:x' is not text, int64le, or fixed:N with a number of bytes from 1 to 65535
tamis: --encoding: 'sha256' is not text, int64le, or fixed:N with a number of bytes from 1 to 65535
tamis: --encoding: '' is not text, int64le, or fixed:N with a number of bytes from 1 to 65535
[2]
$ tamis build --encoding int64le --to parquet -o x.sbbf numbers
tamis: --encoding is for filters of Tamis; with --to, give --type
[2]
$ tamis build --encoding int64le -o redis://127.0.0.1:1/x numbers
tamis: --encoding is for files; keys at a redis:// address are text
[2]
