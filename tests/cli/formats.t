# CSV: fields in quotes, with commas, line ends and doubled quotes in them. Whole records are
# printed, after the header.
$ printf 'id,user,note\n1,ann,"hello, there"\n2,"b""ob","two\nlines"\n3,ann,x\n4,,"\n"\n' > a.csv
$ tamis uniq --csv --header --field user a.csv
id,user,note
1,ann,"hello, there"
2,"b""ob","two
lines"
4,,"
"
$ tamis distinct --csv --header --field user a.csv; tamis top --csv --header --field user a.csv
3
         2  2..2              ann
         1  1..1              
         1  1..1              b"ob
$ tamis distinct --csv --header --by user --field id a.csv
2	ann
1	
1	b"ob
$ tamis build --csv --header --field user -o users.tamis a.csv; printf 'b"ob\n"b""ob"\nuser\n' | tamis check users.tamis
b"ob
$ tamis check --csv --header --field 2 -v users.tamis a.csv; tamis check --csv --header --field 2 -c users.tamis a.csv
id,user,note
4
$ echo ann > bad.txt; tamis check --csv --header --field user -f bad.txt a.csv
id,user,note
1,ann,"hello, there"
3,ann,x
$ tamis check --csv --header --field user -n -f bad.txt a.csv
2:1,ann,"hello, there"
5:3,ann,x
$ tamis check --csv --header --field user --list-field user -v -f a.csv a.csv
id,user,note
[1]
$ tamis uniq --csv --header a.csv | tail -1; printf 'id,user\n' | tamis uniq --csv --header --field id
"
id,user
$ printf 'x;"1;2";y\n' | tamis check --csv -t ';' --field 2 -f bad.txt -v; printf 'x\t"1\t2"\ty\n' | tamis top --tsv --field 2
x;"1;2";y
         1  1..1              1	2
$ printf 'ann,3\nbob,"4"\nann,-\n' | tamis top --csv --field 1 --weight-field 2
         4  4..4              bob
         3  3..3              ann

# Columns by name; each file has its own header.
$ printf 'user,id\nzoe,9\n' > b.csv; tamis distinct --csv --header --field user a.csv b.csv
4
$ tamis uniq --csv --header --field user a.csv b.csv
id,user,note
1,ann,"hello, there"
2,"b""ob","two
lines"
4,,"
"
tamis: b.csv: its header differs from that of a.csv, so both cannot be one table
[2]
$ tamis build --csv --header --field usr -o x.tamis a.csv
tamis: a.csv: there is no column 'usr'; the header has: id, user, note
[2]
$ tamis uniq --csv --field user a.csv
tamis: --field: 'user' is not a number; columns have names only with --header, or with --jsonl
[2]
$ printf 'name|n\na|1\na|2\n' | tamis uniq --header -t '|' --field name
name|n
a|1
$ tamis uniq --csv --header --field 9 a.csv
tamis: a.csv: there is no column '9'; the header has: id, user, note
[2]
$ printf 'city,2020,3\nrome,7,8\noslo,7,9\n' > years.csv; tamis uniq --csv --header --field 2020 years.csv; tamis top --csv --header --field 3 years.csv
city,2020,3
rome,7,8
         1  1..1              8
         1  1..1              9
$ tamis top --csv --header --field 2 --weight-field 2020 years.csv
        14  14..14            7
$ tamis uniq --csv --header --field 9 --strict-input a.csv
tamis: a.csv: there is no column '9'; the header has: id, user, note
[2]
$ printf 'id,user,user\n1,a,b\n' | tamis uniq --csv --header --field user
tamis: standard input: columns 2 and 3 are both called 'user': give the number of one
[2]
$ printf 'id,user,user\n1,a,b\n2,c,b\n' | tamis distinct --csv --header --field 3
1
$ printf 'a,1\n\nb,2\r\n\r\na,3\n' | tamis distinct --csv --field 1 --json
{"distinct": 2, "lower": 2, "upper": 2, "confidence": 1, "error": 0, "exact": true, "lines": 3, "skipped": 0, "bytes": 272}

