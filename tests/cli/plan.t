$ tamis plan --items 1000000 --fpr 0.01
kind                   items           bytes    bits  bound  ratio  false positives              k  m
bloom              1,000,000       1,199,504    9.60   8.09   1.19  1 % (1 in 100)               7  9,592,960
partitioned        1,000,000       1,199,512    9.60   8.09   1.19  1 % (1 in 100)               7  1,370,432 a row
blocked            1,000,000       1,262,848   10.10   8.09   1.25  1 % (1 in 100)               8  10,099,712
counting           1,000,000       4,797,312   38.38   8.09   4.75  1 % (1 in 100)               7  9,592,960
pair               1,000,000       2,525,504   20.20   8.09   2.50  1 % (1 in 100)               8  10,099,712
growing            1,000,000       2,306,072   18.45      -      -  0.956 % (1 in 105)           9  2,097,152
window             1,000,000       1,658,240   13.27   8.09   1.64  0.999 % (1 in 100)           8  3,315,200
cuckoo             1,000,000       1,192,024    9.54   8.53   1.12  0.738 % (1 in 136)           2  1,059,228
fuse               1,000,000         989,512    7.92   7.00   1.13  0.781 % (1 in 128)           3  -
ribbon             1,000,000         847,917    6.78   6.64   1.02  1 % (1 in 100)               0  -
bits: per item, of the whole file; bound: fewer are impossible at that rate if all keys are
known before (sealed kinds), or if they come one by one (the others, at low rates)
$ tamis plan --items 1M --bytes 2MB --kind bloom --json
[{"kind": "bloom", "items": 1000000, "bytes": 2000000, "bits_per_item": 16, "bound_bits": 12.5303489553, "bound_ratio": 1.27689979402, "bound": "dynamic", "fpr": 0.000459497962765, "m": 15996416, "k": 11}]
$ tamis plan --fpr 1/1000 --bytes 1MiB --kind blocked
kind                   items           bytes    bits  bound  ratio  false positives              k  m
blocked              533,309       1,048,576   15.73  11.41   1.38  0.1 % (1 in 1,000)           8  8,386,048
bits: per item, of the whole file; bound: fewer are impossible at that rate if all keys are
known before (sealed kinds), or if they come one by one (the others, at low rates)

# The k rows of m bits of the lecture: 75,000,000 bits, 1.28 %. The best k for as many bits: 0.074
# %.
$ tamis plan --kind partitioned --items 5000000 --k 30 --m 2500000
kind                   items           bytes    bits  bound  ratio  false positives              k  m
partitioned        5,000,000       9,376,344   15.00   7.74   1.94  1.27 % (1 in 78)            30  2,500,000 a row
bits: per item, of the whole file; bound: fewer are impossible at that rate if all keys are
known before (sealed kinds), or if they come one by one (the others, at low rates)
$ tamis plan --kind partitioned --items 5000000 --bytes 9376344
kind                   items           bytes    bits  bound  ratio  false positives              k  m
partitioned        5,000,000       9,376,344   15.00  11.84   1.27  0.0744 % (1 in 1,344)       10  7,500,000 a row
bits: per item, of the whole file; bound: fewer are impossible at that rate if all keys are
known before (sealed kinds), or if they come one by one (the others, at low rates)

# Choosing: blocked, but bloom where blocked wastes space.
$ tamis plan --kind auto --items 1M --fpr 1% --json | grep -o '"kind": "[a-z]*"'
"kind": "blocked"
$ tamis plan --kind auto --items 1M --fpr 1e-6 --json | grep -o '"kind": "[a-z]*"'
"kind": "bloom"

