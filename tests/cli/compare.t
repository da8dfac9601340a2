# How many items two filters have in common: 1000 each, of which 500 are the same.
$ seq 1000 | tamis build -q --items 3000 -o a.tamis; seq 501 1500 | tamis build -q --items 3000 -o b.tamis; seq 2001 3000 | tamis build -q --items 3000 -o c.tamis
$ tamis compare a.tamis b.tamis
a.tamis and b.tamis
  first     about 1,006, with 99 % certainty 994 to 1,018
  second    about 1,000, with 99 % certainty 989 to 1,013
  union     about 1,500, with 99 % certainty 1,480 to 1,521
  common    about 506, with 99 % certainty 459 to 553
  1st only  about 500, with 99 % certainty 466 to 533
  2nd only  about 494, with 99 % certainty 461 to 528
  jaccard   about 0.3374, with 99 % certainty 0.3024 to 0.3734
$ tamis compare --json a.tamis b.tamis
{"first": "a.tamis", "second": "b.tamis", "first_items": 1005.68566394, "first_items_low": 994.273372236, "first_items_high": 1017.49051036, "second_items": 1000.49210525, "second_items_low": 989.140921774, "second_items_high": 1012.23441536, "union": 1500.02481896, "union_low": 1480.2898651, "union_high": 1520.45606304, "common": 506.15295023, "common_low": 459.841923293, "common_high": 552.801841133, "first_only": 499.532713713, "first_only_low": 466.376486037, "first_only_high": 532.869087157, "second_only": 494.339155018, "second_only_low": 461.111537927, "second_only_high": 527.745052594, "jaccard": 0.33742971705, "jaccard_low": 0.302436837519, "jaccard_high": 0.373441617191}
$ tamis compare a.tamis c.tamis
a.tamis and c.tamis
  first     about 1,006, with 99 % certainty 994 to 1,018
  second    about 997, with 99 % certainty 985 to 1,009
  union     about 1,998, with 99 % certainty 1,970 to 2,026
  common    too small to estimate, with 99 % certainty at most 59
  1st only  about 1,001, with 99 % certainty 960 to 1,020
  2nd only  about 992, with 99 % certainty 951 to 1,011
  jaccard   too small to estimate, with 99 % certainty at most 0.0297
$ tamis compare a.tamis a.tamis | tail -n 1
  jaccard   about 1.0000, with 99 % certainty 0.9481 to 1.0000

# The other kinds that can; a secret key is not needed.
$ for kind in bloom partitioned counting; do for i in 1 2; do seq ${i}00 400 | tamis build -q --kind $kind --items 1000 --fpr 0.1% -o $kind$i; done; tamis compare ${kind}1 ${kind}2; done
bloom1 and bloom2
  first     about 300, with 99 % certainty 295 to 305
  second    about 199, with 99 % certainty 196 to 203
  union     about 300, with 99 % certainty 294 to 306
  common    about 199, with 99 % certainty 184 to 203
  1st only  about 101, with 99 % certainty 91 to 110
  2nd only  too small to estimate, with 99 % certainty at most 12
  jaccard   about 0.6642, with 99 % certainty 0.6042 to 0.6891
partitioned1 and partitioned2
  first     about 303, with 99 % certainty 298 to 309
  second    about 202, with 99 % certainty 198 to 206
  union     about 303, with 99 % certainty 297 to 310
  common    about 202, with 99 % certainty 187 to 206
  1st only  about 101, with 99 % certainty 92 to 111
  2nd only  too small to estimate, with 99 % certainty at most 12
  jaccard   about 0.6662, with 99 % certainty 0.6062 to 0.6911
counting1 and counting2
  first     about 300, with 99 % certainty 295 to 305
  second    about 199, with 99 % certainty 196 to 203
  union     about 300, with 99 % certainty 294 to 306
  common    about 199, with 99 % certainty 184 to 204
  1st only  about 100, with 99 % certainty 91 to 110
  2nd only  too small to estimate, with 99 % certainty at most 12
  jaccard   about 0.6649, with 99 % certainty 0.6049 to 0.6899
$ tamis key new -q k; for i in 1 2; do seq ${i}00 400 | tamis build -q --key-file k --items 1000 --fpr 0.1% -o keyed$i; done; tamis compare keyed1 keyed2 | wc -l
8

# Nothing in one, nothing in both; and every bit set, where an estimate would be a guess.
$ tamis build -q --items 3000 -o empty.tamis /dev/null; tamis compare empty.tamis a.tamis; tamis compare empty.tamis empty.tamis
empty.tamis and a.tamis
  first     exactly 0
  second    about 1,006, with 99 % certainty 994 to 1,018
  union     about 1,006, with 99 % certainty 992 to 1,020
  common    exactly 0
  1st only  exactly 0
  2nd only  about 1,006, with 99 % certainty 992 to 1,020
  jaccard   exactly 0.0000