# A filter of lines that all lack a key would be empty, and hide the mistake.
$ tamis build --csv --header --field note -t ';' -o x.tamis a.csv; tamis build --field 7 -o x.tamis a.csv; ls x.tamis
tamis: a.csv: there is no column 'note'; the header has: id,user,note; did you mean -t ','?
tamis: a.csv: no line has a key; line 1: fewer than 7 fields
ls: cannot access 'x.tamis': No such file or directory
[2]
$ printf '{"a":1}\n' | tamis build --jsonl --field b --items 5 -o x.tamis
tamis: standard input: no line has a key; line 1: there is no value at 'b'
[2]

# What is not CSV is skipped and counted, or an error.
$ printf 'a,1\n"b"x,2\nc,"3\nd,4\n' > torn.csv; tamis uniq --csv --field 1 torn.csv
a,1
d,4
tamis: torn.csv: line 2, column 4: the closing quote is followed by something else; skipped 2 records that are not CSV
$ printf 'a,"x\nb,2\nc,"y"z\n' | tamis uniq --csv --field 1
b,2
tamis: standard input: line 1, column 3: the quote that begins here is never closed; skipped 2 records that are not CSV
$ tamis uniq --csv --field 1 --strict-input torn.csv
tamis: torn.csv: line 2, column 4: the closing quote is followed by something else
a,1
[2]
$ printf 'a,"\n' | tamis build --csv --field 1 --strict-input -o x.tamis; ls x.tamis
tamis: standard input: line 1, column 3: the quote that begins here is never closed
ls: cannot access 'x.tamis': No such file or directory
[2]
$ printf '5" disk,x\n' | tamis uniq --csv --field 1
5" disk,x
$ printf '"a,b\n' | tamis uniq --csv --header --field a
tamis: standard input: line 1, column 1: the header is not CSV: the quote that begins here is never closed
[2]
$ (echo 'a,1'; echo 'b,"2'; seq 1500000 | sed 's/.*/k&,&/') > huge.csv; tamis uniq --total --exact-until 100M --csv --field 1 huge.csv
tamis: huge.csv: line 2, column 3: the quote that begins here is not closed within 16 MiB; skipped 1 record that is not CSV
1500001

# Windows: line ends, and the mark before UTF-8.
$ printf '\357\273\277ann\r\nbob\r\n' > windows.txt; tamis build -o w.tamis windows.txt; echo ann | tamis check w.tamis
tamis: windows.txt: line 1 ends with a carriage return, which is part of its key: --crlf removes it
[1]
$ tamis build -f --crlf -o w.tamis windows.txt; printf 'ann\nbob\r\n' | tamis check --crlf w.tamis | od -c
0000000   a   n   n  \n   b   o   b  \r  \n
0000011
$ tamis add -q w.tamis windows.txt; printf 'a\r\nb\n' | tamis uniq --crlf | od -c
0000000   a  \r  \n   b  \n
0000005
$ printf '\357\273\277id,user\r\n1,ann\r\n' | tamis uniq --csv --header --field user | od -c
0000000   i   d   ,   u   s   e   r  \r  \n   1   ,   a   n   n  \r  \n
0000020
$ printf '\357\273\277a\n' | tamis uniq --raw | od -c; printf '\357\273' | tamis uniq | od -c
0000000 357 273 277   a  \n
0000005
0000000 357 273  \n
0000003
$ printf 'x\ta\r\nx\tb\n' | tamis distinct --field 2; printf 'a\tx\r\n' | tamis distinct --field 1
tamis: standard input: line 1 ends with a carriage return, which is part of its key: --crlf removes it
2
1
$ tamis uniq --strict-input windows.txt
tamis: windows.txt: line 1: its key ends with a carriage return, which --crlf removes
[2]
$ printf '\377\376a\000\n\000' > wide.txt; tamis distinct wide.txt
tamis: wide.txt: is in UTF-16, not UTF-8: convert it with iconv -f UTF-16 -t UTF-8
2

