# A field of each line is the key; lines with too few are counted, not guessed.
$ printf 'a\tx\nb\ty\nc\n\nd\tz\tw\n' > list; tamis build --items 10 --fpr 1e-9 -o f.tamis /dev/null
$ tamis add --field 2 f.tamis list
tamis: skipped 2 lines of fewer than 2 fields
$ printf 'x\ny\nz\na\nb\nc\nw\n\n' | tamis check f.tamis
x
y
z
$ tamis add -q --field 2 f.tamis list; printf 'k v' | tamis add --field 2 -d ' ' f.tamis; echo v | tamis check f.tamis
v
$ printf 'k,,v\n,last' | tamis add --field 2 --delimiter , f.tamis; printf '\nlast\nv\nk\n' | tamis check -z f.tamis | wc -c; printf 'last\0' | tamis check -z f.tamis | tr '\0' '\n'
0
last
$ printf '1\t2\0003\t4\n' | tamis add -z --field 2 --delimiter '\t' f.tamis; printf '2\0004\n\0004\0' | tamis check -zc f.tamis
2

# Options that make no sense.
$ tamis add --delimiter , f.tamis list
tamis: --delimiter: between which fields? See --field
[2]
$ tamis add --field 1 --delimiter ab f.tamis list
tamis: --delimiter: 'ab' is not a single byte, or \t for a tab
[2]
$ tamis add --field 1 --delimiter '' f.tamis list
tamis: --delimiter: '' is not a single byte, or \t for a tab
[2]
$ tamis add --field 0 f.tamis list
tamis: --field: '0' is not a whole number of at least 1, like 1000000, 1M or 1e6
[2]
$ tamis add --weight-field 1 f.tamis list
tamis: list: line 1: the weight 'a' is not a whole number of 64 bits
tamis: f.tamis: unchanged
[2]
$ echo 7 | tamis add --weight-field 1 f.tamis
tamis: standard input: line 1: blocked filters know no weights; tally can
tamis: f.tamis: unchanged
[2]

# Numbers of lines are those of the file, whatever was skipped before, however many blocks and threads there are.
$ (seq 300000 | sed 's/$/ 1/'; echo x; echo 'y 2 z'; echo 'y 1.5') > long; echo 'a 1' > short
$ tamis add -q --weight-field 2 -d ' ' f.tamis short long
tamis: short: line 1: blocked filters know no weights; tally can
tamis: f.tamis: unchanged
[2]
$ printf 'a \033[2J\n' | tamis add --weight-field 2 -d ' ' f.tamis
tamis: standard input: line 1: the weight '?[2J' is not a whole number of 64 bits
tamis: f.tamis: unchanged
[2]