empty.tamis and empty.tamis
  first     exactly 0
  second    exactly 0
  union     exactly 0
  common    exactly 0
  1st only  exactly 0
  2nd only  exactly 0
  jaccard   exactly 0.0000
$ seq 100000 | tamis build -q --overfill --items 3000 -o full.tamis; tamis compare full.tamis a.tamis; tamis compare --json full.tamis a.tamis; tamis compare full.tamis full.tamis
tamis: full.tamis: overfull: more than 31,888 items, planned for 3,000; its false-positive rate is now 100 %
full.tamis and a.tamis
  first     with 99 % certainty at least 31,888
  second    about 1,006, with 99 % certainty 994 to 1,018
  union     with 99 % certainty at least 30,998
  common    with 99 % certainty 0 to 1,020
  1st only  with 99 % certainty at least 29,979
  2nd only  with 99 % certainty 0 to 1,020
  jaccard   with 99 % certainty 0.0000 to 0.0329
{"first": "full.tamis", "second": "a.tamis", "first_items": null, "first_items_low": 31888.7078981, "first_items_high": null, "second_items": 1005.68566394, "second_items_low": 994.273372236, "second_items_high": 1017.49051036, "union": null, "union_low": 30998.353496, "union_high": null, "common": null, "common_low": 0, "common_high": 1019.17832717, "first_only": null, "first_only_low": 29979.1751688, "first_only_high": null, "second_only": null, "second_only_low": 0, "second_only_high": 1019.17832717, "jaccard": null, "jaccard_low": 0, "jaccard_high": 0.0328784665063}
full.tamis and full.tamis
  first     with 99 % certainty at least 31,888
  second    with 99 % certainty at least 31,888
  union     with 99 % certainty at least 30,998
  common    with 99 % certainty at least 0
  1st only  with 99 % certainty at least 0
  2nd only  with 99 % certainty at least 0
  jaccard   with 99 % certainty 0.0000 to 1.0000

# What cannot be compared.
$ seq 10 | tamis build -q --kind ribbon -o ribbon.tamis; tamis compare ribbon.tamis ribbon.tamis
tamis: ribbon.tamis: ribbon filters cannot be compared; use the kind blocked: tamis build --kind blocked
[2]
$ tamis compare a.tamis ribbon.tamis
tamis: ribbon.tamis: cannot be compared with a.tamis: one is blocked, the other ribbon; build both with the same options
[2]
$ seq 10 | tamis build -q --items 5000 -o other.tamis; tamis compare a.tamis other.tamis
tamis: other.tamis: cannot be compared with a.tamis: they differ in shape: m = 30720, k = 8 and m = 50688, k = 8; build both with the same options and the same --items, a number that fits both: --items 5000
[2]
$ seq 10 | tamis build -q --items 3000 --seed 7 -o seed.tamis; tamis compare a.tamis seed.tamis
tamis: seed.tamis: cannot be compared with a.tamis: they differ in their seed; build both with the same options
[2]
$ seq 10 | tamis build -q --items 1000 --fpr 0.1% -o plain.tamis; tamis compare keyed1 plain.tamis
tamis: plain.tamis: cannot be compared with keyed1: they use different hash functions; build both with the same options
[2]
$ seq 10 | tamis count -q -o sketch.tamis; tamis compare sketch.tamis a.tamis
tamis: sketch.tamis: tally filters cannot be compared; use the kind blocked: tamis build --kind blocked
[2]
$ head -c 1000 a.tamis > cut.tamis; tamis compare a.tamis cut.tamis
tamis: cut.tamis: truncated: 1000 bytes of 4096
[2]
$ tamis compare a.tamis missing
tamis: missing: cannot open: No such file or directory
[2]
$ tamis compare missing a.tamis
tamis: missing: cannot open: No such file or directory
[2]
$ tamis compare a.tamis redis://localhost/set
tamis: compare works on files, not on sets at redis:// addresses
[2]
$ tamis compare redis://localhost/set a.tamis
tamis: compare works on files, not on sets at redis:// addresses
[2]
$ tamis compare a.tamis
tamis: compare: usage: tamis compare [OPTION...] FILTER FILTER; see 'tamis compare -h'
[2]
$ tamis compare a.tamis b.tamis c.tamis
tamis: compare: usage: tamis compare [OPTION...] FILTER FILTER; see 'tamis compare -h'
[2]
$ tamis compare a.tamis b.tamis > /dev/full
tamis: standard output: cannot write: No space left on device
[2]