# JSON lines.
$ printf '{"user":{"id":"a\\u00e9\\n"}}\n{"user":{"id":12.50}}\n{"user":{"id":true}}\n\n{"user":{}}\n{"user":null}\n' > a.jsonl
$ tamis top --jsonl --field user.id a.jsonl
tamis: a.jsonl: line 5: there is no value at 'user.id'; skipped 2 such lines
         1  1..1              12.50
         1  1..1              aé

         1  1..1              true
$ tamis uniq --jsonl --field user.id --strict-input a.jsonl
tamis: a.jsonl: line 5: there is no value at 'user.id'
{"user":{"id":"a\u00e9\n"}}
{"user":{"id":12.50}}
{"user":{"id":true}}
[2]
$ printf '{"a":[{"b":"x"},{"b":"y"}],"c.d":1}\n' > b.jsonl; tamis top --jsonl --field a.1.b b.jsonl; tamis top --jsonl --field 'c\.d' b.jsonl
         1  1..1              y
         1  1..1              1
$ printf '{"a":{}}\n{"a":"\\ud800"}\n{"a":1,"a":2}\n{"a":"x"' | tamis top --jsonl --field a
tamis: standard input: line 4, column 9: the line ends within an object or an array; skipped 1 record that is not JSON
tamis: standard input: line 1: the value at 'a' is not a text, a number or a boolean; skipped 1 such line
tamis: standard input: line 2: the text at 'a' has half of a surrogate pair; skipped 1 such line
         1  1..1              2
$ printf '{"a":1}\n{"a":"x' | tamis distinct --jsonl --field a --strict-input
tamis: standard input: line 2, column 8: the line ends within a string
[2]
$ printf '{"s":"q","n":3}\n{"s":"q","n":"4"}\n{"s":"r"}\n' | tamis top --jsonl --field s --weight-field n
tamis: standard input: line 3: there is no value at 'n'; skipped 1 such line
         7  7..7              q
$ printf '{"day":1,"user":"a"}\n{"day":1,"user":"b"}\n' | tamis distinct --jsonl --by day --field user
2	1
$ tamis build --jsonl --field user.id -q -o j.tamis a.jsonl; tamis check --jsonl --field user.id j.tamis a.jsonl 2>/dev/null
{"user":{"id":"a\u00e9\n"}}
{"user":{"id":12.50}}
{"user":{"id":true}}

# Options that do not go together.
$ tamis uniq --csv --tsv a.csv
tamis: --csv cannot be combined with --tsv
[2]
$ tamis uniq --csv --jsonl a.csv
tamis: --csv and --tsv cannot be combined with --jsonl
[2]
$ tamis uniq --csv -z a.csv
tamis: records of CSV end with a newline: --csv and --tsv exclude -z
[2]
$ tamis uniq --tsv -t , --field 1 a.csv
tamis: --tsv has tabs as delimiters: use --csv with -t
[2]
$ tamis uniq --csv -t blanks --field 1 a.csv
tamis: --csv: the delimiter must be one byte, and not a quote or a line end
[2]
$ tamis uniq --jsonl a.jsonl
tamis: --jsonl requires --field, such as --field user.id
[2]
$ tamis uniq --jsonl --header --field a a.jsonl
tamis: --header is for --csv, --tsv and lines, not for --jsonl
[2]
$ tamis uniq --jsonl --field a..b a.jsonl
tamis: --field: 'a..b' is not names with dots between them
[2]
$ tamis uniq --jsonl --field .user.id a.jsonl
tamis: --field: '.user.id' is not names with dots between them; did you mean 'user.id'?
[2]
$ tamis uniq --field 0 a.csv
tamis: --field: '0' is not the number of a field, counted from 1, or the name of a column
[2]
$ tamis uniq --field 1.5 a.csv
tamis: --field: '1.5' is not a number; columns have names only with --header, or with --jsonl
[2]

# Whole records that two tables do not share, by a column.
$ printf 'user,id\nzoe,9\nann,1\n' > b.csv; tamis diff -3 --csv --header --field user a.csv b.csv
2,"b""ob","two
lines"
4,,"
"
	zoe,9
