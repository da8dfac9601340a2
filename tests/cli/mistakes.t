# Mistakes are answered with the command to paste.
$ seq 9 > list.txt; seq 5 20 > 'my list.txt'; seq 3 > -x; tamis build --items 20 -o f.tamis list.txt; tamis build --items 20 -o 'g h.tamis' list.txt; tamis pack -q -o f.packed f.tamis; tamis count -o c.tamis list.txt

# The words in the wrong order, with all options where they were.
$ tamis add list.txt f.tamis
tamis: list.txt: is not a filter; did you mean: tamis add f.tamis list.txt
[2]
$ tamis check -c 'my list.txt' f.tamis
tamis: my list.txt: is not a filter; did you mean: tamis check -c f.tamis 'my list.txt'
[2]
$ tamis check list.txt 'g h.tamis' 'my list.txt'
tamis: list.txt: is not a filter; did you mean: tamis check 'g h.tamis' list.txt 'my list.txt'
[2]
$ tamis remove --field 1 -t ' ' list.txt f.tamis
tamis: list.txt: is not a filter; did you mean: tamis remove --field 1 -t ' ' f.tamis list.txt
[2]
$ tamis compact list.txt f.tamis
tamis: list.txt: is not a filter; did you mean: tamis compact f.tamis list.txt
[2]
$ tamis freq list.txt c.tamis
tamis: list.txt: is not a sketch; did you mean: tamis freq c.tamis - < list.txt
[2]
$ tamis check -c f.tamis -- -x; tamis check -c -- -x f.tamis
3
tamis: -x: is not a filter; did you mean: tamis check -c -- f.tamis ./-x
[2]
$ tamis check ./-x -- f.tamis
tamis: ./-x: is not a filter; did you mean: tamis check f.tamis -- ./-x
[2]
# What is quoted means the same to the shell.
$ cp list.txt "it's \$(a) list"; tamis check -c "it's \$(a) list" f.tamis
tamis: it's $(a) list: is not a filter; did you mean: tamis check -c f.tamis 'it'\''s $(a) list'
[2]
$ tamis check -c f.tamis 'it'\''s $(a) list'
9
# A name that a terminal would not show is not offered.
$ cp list.txt "$(printf 'a\007b')"; tamis check "$(printf 'a\007b')" f.tamis 2>&1 | tr '\007' '?'
tamis: a?b: is not a filter
# A filter of another program is a filter.
$ tamis build --to dcso --items 9 -o d.bloom list.txt; tamis check d.bloom f.tamis
tamis: f.tamis: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines; did you mean: tamis info f.tamis
[2]

# A list where a filter is expected.
$ tamis check list.txt 'my list.txt'
tamis: list.txt: not a Tamis file
tamis: check: to compare with the lines of a file: tamis check -f list.txt 'my list.txt'
[2]
$ tamis check -vc list.txt 'my list.txt'
tamis: list.txt: not a Tamis file
tamis: check: to compare with the lines of a file: tamis check -f list.txt -vc 'my list.txt'
[2]
$ tamis check -c -f list.txt 'my list.txt'
5
$ tamis add list.txt 'my list.txt'
tamis: list.txt: not a Tamis file
tamis: add: to make a filter of a file of lines: tamis build -o list.tamis list.txt
[2]
$ tamis freq list.txt 7
tamis: list.txt: not a Tamis file
tamis: freq: to make a sketch of a file of lines: tamis count -o list-counts.tamis list.txt
[2]
$ tamis remove list.txt 'my list.txt'
tamis: list.txt: not a Tamis file
[2]
$ head -c 100 f.tamis > half.tamis; tamis check half.tamis list.txt
tamis: half.tamis: truncated within the header
[2]

# A filter is not a file of lines, unless that is wanted.
$ tamis check f.tamis 'g h.tamis'
tamis: g h.tamis: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines; did you mean: tamis compare f.tamis 'g h.tamis'
[2]
$ tamis check f.tamis list.txt 'g h.tamis'
tamis: g h.tamis: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines; did you mean: tamis info 'g h.tamis'
[2]
$ tamis check -f list.txt f.tamis
tamis: f.tamis: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines; did you mean: tamis info f.tamis
[2]
$ tamis add f.tamis 'g h.tamis'
tamis: g h.tamis: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines; did you mean: tamis merge -o merged.tamis f.tamis 'g h.tamis'
[2]
$ tamis build -o all.tamis f.tamis 'g h.tamis'
tamis: f.tamis: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines; did you mean: tamis merge -o all.tamis f.tamis 'g h.tamis'
[2]
$ tamis build -o all.tamis f.packed
tamis: f.packed: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines; did you mean: tamis unpack -o unpacked.tamis f.packed
[2]
$ tamis uniq f.tamis
tamis: f.tamis: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines; did you mean: tamis info f.tamis
[2]
$ tamis count -o counts.tamis c.tamis
tamis: c.tamis: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines; did you mean: tamis info c.tamis
[2]
$ tamis uniq --raw --total f.tamis | wc -l
1
$ tamis top f.tamis
tamis: f.tamis: its kind (blocked) keeps no list of lines; make a sketch that does with 'tamis top -o' or 'tamis count --kind top'
[2]

