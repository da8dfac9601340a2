# A map keeps a value for each key; other items are absent, or found at the planned rate.
$ printf 'ann\t3\nbob\t7\ncid\t200\nann\t3\n' > m.txt; tamis build --kind map --value-field 2 -o m.tamis m.txt
$ tamis get m.tamis ann dee bob; printf 'cid\nnobody\n' | tamis get m.tamis; tamis get --json m.tamis ann
ann	3
bob	7
cid	200
{"item": "ann", "value": 3}
$ tamis get m.tamis nobody; tamis get -q m.tamis ann; echo ann | tamis get m.tamis bob -
bob	7
ann	3
$ tamis get m.tamis nobody
[1]
$ printf 'x,ann\n' | tamis get --csv --field 2 m.tamis; printf 'ann\0bob\0' | tamis get -z m.tamis | tr '\0' '|'
ann	3
ann	3|bob	7|
$ cut -f 1 m.txt | tamis check -c m.tamis; tamis check -c --field 1 m.tamis m.txt; tamis info m.tamis | grep -E '^m|values'
4
4
m.tamis: map filter, sealed
  values    of 8 bits
$ tamis info --json m.tamis | grep -oE '"(kind|cell_bits|items|bound)": [^,]*'
"kind": "map"
"items": 3
"bound": "static"
"cell_bits": 8
$ tamis pack -o m.packed m.tamis && tamis unpack -o u.tamis m.packed && cmp m.tamis u.tamis; tamis verify m.tamis | head -n 1
m.tamis: undamaged: every checksum is right

# The bits of a value follow from the largest one. The order of the lines and repeats change
# nothing.
$ sort -r m.txt | tamis build --kind map --value-field 2 -o r.tamis; cmp m.tamis r.tamis
$ tamis build --kind map --value-field 2 --value-bits 32 -fo w.tamis m.txt && tamis get w.tamis cid; printf 'a\t4294967295\nb\t0\n' | tamis build --kind map --value-field 2 -o big.tamis && tamis get big.tamis a b
cid	200
a	4294967295
b	0
$ : | tamis build --kind map --value-field 2 -o none.tamis && tamis get none.tamis a
[1]
$ printf '7,k\n' | tamis build --csv --kind map --field 2 --value-field 1 -o c.tamis && tamis get c.tamis k
k	7
$ printf '{"u":{"id":"k"},"v":5}\n' | tamis build --jsonl --kind map --field u.id --value-field v -o j.tamis && tamis get j.tamis k
k	5
$ printf 'id,user,group\n1,ann,9\n' | tamis build --csv --header --kind map --field user --value-field group -o h.tamis && tamis get h.tamis ann
ann	9
$ tamis build --kind map --value-field 2 --fpr 100% -fo all.tamis m.txt && tamis get all.tamis ann bob cid && tamis get all.tamis stranger > /dev/null
ann	3
bob	7
cid	200
# What follows the number is not dropped: that would be a map that does not know its keys.
$ tamis build --kind map --value-field 2 --fpr '1 %' -fo all.tamis m.txt
tamis: --fpr: '1 %' is not a rate between 0 and 1, like 0.01, 1% or 1/100
[2]
$ tamis plan --kind map --items 1M --fpr 1x
tamis: --fpr: '1x' is not a rate between 0 and 1, like 0.01, 1% or 1/100
[2]
$ tamis plan --kind map --value-bits 8 1M 1%; tamis plan --kind map --items 1M --fpr 100% | head -n 2 | tail -n 1
kind                   items           bytes    bits  bound  ratio  false positives              k  m
map                1,000,000       1,853,197   14.83  14.64   1.01  1 % (1 in 100)               0  -
bits: per item, of the whole file; bound: fewer are impossible at that rate if all keys are
known before (sealed kinds), or if they come one by one (the others, at low rates)
map                1,000,000       1,008,756    8.07   8.00   1.01  100 %                        0  -

# Two values for one key, and values that are not numbers.
$ printf 'ann\t3\n\nbob\tx\ncid\t-1\nann\t4\n' > bad.txt; tamis build --kind map --value-field 2 -fo x.tamis bad.txt; ls x.tamis
tamis: bad.txt: line 2: fewer than 2 fields; skipped 1 such line
tamis: bad.txt: line 3: the value 'x' is not a whole number of at most 32 bits; skipped 2 such lines
tamis: bad.txt: line 5: 'ann': this key had another value before
ls: cannot access 'x.tamis': No such file or directory
[2]
$ cat bad.txt | tamis build -q --kind map --value-field 2 -o x.tamis
tamis: x.tamis: not written: key 2 has the value 4, and as key 1 it had the value 3
[2]
$ printf 'a\t-\n' | tamis build --strict-input --kind map --value-field 2 -o x.tamis
tamis: standard input: line 1: the value '-' is not a whole number of at most 32 bits
[2]
$ printf 'a\t4294967296\n' | tamis build --kind map --value-field 2 -o x.tamis
tamis: standard input: no line has a key; line 1: the value '4294967296' is not a whole number of at most 32 bits
[2]
$ tamis build --kind map --value-field 2 --value-bits 2 -o x.tamis m.txt
tamis: m.txt: line 2: 'bob': the value 7 has more than 2 bits
[2]
$ tamis build --kind map --value-field 2 --value-bits 33 -o x.tamis m.txt
tamis: x.tamis: a value has 1 to 32 bits, not 33
[2]

# Options that do not go together, and files that are not maps.
$ tamis build --kind map -o x.tamis m.txt; tamis build --value-field 2 -o x.tamis m.txt; tamis build --kind map --value-field 1 -o x.tamis m.txt; tamis build --kind map --field 2 --value-field 2 -o x.tamis m.txt
tamis: --kind map requires --value-field N, the field with the value of each line
tamis: --value-field requires --kind map
tamis: --value-field: give --field as well, for the key
tamis: --field and --value-field must name two fields
[2]
$ tamis build --kind map --value-field 2 --strict -o x.tamis m.txt; tamis build --fpr 100% -o x.tamis m.txt; tamis build --kind map --value-field 2 -o redis://localhost:1/m m.txt
tamis: x.tamis: a map filter is never full
tamis: x.tamis: the false-positive rate must be at least 1e-18 and below 1
tamis: build: with redis://: maps must be files
[2]
$ tamis build -o f.tamis m.txt; tamis get f.tamis ann; tamis get m.txt ann; tamis get --field 2 m.tamis ann; tamis get redis://localhost:1/m ann; tamis add m.tamis m.txt
tamis: f.tamis: blocked filters have no values; use the kind map
tamis: m.txt: not a Tamis file
tamis: get: --field requires lines from standard input, not items as arguments
tamis: get works on files; for a map in a key, send TAMIS.VALUE to the server
tamis: m.tamis: unchanged: the filter is sealed and cannot change; build it again from all lines
[2]
$ tamis key new -q k; tamis build --key-file k --kind map --value-field 2 -o s.tamis m.txt && tamis get --key-file k s.tamis ann; tamis get s.tamis ann
ann	3
tamis: s.tamis: this filter was made with a secret key, which was not given; give it with --key-file
[2]