# Plans that make no sense.
$ tamis plan --items 1000
tamis: plan: a plan needs two of: items, fpr, bytes
[2]
$ tamis plan --fpr 0.1 --bytes 100
tamis: plan: 100 bytes are too few
[2]
$ tamis plan --items 18446744073709551615 --fpr 0.1
tamis: plan: more than 2^52 items are not supported
[2]
$ tamis plan --items 18446744073709551616 --fpr 0.1
tamis: --items: '18446744073709551616' is not a whole number of at least 1, like 1000000, 1M or 1e6
[2]
$ tamis plan --items 1e15 --fpr 1e-9
tamis: plan: no shape of up to 2^52 bits does that
[2]
$ tamis plan --kind bloom --items 10 --k 65 --fpr 0.1
tamis: plan: k must be from 1 to 64, not 65
[2]
$ tamis plan --kind blocked --items 10 --m 1000
tamis: plan: m must be a multiple of 512 bits
[2]
$ tamis plan --kind bloom --items 1000000 --m 10
tamis: plan: so few bits would answer maybe to every key
[2]
$ tamis plan --items 1.5 --fpr 0.1
tamis: --items: '1.5' is not a whole number of at least 1, like 1000000, 1M or 1e6
[2]
# Items and rate without their options.
$ tamis plan --items 1M --fpr 1% > long
$ for words in '1M 1%' '1000000 0.01' '1e6 1/100' '1M --fpr 1%' '--fpr 1% 1M' '1m 1e-2'; do tamis plan $words | cmp - long; done
$ tamis plan 1M --bytes 2MB --kind bloom | sed -n 2p | cut -c 1-44
bloom              1,000,000       2,000,000
$ tamis plan 1M 1% --kind ribbon --json | grep -o '"items": [0-9]*'
"items": 1000000
$ tamis plan 1M 1% 2MB
tamis: plan: unexpected argument '2MB'; only the items and the rate can be given without an option, as in: tamis plan 1M 1%
[2]
$ tamis plan 1M --items 2M
tamis: plan: the items are given twice, as '1M' and with --items
[2]
$ tamis plan 1M 1% --fpr 2%
tamis: plan: the rate is given twice, as '1%' and with --fpr
[2]
$ tamis plan 1% 1M
tamis: plan: '1%' is not a number of items, like 1000000, 1M or 1e6; the rate comes second, as in: tamis plan 1M 1%
[2]
$ tamis plan 0 1%
tamis: plan: '0' is not a number of items, like 1000000, 1M or 1e6; the rate comes second, as in: tamis plan 1M 1%
[2]
$ tamis plan 1M 100%
tamis: plan: '100%' is not a rate between 0 and 1, like 0.01, 1% or 1/100; a size is given with --bytes, as in: tamis plan 1M --bytes 2MB
[2]
$ tamis plan 1M 2MB
tamis: plan: '2MB' is not a rate between 0 and 1, like 0.01, 1% or 1/100; a size is given with --bytes, as in: tamis plan 1M --bytes 2MB
[2]
$ tamis plan 1M
tamis: plan: the rate is missing, as in: tamis plan 1M 1%
[2]
$ tamis plan ten items
tamis: plan: 'ten' is not a number of items, like 1000000, 1M or 1e6; the rate comes second, as in: tamis plan 1M 1%
[2]

# A kind that does not fit says why, beside those that do.
$ tamis plan --items 1M --fpr 1% --bytes 1200000
kind                   items           bytes    bits  bound  ratio  false positives              k  m
bloom              1,000,000       1,199,504    9.60   8.09   1.19  1 % (1 in 100)               7  9,592,960
partitioned        1,000,000       1,199,512    9.60   8.09   1.19  1 % (1 in 100)               7  1,370,432 a row
cuckoo             1,000,000       1,192,024    9.54   8.53   1.12  0.738 % (1 in 136)           2  1,059,228
fuse               1,000,000         989,512    7.92   7.00   1.13  0.781 % (1 in 128)           3  -
ribbon             1,000,000         847,917    6.78   6.64   1.02  1 % (1 in 100)               0  -
blocked      needs 1262848 bytes, more than the 1200000 given
counting     needs 4797312 bytes, more than the 1200000 given
pair         needs 2525504 bytes, more than the 1200000 given
growing      needs 2306072 bytes, more than the 1200000 given
window       needs 1658240 bytes, more than the 1200000 given
bits: per item, of the whole file; bound: fewer are impossible at that rate if all keys are
known before (sealed kinds), or if they come one by one (the others, at low rates)

# Suffixes of counts and sizes: upper and lower case mean the same.
$ for n in 9M 9m 9000k 9000K 0.009G 0.009g 9e6; do tamis plan --json --kind bloom --fpr 1% --items $n; done | sort -u | grep -o '"items": [0-9]*'
"items": 9000000
$ for b in 2MiB 2mib 2Mi 2mi 2048KiB 2048kib 2097152B 2097152b; do tamis plan --json --kind bloom --fpr 1% --bytes $b; done | sort -u | wc -l
1
$ for b in 2MB 2mb 2Mb 2M 2m 2000kb 0.002gb 0.000002tb; do tamis plan --json --kind bloom --fpr 1% --bytes $b; done | sort -u | grep -o '"bytes": [0-9]*'
"bytes": 2000000
$ tamis plan --fpr 1% --items 9x; tamis plan --fpr 1% --items 9mm; tamis plan --fpr 1% --items 9m2; tamis plan --fpr 1% --items 9i; tamis plan --fpr 1% --items 9ms
tamis: --items: '9x' is not a whole number of at least 1, like 1000000, 1M or 1e6
tamis: --items: '9mm' is not a whole number of at least 1, like 1000000, 1M or 1e6
tamis: --items: '9m2' is not a whole number of at least 1, like 1000000, 1M or 1e6
tamis: --items: '9i' is not a whole number of at least 1, like 1000000, 1M or 1e6
tamis: --items: '9ms' is not a whole number of at least 1, like 1000000, 1M or 1e6
[2]