# Without an output.
$ tamis build list.txt
tamis: build: give the output file with -o FILE; for example: tamis build -o list.tamis list.txt
[2]
$ tamis build --fpr 1% 'my list.txt'
tamis: build: give the output file with -o FILE; for example: tamis build -o 'my list.tamis' --fpr 1% 'my list.txt'
[2]
$ tamis build ./-x
tamis: build: give the output file with -o FILE; for example: tamis build -o ./-x.tamis ./-x
[2]
$ tamis build < list.txt
tamis: build: give the output file with -o FILE; for example: tamis build -o out.tamis
[2]
$ tamis build list.txt new.tamis
tamis: build: give the output file with -o FILE; did you mean: tamis build -o new.tamis list.txt
[2]
$ tamis build --to dcso list.txt
tamis: build: give the output file with -o FILE; for example: tamis build -o list.dcso --to dcso list.txt
[2]
$ tamis count list.txt
tamis: count: give the output file with -o FILE; for example: tamis count -o list-counts.tamis list.txt
[2]
$ tamis merge f.tamis 'g h.tamis'
tamis: merge: give the output file with -o FILE; for example: tamis merge -o merged.tamis f.tamis 'g h.tamis'
[2]
$ tamis convert --to bloom f.tamis
tamis: convert: give the output file with -o FILE; for example: tamis convert -o f.bloom --to bloom f.tamis
[2]
$ tamis pack f.tamis
tamis: pack: give the output file with -o FILE; for example: tamis pack -o new-f.packed f.tamis
[2]
$ tamis unpack f.packed
tamis: unpack: give the output file with -o FILE; for example: tamis unpack -o new-f.tamis f.packed
[2]
$ tamis release --epsilon 1 f.tamis
tamis: release: give the output file with -o FILE; for example: tamis release -o f.private --epsilon 1 f.tamis
[2]

# Files that do not exist.
$ tamis check f.tamis lits.txt
tamis: lits.txt: cannot read: No such file or directory
tamis: did you mean: tamis check f.tamis list.txt
[2]
$ tamis check -c f.tamis list.txt 'my lst.txt'
tamis: my lst.txt: cannot read: No such file or directory
9
tamis: did you mean: tamis check -c f.tamis list.txt 'my list.txt'
[2]
$ tamis info c.tami
tamis: c.tami: cannot open: No such file or directory
[2]
$ tamis build -o new.tamis lisst.txt
tamis: lisst.txt: cannot read: No such file or directory
tamis: did you mean: tamis build -o new.tamis list.txt
[2]
$ tamis check f.tamis nowhere.txt
tamis: nowhere.txt: cannot read: No such file or directory
[2]
$ tamis check f.tamis 7
tamis: 7: cannot read: No such file or directory
tamis: check: arguments are files of lines; to give a line: printf '%s\n' 7 | tamis check f.tamis
[2]
$ tamis check -c f.tamis 'http://a b.example/'
tamis: http://a b.example/: cannot read: No such file or directory
0
tamis: check: arguments are files of lines; to give a line: printf '%s\n' 'http://a b.example/' | tamis check -c f.tamis
[2]
$ tamis add new.tamis list.txt
tamis: new.tamis: cannot open: No such file or directory
tamis: add: to make the filter: tamis build -o new.tamis list.txt
[2]
$ tamis check nowhere/f.tamis list.txt
tamis: nowhere/f.tamis: cannot open: No such file or directory
[2]
$ ls *.tamis
c.tamis
f.tamis
g h.tamis
half.tamis

# A file where items are expected.
$ tamis freq c.tamis list.txt
         0  0..0              list.txt
tamis: freq: arguments are items; to look up the lines of a file: tamis freq c.tamis - < list.txt
[1]
$ tamis freq -q c.tamis list.txt
[1]
$ tamis freq c.tamis - < list.txt | wc -l
9

