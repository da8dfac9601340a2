# However many threads split and hash the lines, the output is the same, in the same order.
$ seq -f 'https://www.site%.0f.example/some/path/index.html' 1 200000 > urls; seq 1 7 2000000 > numbers; printf 'no end' > last
$ tamis build --threads 1 -o one.tamis urls numbers last && tamis build --threads 5 -o five.tamis urls numbers last && cmp one.tamis five.tamis
$ cat urls numbers last | tamis build --threads 3 -o pipe.tamis && cmp one.tamis pipe.tamis
$ seq 1 400000 > ask; for t in 1 2 8; do tamis check --threads $t one.tamis ask urls last > out$t; done; cmp out1 out2 && cmp out1 out8 && wc -l < out1
260545
$ tail -n 1 out1
no end
$ tamis check -vc --threads 4 one.tamis urls numbers last
0
[1]

# Lines longer than a block, between short ones.
$ head -c 700000 /dev/zero | tr '\0' a > long; { seq 1 100000; cat long; echo; seq 1 10; cat long long; } > mixed
$ tamis build --threads 1 -o m1.tamis mixed && tamis build --threads 4 -o m4.tamis mixed && cmp m1.tamis m4.tamis && tamis check -c --threads 4 m1.tamis mixed
100012
$ tamis check --threads 4 m1.tamis mixed | cmp - mixed
cmp: EOF on mixed after byte 2688917, in line 100012
[1]

# A slow pipe: what has arrived is answered, though the writer is not done.
$ mkfifo slow; { echo 1; exec sleep 60; } > slow & timeout 30 tamis check -q one.tamis slow; echo $?; kill $!
0

# Nothing is printed twice or lost when files end without a newline.
$ printf 'x' > a; printf 'y\n' > b; : > c; printf '\n' > d; printf 'x\ny\n\n' > all; tamis build --fpr 1e-9 -o s.tamis all; tamis check s.tamis a b c d | od -c
0000000   x  \n   y  \n  \n
0000005
$ tamis check --threads 0 s.tamis a
tamis: --threads: '0' is not a whole number of at least 1, like 1000000, 1M or 1e6
[2]
