# --static within a budget chooses the sealed kind with the lowest rate, and at a rate the smallest
# file. One line says why.
$ seq 1000000 > list
$ tamis build --static --bytes 2MB -o budget.tamis list
tamis: budget.tamis: chose ribbon, the sealed kind with the lowest rate in 2,000,000 bytes: 0.0017 % (1 in 58,951); fuse 0.0061 % (1 in 16,384), blocked 0.091 % (1 in 1,099)
$ tamis info budget.tamis | sed -n '1p;3p'
budget.tamis: ribbon filter, sealed
  wrong     0.0017 % (1 in 58,...) of never-added keys get a maybe now; planned 0.0017 % (1 in 58,951)
$ test "$(wc -c < budget.tamis)" -le 2000000
$ tamis build --static --fpr 0.1% -o rate.tamis list
tamis: rate.tamis: chose ribbon, the smallest: 1,257,098 bytes, 1.01 times the lower bound; fuse 1,413,512, blocked 1,966,080
$ tamis build --static --fpr 0.1% --bytes 2MB -o both.tamis list && cmp rate.tamis both.tamis
tamis: both.tamis: chose ribbon, the smallest: 1,257,098 bytes, 1.01 times the lower bound; fuse 1,413,512, blocked 1,966,080
$ tamis build -q --static --bytes 2MB -f -o budget.tamis list

# As 'tamis plan' has it.
$ tamis plan --items 1M --bytes 2MB | grep '^fuse\|^ribbon'
fuse               1,000,000       1,978,824   15.83  14.00   1.13  0.0061 % (1 in 16,384)       3  -
ribbon             1,000,000       1,999,999   16.00  15.85   1.01  0.0017 % (1 in 58,951)       0  -

# Small sets: the fuse filter is better; with the same rate, the smaller one.
$ seq 3 > three; tamis build --static --bytes 500 -o small.tamis three
tamis: small.tamis: chose fuse, the sealed kind with the lowest rate in 500 bytes: 2.33e-08 % (1 in 4,294,967,296); ribbon 7.45e-07 % (1 in 134,217,728), blocked 9.53e-11 % (1 in 1,049,299,176,645)
$ tamis build --static --bytes 1000 -f -o small.tamis three
tamis: small.tamis: chose fuse, the smallest sealed kind with the lowest rate in 1,000 bytes: 360 bytes at 2.33e-08 % (1 in 4,294,967,296); ribbon 540 bytes at 2.33e-08 % (1 in 4,294,967,296), blocked 960 bytes at 3.55e-12 % (1 in 28,166,332,309,721)
$ tamis build --static --bytes 130000 -o only.tamis list
tamis: only.tamis: chose ribbon, the sealed kind with the lowest rate in 130,000 bytes: 49.8 % (1 in 2); blocked 99.6 %

# A budget that is too small says what is needed, and nothing is written.
$ tamis build --static --bytes 100kB -o no.tamis list; tamis build --static --fpr 0.1% --bytes 1MB -o no.tamis list; tamis build -q --static --bytes 100 -o no.tamis three
tamis: no.tamis: --static: 1,000,000 lines need 129,184 bytes at a rate of 50 % (1 in 2), but --bytes is 100,000
tamis: no.tamis: --static: 1,000,000 lines need 1,257,098 bytes at a rate of 0.1 % (1 in 1,000), but --bytes is 1,000,000
tamis: no.tamis: --static: 3 lines need 265 bytes at a rate of 50 % (1 in 2), but --bytes is 100
[2]
$ ls no.tamis
ls: cannot access 'no.tamis': No such file or directory
[2]