# Commands and options of other programs.
$ for word in create new contains query exists grep stats insert delete union dedup cardinality topk BF.ADD keygen; do tamis $word f.tamis; done
tamis: there is no command 'create'; use 'tamis build': see 'tamis build -h'
tamis: there is no command 'new'; use 'tamis build': see 'tamis build -h'
tamis: there is no command 'contains'; use 'tamis check': see 'tamis check --short-help'
tamis: there is no command 'query'; use 'tamis check': see 'tamis check --short-help'
tamis: there is no command 'exists'; use 'tamis check': see 'tamis check --short-help'
tamis: there is no command 'grep'; use 'tamis check': see 'tamis check --short-help'
tamis: there is no command 'stats'; use 'tamis info': see 'tamis info -h'
tamis: there is no command 'insert'; use 'tamis add': see 'tamis add -h'
tamis: there is no command 'delete'; use 'tamis remove': see 'tamis remove -h'
tamis: there is no command 'union'; use 'tamis merge': see 'tamis merge -h'
tamis: there is no command 'dedup'; use 'tamis uniq': see 'tamis uniq -h'
tamis: there is no command 'cardinality'; use 'tamis distinct': see 'tamis distinct -h'
tamis: there is no command 'topk'; use 'tamis top': see 'tamis top -h'
tamis: there is no command 'BF.ADD'; use 'tamis build': see 'tamis build -h'
tamis: there is no command 'keygen'; use 'tamis key new': see 'tamis key new -h'
[2]
$ tamis version
tamis: there is no command 'version'; did you mean 'tamis --version'?
[2]
$ tamis check --version
tamis: check: unknown option '--version'; did you mean 'tamis --version'?
[2]
$ tamis build -V
tamis: build: unknown option '-V'; did you mean 'tamis --version'?
[2]
$ tamis f.tamis
tamis: there is no command 'f.tamis', but it is a filter; did you mean: tamis info f.tamis
[2]
$ tamis top -3 list.txt
tamis: top: -3 is written -n 3: tamis top -n 3 list.txt
[2]
$ tamis top -3x list.txt
tamis: top: unknown option '-3x'; see 'tamis top --help'
[2]
$ tamis distinct --by 1 -2 'my list.txt'
tamis: distinct: -2 is written -n 2: tamis distinct --by 1 -n 2 'my list.txt'
[2]
$ tamis distinct -csv -field 2 'my list.txt'
tamis: distinct: -csv is written --csv: tamis distinct --csv -field 2 'my list.txt'
[2]
$ tamis build -fpr=1% -o new.tamis list.txt; tamis build -output new.tamis list.txt; ls new.tamis
tamis: build: -fpr is written --fpr
tamis: build: -output is written --output: tamis build --output new.tamis list.txt
ls: cannot access 'new.tamis': No such file or directory
[2]
$ tamis uniq -3 list.txt
tamis: uniq: unknown option '-3'; see 'tamis uniq --help'
[2]
$ tamis top -n 3 list.txt | wc -l
3

# Help is where it is looked for.
$ tamis --help plan | head -n 1; tamis help plan | head -n 1; tamis plan --help | head -n 1
Usage: tamis plan [OPTION...] [ITEMS [RATE]]
Usage: tamis plan [OPTION...] [ITEMS [RATE]]
Usage: tamis plan [OPTION...] [ITEMS [RATE]]
$ tamis plan -h | head -n 2
Usage: tamis plan [OPTION...] [ITEMS [RATE]]
Compute sizes and false-positive rates before building.
$ tamis build -h > short; tamis -h build | cmp - short; tamis -h kinds | head -n 1
kinds: the kinds of filters and sketches, and what each is for
$ tamis check -h
Usage: tamis check [OPTION...] {FILTER | -f PATTERNS} [FILE...]
Print the lines that may be in a filter.

Examples:
  Print the lines that may be on the list:
    tamis check bad.tamis access-urls.txt
  Print the lines that are not on it:
    tamis check -v bad.tamis access-urls.txt
  Compare with the list itself, which is exact:
    tamis check -f bad-urls.txt access-urls.txt

Options:
  -f, --patterns FILE    compare with the lines of FILE, which is exact
      --confirm FILE     look up every maybe in FILE, which is exact
  -v, --invert           print the absent lines instead
  -c, --count            print only the number of selected lines
  -n, --line-number      print before each line its number in its file
  -q, --quiet            print no results and no progress
      --field N          use field N of each line as the key, counted from 1
      --csv              read CSV (RFC 4180), with commas or -t between fields
      --jsonl            read one JSON value per line, and the --field in it

