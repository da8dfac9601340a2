# A filter may come by a pipe wherever it is only read.
$ seq 1000 > list; seq 990 1010 > some; tamis build --fpr 1e-9 -o f.tamis list; tamis build -o - --fpr 1e-9 list | cmp - f.tamis
$ cat f.tamis | tamis info - | head -n 2
-: blocked filter
  items     1,000 of 1,000 planned
$ mkfifo pipe; cat f.tamis | tamis check -c - some; cat f.tamis > pipe & tamis check -c pipe some; cat f.tamis | tamis check -c /dev/stdin some; tamis check -c - some < f.tamis
11
11
11
11
$ cat f.tamis | tamis check --json - some | grep -o '"lines.*"absent": [0-9]*'
"lines": 21, "maybe": 11, "absent": 10
$ cat f.tamis | tamis verify --keys 1000 - | head -n 1
-: undamaged: every checksum is right
$ cat f.tamis | tamis explain cost --bad 0 --json - | grep -o '"items": 1000,'
"items": 1000,
$ cat f.tamis | tamis pack -q -o - - | tamis unpack -o - - | cmp - f.tamis
$ tamis build --kind counting -o c.tamis list; cat c.tamis | tamis convert --to bloom -o - - | tamis info - | head -n 1
-: bloom filter
$ seq 500 | tamis build --items 1000 -o a.tamis; seq 501 1000 | tamis build --items 1000 -o b.tamis; cat a.tamis | tamis merge -o - - b.tamis | tamis check -c - list
1000
$ cat f.tamis | tamis info - f.tamis | grep -c blocked; gzip -c f.tamis | tamis info - | head -n 1
2
-: blocked filter

# Sketches: top tells one by how it begins; without it these are lines, however they come.
$ tamis top -o t.tamis -q list some; cat t.tamis | tamis freq - 999 | cut -c 1-20; cat t.tamis | tamis top -n 1; cat t.tamis | tamis top -n 1 -; cat t.tamis > pipe & tamis top -n 1 pipe
         2  2..2    
         2  2..2              1000
         2  2..2              1000
         2  2..2              1000
$ cat t.tamis | tamis top --raw -q; head -c 500 t.tamis | tamis top
tamis: standard input: truncated: 500 bytes of 1048448
[2]
$ printf '\211TAMIS\n\211TAMIS\n\211' | tamis top | cut -c 1-20; (printf '\211'; sleep 0.1; printf 'TAM\n') | tamis top | cut -c 1-20
         2  2..2    
         1  1..1    
         1  1..1    
$ gzip -c some | tamis top -n 1; printf x | tamis top -; cat some > pipe & tamis top -n 1 some pipe; cat some > pipe & tamis top -n 1 pipe
         1  1..1              1000
         1  1..1              x
         2  2..2              1000
         1  1..1              1000

# Standard input can be read once.
$ cat f.tamis | tamis check - < f.tamis
tamis: check: standard input cannot be both the filter and the lines to check
[2]
$ cat f.tamis | tamis check /dev/stdin
tamis: check: standard input cannot be both the filter and the lines to check
[2]
$ tamis check f.tamis < f.tamis
tamis: check: standard input cannot be both the filter and the lines to check
[2]
$ cat f.tamis | tamis check - some -
tamis: check: standard input cannot be both the filter and the lines to check
[2]
$ cat t.tamis | tamis freq -
tamis: standard input: cannot read: the filter was already read from there
[2]
$ cat f.tamis | tamis info - - > /dev/null
tamis: standard input: cannot read: another filter was already read from there
[2]
$ cat f.tamis | tamis check --confirm - - some
tamis: standard input: cannot read: the filter was already read from there
[2]

# Input that is not a filter, or not a whole one.
$ cat list | tamis info -
tamis: standard input: not a Tamis file
[2]
$ : | tamis info -
tamis: standard input: the file is empty
[2]
$ head -c 1000 f.tamis | tamis info -
tamis: standard input: truncated: 1000 bytes of 23616
[2]
$ cat f.tamis list | tamis check - some
tamis: standard input: there are bytes after the end of the image
[2]
$ timeout 30 tamis info - < /dev/zero
tamis: standard input: not a Tamis file
[2]
$ tamis info - <&-
tamis: standard input: cannot read: Bad file descriptor
[2]
$ cat list > pipe & tamis info pipe; : > pipe & tamis top pipe
tamis: pipe: not a Tamis file
[1]

# A filter that is changed is a file, and so is one with a record beside it.
$ cat f.tamis | tamis add - list
tamis: standard input: a filter can be changed only in a file, not in a stream
[2]
$ cat f.tamis | tamis remove - list
tamis: standard input: a filter can be changed only in a file, not in a stream
[2]
$ tamis build --kind window -o w.tamis some; cp w.tamis before; cat f.tamis | tamis rotate w.tamis -; cmp w.tamis before; tamis rotate w.tamis pipe; cmp w.tamis before
tamis: standard input: a filter can be changed only in a file, not in a stream
tamis: pipe: a filter can be changed only in a file, not in a stream
$ cat f.tamis | tamis release --epsilon 1 -o r.tamis -
tamis: release: the filter must be a file, because its releases are recorded beside it
[2]
$ ls ./- r.tamis
ls: cannot access './-': No such file or directory
ls: cannot access 'r.tamis': No such file or directory
[2]

# A file named - is ./-, and the standard streams are not taken for it.
$ cp f.tamis ./-; cat f.tamis | tamis pack -q -o - - | tamis unpack -o - - | cmp - f.tamis; tamis info ./- | head -n 1
./-: blocked filter
