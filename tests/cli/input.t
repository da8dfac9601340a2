# Compressed input is recognized by its first bytes.
$ seq 5000 > list && tamis build -q -o f.tamis list
$ gzip -c list > a && zstd -qc list > b && bzip2 -c list > c && xz -c list > d
$ for f in a b c d; do tamis check -c f.tamis $f && tamis check -c f.tamis < $f; done
5000
5000
5000
5000
5000
5000
5000
5000
$ for f in a b c d; do tamis build -q -f -o g.tamis $f && tamis check -c g.tamis list; done
5000
5000
5000
5000
# One after the other is one file, and the inputs may be of all sorts.
$ cat a a > aa && cat b b > bb && cat c c > cc && cat d d > dd && tamis check -c f.tamis aa bb cc dd list
45000
# Damage, too little and too much are errors.
$ for f in a b c d; do head -c 900 $f | tamis check -c f.tamis; done
tamis: standard input: cannot read: gzip data ends too early
385
tamis: standard input: cannot read: zstd data ends too early
0
tamis: standard input: cannot read: bzip2 data ends too early
0
tamis: standard input: cannot read: xz data ends too early
1960
[2]
$ for f in a b c d; do (cat $f; echo more) | tamis check -c f.tamis; done
tamis: standard input: cannot read: gzip data is followed by something else
5000
tamis: standard input: cannot read: zstd data is followed by something else
5000
tamis: standard input: cannot read: bzip2 data is followed by something else
5000
tamis: standard input: cannot read: xz data is followed by something else
5000
[2]
$ (head -c 500 a; printf '\377\377\377\377\377\377'; tail -c +507 a) | tamis build -o bad.tamis
tamis: standard input: cannot read: gzip data is damaged
[2]
$ ls bad.tamis
ls: cannot access 'bad.tamis': No such file or directory
[2]
# What only begins like them, or is short, is taken as it is; and so is everything with --raw.
$ printf '\037' | tamis check -v -c f.tamis
1
$ printf 'BZ\nBZ' | tamis check -v -c f.tamis
2
$ printf '' | tamis check -c f.tamis
0
[1]
$ printf 'BZhello\n' | tamis check -v -c f.tamis
1
$ printf 'BZhello\n' | tamis check --raw -v f.tamis
BZhello
# Nothing, compressed, is nothing.
$ for z in gzip zstd bzip2 xz; do printf '' | $z -c | tamis check -v -c f.tamis; done
0
0
0
0
[1]