[1]
$ printf '{"id":1}\n{"id":2}\n' > x.jsonl; printf '{"id": 2}\n' > y.jsonl; tamis diff --jsonl --field id x.jsonl y.jsonl
{"id":1}
		{"id":2}
[1]

# Messages name the field that is missing, and one for each of them.
$ printf '{"k":"b"}\n' | tamis top --jsonl --field k --weight-field w
tamis: standard input: line 1: there is no value at 'w'; skipped 1 such line
[1]
$ printf '{"w":1}\n' | tamis distinct --jsonl --by k --field w
tamis: standard input: line 1: there is no value at 'k'; skipped 1 such line
$ printf '{"k":"b"}\n' | tamis top --jsonl --field k --weight-field w --strict-input
tamis: standard input: line 1: there is no value at 'w'
[2]
$ printf '{"k":"b"}\n{"w":1}\n{"w":1}\n' | tamis top --jsonl --field k --weight-field w
tamis: standard input: line 2: there is no value at 'k'; skipped 2 such lines
tamis: standard input: line 1: there is no value at 'w'; skipped 1 such line
[1]
$ printf 'a,b,n\nx\ny,z\n' | tamis top --csv --header --field b --weight-field n
tamis: standard input: line 2: fewer than 2 fields, so 'b' is missing; skipped 1 such line
tamis: standard input: line 3: fewer than 3 fields, so 'n' is missing; skipped 1 such line
[1]

# The most frequent reason is given for lines without a key.
$ printf '{"a":{}}\n{"b":1}\n{"b":2}\n' | tamis build --jsonl --field a -o none.tamis; ls none.tamis
tamis: standard input: no line has a key; line 2: there is no value at 'a'
ls: cannot access 'none.tamis': No such file or directory
[2]

# In JSON lines an index counts from 0, and nowhere else.
$ printf '["x"]\n{"0":"y"}\n' | tamis top --jsonl --field 0
         1  1..1              x
         1  1..1              y
$ printf 'a\n' | tamis distinct --header --field 00
tamis: --field: '00' is not the number of a field, counted from 1, or the name of a column
[2]
$ printf 'a\tb\n' | tamis distinct --field user
tamis: --field: 'user' is not a number; columns have names only with --header, or with --jsonl
[2]

# UTF-16 is an error where it would be read as something else.
$ tamis uniq --strict-input wide.txt
tamis: wide.txt: is in UTF-16, not UTF-8: convert it with iconv -f UTF-16 -t UTF-8
[2]
$ tamis distinct -q --csv --field 1 wide.txt
tamis: wide.txt: is in UTF-16, not UTF-8: convert it with iconv -f UTF-16 -t UTF-8
[2]
$ (printf '\377'; sleep 0.1; printf '\376a\0') | tamis build --strict-input -o none.tamis; ls none.tamis
tamis: standard input: is in UTF-16, not UTF-8: convert it with iconv -f UTF-16 -t UTF-8
ls: cannot access 'none.tamis': No such file or directory
[2]
$ printf '\377\376a\n' | tamis uniq --strict-input | od -c
0000000 377 376   a  \n
0000004
$ (printf '\357'; sleep 0.1; printf '\273\277a\n') | tamis uniq | od -c
0000000   a  \n
0000002

# -q hides the reports of skipped lines; --strict-input makes such lines errors.
$ printf 'a\nb\tc\n' | tamis build -q --field 2 -o q.tamis
$ printf 'a\nb\tc\n' | tamis add -q --strict-input --field 2 q.tamis
tamis: standard input: line 1: fewer than 2 fields
[2]

# Another delimiter that would fit the header.
$ printf 'a;b\n1;2\n' | tamis uniq --csv --header --field b
tamis: standard input: there is no column 'b'; the header has: a;b; did you mean -t ';'?
[2]
$ printf 'a;b\n1;2\n' | tamis uniq --tsv --header --field b
tamis: standard input: there is no column 'b'; the header has: a;b; did you mean --csv -t ';'?
[2]
$ printf 'a\tb\n1\t2\n' | tamis uniq --csv --header --field b
tamis: standard input: there is no column 'b'; the header has: a?b; did you mean --tsv?
[2]