'tamis check --help' explains more, with all options.
$ tamis check --short-help | head -n 2
Usage: tamis check [OPTION...] {FILTER | -f PATTERNS} [FILE...]
Print the lines that may be in a filter.
$ tamis check --short-help > short; tamis check 2>&1 | cmp - short
$ tamis key
Usage: tamis key COMMAND [OPTION...] ...

A secret key protects a filter against strangers who choose what is added or
looked up: see 'tamis help keys'. With --sign, 'tamis key new' makes keys for
signatures of files instead.

Examples:
  Make a key, and print its id:
    tamis key new my.key && tamis key id my.key

Commands:
  key new        make a secret key
  key id         print the ids of keys

'tamis key COMMAND -h' shows a command on one screen.
[2]
$ tamis check -c
tamis: check: usage: tamis check [OPTION...] {FILTER | -f PATTERNS} [FILE...]; see 'tamis check --short-help'
[2]
$ tamis merge -o x.tamis
tamis: merge: usage: tamis merge [OPTION...] -o OUT FILTER...; see 'tamis merge -h'
[2]

# A filter where a list is expected: its bytes are not lines, however they arrive.
$ rm -f f.tamis c.tamis f.packed; seq 5 > n1; seq 4 9 > n2; tamis build -o f.tamis n1; tamis count -o c.tamis n1; gzip -k f.tamis; tamis pack -o f.packed f.tamis
$ tamis check -f f.tamis n1
tamis: f.tamis: given with -f, but is a filter or a sketch, not a file of lines; --raw would take its bytes for lines; did you mean: tamis check f.tamis n1
[2]
$ tamis check -nvf f.tamis n1
tamis: f.tamis: given with -f, but is a filter or a sketch, not a file of lines; --raw would take its bytes for lines; did you mean: tamis check f.tamis -nv n1
[2]
$ tamis check -c --patterns=f.tamis n1
tamis: f.tamis: given with -f, but is a filter or a sketch, not a file of lines; --raw would take its bytes for lines; did you mean: tamis check f.tamis -c n1
[2]
$ tamis check -ff.tamis -p 1% n1
tamis: f.tamis: given with -f, but is a filter or a sketch, not a file of lines; --raw would take its bytes for lines
[2]
$ tamis build --static --never f.tamis -o x n1
tamis: f.tamis: given with --never, but is a filter or a sketch, not a file of lines; --raw would take its bytes for lines
[2]
$ tamis check --confirm f.tamis f.tamis n1
tamis: f.tamis: given with --confirm, but is a filter or a sketch, not a file of lines; --raw would take its bytes for lines
[2]
$ tamis add --grow --from f.tamis f.tamis n2
tamis: f.tamis: given with --from, but is a filter or a sketch, not a file of lines; --raw would take its bytes for lines
[2]
$ cat f.tamis | tamis uniq
tamis: standard input: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines
[2]
$ (head -c 5 f.tamis; sleep 0.1; tail -c +6 f.tamis) | tamis uniq
tamis: standard input: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines
[2]
$ tamis uniq n1 f.tamis.gz
tamis: f.tamis.gz: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines
[2]
$ tamis uniq < f.packed
tamis: standard input: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines
[2]
$ tamis check f.tamis - < f.tamis.gz
tamis: standard input: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines
[2]
$ tamis freq c.tamis - < f.tamis
tamis: standard input: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines
[2]
$ cat f.tamis | tamis build -o x; ls x
tamis: standard input: is a filter or a sketch, not a file of lines; --raw would take its bytes for lines
ls: cannot access 'x': No such file or directory
[2]
$ tamis uniq --raw < f.tamis | wc -l; tamis check -c -f f.tamis --raw f.tamis
2
2
$ printf '\211TAMI' | tamis uniq | od -c
0000000 211   T   A   M   I  \n
0000006

# A list before a file that does not count either.
$ tamis freq n1 f.tamis
tamis: n1: is not a sketch, and f.tamis does not count each line; to make a sketch of a file of lines: tamis count -o n1-counts.tamis n1
[2]
$ tamis freq n1 c.tamis
tamis: n1: is not a sketch; did you mean: tamis freq c.tamis - < n1
[2]

# Empty names and lists, and a number without -n.
$ tamis build -o '' n1
tamis: build: the name of the output file is empty
[2]
$ : > empty; tamis add --grow --from empty f.tamis n2
tamis: empty: --from: the list is empty
[2]
$ tamis top 3 n1
tamis: 3: cannot read: No such file or directory
tamis: top: -n is the number of lines to list: tamis top -n 3 n1
[2]
$ tamis help csv | head -1; tamis help jsonl | head -1
input: files, standard input, compressed input, fields, and options
input: files, standard input, compressed input, fields, and options
