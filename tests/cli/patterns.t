# -f: the lines of a file, as grep -Fxf takes them. The answer is exact.
$ printf 'pear\nplum\n\n' > patterns; printf 'plum\nbrick\n\npear\nplum\npea\npears' > lines
$ tamis check -f patterns lines
plum

pear
plum
$ tamis check -f patterns lines > ours; grep -Fxf patterns lines | cmp ours -
$ tamis check -vf patterns lines
brick
pea
pears
$ tamis check -c -f patterns < lines
4
$ tamis check -f patterns --json lines
{"patterns": 3, "lines": 7, "found": 4, "absent": 3, "fpr_now": 0, "bytes": 8544}
$ tamis check -q -f patterns lines; echo brick | tamis check -f patterns
[1]
$ seq 1 3 100000 > three; seq 100000 > all; tamis check -f three all | cmp - three; tamis check -vf three all > not; grep -vFxf three all | cmp - not
$ tamis check --threads 3 -f three -c all; tamis check --threads 1 -f three -vc all
33334
66666

# Several files, compressed ones, standard input.
$ echo brick | gzip > more.gz; tamis check -f patterns -f more.gz -c lines; echo brick | tamis check -f - lines
5
brick
$ echo brick | tamis check -f -
tamis: check: standard input cannot be both the patterns and the lines to check
[2]
$ echo brick | tamis check -f - lines -
tamis: check: standard input cannot be both the patterns and the lines to check
[2]

# No patterns: nothing is selected. An empty pattern is the empty line.
$ : > none; tamis check -f none lines
[1]
$ tamis check -vcf none lines
7
$ echo > empty; tamis check -cf empty lines
1

# Lines are bytes: CR is kept, and so is anything that is not UTF-8; -z; lines of any length.
$ printf 'a\r\n\377\376\n' > odd; printf 'a\na\r\n\377\376\n\377\n' | tamis check -f odd | od -c
tamis: odd: line 1 ends with a carriage return, which is part of its key: --crlf removes it
tamis: standard input: line 2 ends with a carriage return, which is part of its key: --crlf removes it
0000000   a  \r  \n 377 376  \n
0000006
$ printf 'x\ny\0' > p0; printf 'x\ny\0x\0y\0' | tamis check -z -f p0 | od -c
0000000   x  \n   y  \0
0000004
$ head -c 3000000 /dev/zero | tr '\0' x > long; { cat long; echo; } > pattern; { cat long; echo y; cat long; } | tamis check -f pattern | wc -c
3000001

# With a rate or a size, only a filter of the patterns is kept: it may say maybe to other lines, but
# never no to a pattern.
$ tamis check -f three --fpr 1% --json all
{"lines": 100000, "maybe": 33990, "absent": 66010, "fpr_now": 0.00984190018177, "bytes": 42368}
$ tamis check -f three --bytes 20kB --json all
{"lines": 100000, "maybe": 46941, "absent": 53059, "fpr_now": 0.203148008389, "bytes": 19968}
$ tamis check -f three --fpr 1% -c three; cat three | tamis check --fpr 1e-9 -f - -c all
33334
33334
$ tamis check -f three --fpr 1e-9 --bytes 1kB all
tamis: three: needs 778496 bytes, more than the 1000 given
[2]

# A secret key changes only how much time a stranger can make the command take.
$ head -c 16 /dev/zero > key; chmod 600 key; tamis check --key-file key -f three -c all
33334

# What cannot be read is an error, whichever side it is on.
$ tamis check -f missing lines
tamis: missing: cannot read: No such file or directory
[2]
$ tamis check -f patterns missing lines
tamis: missing: cannot read: No such file or directory
plum

pear
plum
[2]
$ tamis check -f . lines
tamis: .: cannot read: Is a directory
[2]
$ (gzip -c three | head -c 900) > cut; tamis check -f cut -c all
tamis: cut: cannot read: gzip data ends too early
[2]

# A closed or full output.
$ { tamis check -f three three three; echo $? > status; } | head -n 1; cat status
1
141
$ tamis check -f three all > /dev/full
tamis: standard output: cannot write: No space left on device
[2]

# A slow pipe: the answer is there before the input has ended.
$ mkfifo slow; { echo 4; exec sleep 60; } > slow & timeout 30 tamis check -qf three slow; echo $?; kill $!
0

# One field of each line, split at every delimiter; the whole line is printed. Lines with fewer
# fields are reported.
$ printf 'id,name\n1,pear\n2,plum tree\n3,brick\n4,"plum"\n5\n6,plum,x\n7,\n' > table.csv
$ tamis check --field 2 -t , -f patterns table.csv
1,pear
6,plum,x
7,
tamis: table.csv: line 6: fewer than 2 fields; skipped 1 such line
$ tamis check --field 2 -t , -vf patterns table.csv
id,name
2,plum tree
3,brick
4,"plum"
tamis: table.csv: line 6: fewer than 2 fields; skipped 1 such line
$ tamis check -q --field 3 -t , -vf patterns table.csv; tamis check --field 3 -t , -cvf patterns table.csv
tamis: table.csv: line 1: fewer than 3 fields; skipped 7 such lines
1
$ tamis build -q --field 2 -t , --fpr 1e-9 -o names.tamis table.csv; printf 'pear\n"plum"\nplum tree\n1\n' | tamis check names.tamis
pear
"plum"
plum tree
$ seq 200000 | sed 's/.*/x &,&,y/' > wide; tamis check --field 2 -t , -f three wide | wc -l; tamis check --threads 1 --field 2 -t , -f three wide | cut -d, -f2 | cmp - three
33334

# What makes no sense together.
$ tamis check -f patterns --confirm patterns lines
tamis: check: --confirm requires a filter; with -f the answer is exact already
[2]
$ tamis check --fpr 1% patterns lines
tamis: check: --fpr and --bytes require -f; a filter already has its size and its rate
tamis: check: to compare with the lines of a file: tamis check -f patterns --fpr 1% lines
[2]
$ tamis check --memory 1G -f patterns lines
tamis: check: --memory requires --confirm
[2]
$ tamis check -t , -f patterns lines
tamis: --delimiter requires --field or --weight-field
[2]
$ tamis check -f
tamis: -f requires a value: FILE
[2]
