# A field of each line is the key; lines with too few are counted, not guessed.
$ printf 'a\tx\nb\ty\nc\n\nd\tz\tw\n' > list; tamis build --items 10 --fpr 1e-9 -o f.tamis /dev/null
$ tamis add --field 2 f.tamis list
tamis: list: line 3: fewer than 2 fields; skipped 2 such lines
$ printf 'x\ny\nz\na\nb\nc\nw\n\n' | tamis check f.tamis
x
y
z
$ tamis add -q --field 2 f.tamis list; printf 'k v' | tamis add --field 2 -t ' ' f.tamis; echo v | tamis check f.tamis
v
$ printf 'k,,v\n,last' | tamis add --field 2 --delimiter , f.tamis; printf '\nlast\nv\nk\n' | tamis check -z f.tamis | wc -c; printf 'last\0' | tamis check -z f.tamis | tr '\0' '\n'
0
last
$ printf '1\t2\0003\t4\n' | tamis add -z --field 2 --delimiter '\t' f.tamis; printf '2\0004\n\0004\0' | tamis check -zc f.tamis
2

# Options that make no sense.
$ tamis add --delimiter , f.tamis list
tamis: --delimiter requires --field or --weight-field
[2]
$ tamis add --field 1 --delimiter ab f.tamis list
tamis: --delimiter: 'ab' is not a single byte, \t for a tab, or blanks for any number of spaces and tabs
[2]
$ tamis add --field 1 --delimiter '' f.tamis list
tamis: --delimiter: '' is not a single byte, \t for a tab, or blanks for any number of spaces and tabs
[2]
$ tamis add --field 0 f.tamis list
tamis: --field: '0' is not the number of a field, counted from 1, or the name of a column
[2]
$ tamis add --weight-field 1 f.tamis list
tamis: f.tamis: blocked filters do not support weights; use the kind tally
[2]
$ tamis add f.tamis missing
tamis: missing: cannot read: No such file or directory
tamis: add: arguments are files of lines; to give a line: printf '%s\n' missing | tamis add f.tamis
[2]
$ tamis remove --delimiter , f.tamis list
tamis: --delimiter requires --field or --weight-field
[2]
$ tamis compact --delimiter , f.tamis list
tamis: --delimiter requires --field or --weight-field
[2]
$ tamis freq --delimiter , f.tamis
tamis: --delimiter requires --field or --weight-field
[2]
$ tamis freq --field 2 f.tamis a
tamis: freq: --field requires lines from standard input, not items as arguments
[2]

# Line numbers are those of the file, whatever was skipped before, and for any number of blocks and
# threads.
$ (seq 300000 | sed 's/$/ 1/'; echo x; echo 'y 2 z'; echo 'y 1.5') > long; echo 'a 1' > short
$ tamis count -o c.tamis /dev/null; tamis add --weight-field 2 -t ' ' c.tamis short long
tamis: long: line 300,001: fewer than 2 fields; skipped 1 such line
tamis: long: line 300,003: the weight '1.5' is not a whole number of at most 64 bits; skipped 1 such line
$ tamis add -q --weight-field 2 -t ' ' c.tamis long; tamis info --json c.tamis | grep -o '"weight": [0-9]*'
"weight": 600005
$ printf 'a \033[2J\n' | tamis add --weight-field 2 -t ' ' c.tamis
tamis: standard input: line 1: the weight '?[2J' is not a whole number of at most 64 bits; skipped 1 such line
$ echo 'a -1' | tamis add --weight-field 2 -t ' ' c.tamis
tamis: standard input: line 1: this tally has conservative updates, so nothing can be subtracted; use the kind signed-tally: tamis count --kind signed-tally
[2]

# A weight may be "-", which is 0. The last field of a line may be followed by a carriage return.
# Anything else is not a weight.
$ printf 'a -\nb 5\r\nc \nd 1.5\ne 5\r 1\nf 9223372036854775808\ng +3\n' | tamis top --field 1 --weight-field 2 -t ' '
tamis: standard input: line 3: the weight '' is not a whole number of at most 64 bits; skipped 4 such lines
         5  5..5              b
         3  3..3              g
$ printf 'a x\n' | tamis top --field 1 --weight-field 2 -t ' '
tamis: standard input: line 1: the weight 'x' is not a whole number of at most 64 bits; skipped 1 such line
[1]

# By blanks: any number of spaces and tabs, also before the first field.
$ printf '  a \t b  \nc\td\n   e\n\n' | tamis top --field 2 -t blanks
tamis: standard input: line 3: fewer than 2 fields; skipped 2 such lines
         1  1..1              b
         1  1..1              d
$ printf '  a \t 7  \r\nc\t8 x\n' | tamis top --field 1 --weight-field 2 --delimiter=blanks
         8  8..8              c
         7  7..7              a

# Fields in every command that reads lines.
$ printf 'a,1\nb,2\nc,3\n' > table; tamis build --kind counting --field 1 -t , --fpr 1e-9 -o k.tamis table; printf 'b,9\nx,9\nno\n' | tamis remove --field 1 -t , k.tamis; tamis check --field 1 -t , k.tamis table
tamis: k.tamis: 2 of 3 lines were certainly not present
a,1
c,3
$ head -n 1 table | tamis compact --field 1 -t , k.tamis; tamis check --field 1 -t , k.tamis table
a,1
$ tamis freq --field 1 -t , k.tamis < table; tamis freq --field 2 -t , k.tamis a - < table
         1  0..1              a
         0  0..0              b
         0  0..0              c
         1  0..1              a
         0  0..0              1
         0  0..0              2
         0  0..0              3
# Input of which no line has the field.
$ printf 'a\nb\n' | tamis check --field 2 -t, f.tamis
tamis: standard input: line 1: fewer than 2 fields; skipped 2 such lines
[1]
