# Room for lines to come.
$ seq 10000 > list; seq 10001 13000 > more; seq 10001 40000 > many
$ tamis build --headroom 50% -o f.tamis list; tamis add f.tamis more; tamis info --json f.tamis | grep -o '"planned_items": [0-9]*'
"planned_items": 15000
$ cat list more | tamis check -vc f.tamis
0
[1]
$ tamis build --headroom 2 -f -o f.tamis < list; tamis info --json f.tamis | grep -o '"planned_items": [0-9]*'
"planned_items": 30000
$ tamis build --headroom 50% --items 5 -f -o f.tamis list
tamis: --headroom is for lines that are counted; with --items, give a bigger number
[2]
$ tamis build --headroom 50% --kind ribbon -f -o f.tamis list
tamis: --headroom has no use for a sealed filter, to which nothing can be added
[2]
$ tamis build --headroom 50% --static -f -o f.tamis list
tamis: --headroom has no use for a sealed filter, to which nothing can be added
[2]
$ tamis build --headroom 50% --kind growing -f -o f.tamis list
tamis: --headroom has no use for a kind that grows
[2]
$ tamis build --headroom 0 -f -o f.tamis list
tamis: --headroom: '0' is not a share, like 50% or 0.5
[2]
$ tamis build --headroom -1 -f -o f.tamis list
tamis: --headroom: '-1' is not a share, like 50% or 0.5
[2]

# At servers, --headroom has the same conditions, and there is no --grow.
$ tamis build --headroom 50% --kind ribbon -o redis://localhost:1/x list
tamis: --headroom has no use for a sealed filter, to which nothing can be added
[2]
$ tamis add --grow --from list redis://localhost:1/x more
tamis: add: with redis://: --grow and --from work only with files
[2]

# add --grow builds a filter again when it has no room, from the list and the new lines.
$ for kind in blocked bloom partitioned counting cuckoo; do tamis build -f --kind $kind -o f.tamis list; tamis add --grow --from list f.tamis many; cat list many | tamis check -vc f.tamis; done
tamis: f.tamis: built again, with room for 60,000 lines
0
tamis: f.tamis: built again, with room for 60,000 lines
0
tamis: f.tamis: built again, with room for 60,000 lines
0
tamis: f.tamis: built again, with room for 60,000 lines
0
tamis: f.tamis: built again, with room for 60,000 lines
0
[1]
$ tamis add --grow --from list f.tamis more; tamis info --json f.tamis | grep -o '"planned_items": [0-9]*'
"planned_items": 60000
$ for kind in ribbon fuse; do tamis build -f --kind $kind -o f.tamis list; tamis add --grow --from list f.tamis more; cat list more | tamis check -vc f.tamis; seq 100000 200000 | tamis check -c f.tamis > wrong; test $(cat wrong) -lt 1500; done
tamis: f.tamis: built again, with room for 13,000 lines
0
tamis: f.tamis: built again, with room for 13,000 lines
0
$ tamis build -f --kind growing -o f.tamis list; tamis add --grow f.tamis many; cat list many | tamis check -vc f.tamis
0
[1]
$ tamis build -f --seed 7 --encoding int64le -o f.tamis list; seq 10001 40000 | tamis add -q --grow --from list f.tamis; tamis info f.tamis | grep -E 'seed|encoding|keys'; seq 40000 | tamis check -vc f.tamis
  wrong     0.125 % (1 in 800) of never-added keys get a maybe now; planned 0.998 % (1 in 100)
  keys      int64le, 8 bytes each
  hash      xxh3-128, seed 7
0
[1]
$ tamis key new k > id; tamis build -f --key-file k -o f.tamis list; tamis add -q --key-file k --grow --from list f.tamis many; seq 40000 | tamis check --key-file k -vc f.tamis
0
[1]

# The new filter has the options of the old one: layout, k, counters, and the rest.
$ echo 1 > list1; for options in '--kind bloom --for-transfer' '--kind bloom --k 3' '--kind partitioned --k 5' '--kind blocked --compact' '--kind blocked --compact --k 5' '--kind counting --inner blocked' '--kind counting --counter-bits 8' '--kind fuse --k 4' '--kind bloom --bytes 20000 --for-transfer' '--kind blocked --strict' '--kind blocked --compact --key-file k --encoding text'; do case $options in *key*) key='--key-file k';; *) key=;; esac; tamis build -q -f $options -o f.tamis list; tamis build -q -f --items 60000 $options -o big.tamis list1; tamis add -q $key --grow --from list f.tamis many; for f in f big; do tamis info --json $f.tamis | grep -o '"\(k\|kind\|cell_bits\|strict\|encoding\|keyed\|key_id\)": [^,]*'; done | sort | uniq -c | grep -v ' 2 '; tamis info --json f.tamis | grep -o '"\(m\|k\)": [0-9]*' | paste -sd ' '; tamis check $key -vc f.tamis list; done
"m": 5970048 "k": 1
0
"m": 741888 "k": 3
0
"m": 118195 "k": 5
0
"m": 595456 "k": 6
0
"m": 608768 "k": 5
0
"m": 650880 "k": 6
0
"m": 575584 "k": 7
0
"m": 46592 "k": 4
0
"m": 947712 "k": 1
0
"m": 606208 "k": 8
0
"m": 595456 "k": 6
0
[1]

# A list that lacks a single line changes nothing, whatever the kind.
$ sed 5000d list > short; for kind in blocked bloom partitioned counting cuckoo ribbon fuse; do tamis build -f --kind $kind -o f.tamis list; cp f.tamis before; tamis add --grow --from short f.tamis many; cmp f.tamis before; done
tamis: short: --from lacks about 1 of the 9,981 lines of the filter, which would be lost
tamis: short: --from lacks about 1 of the 10,017 lines of the filter, which would be lost
tamis: short: --from lacks about 1 of the 10,003 lines of the filter, which would be lost
tamis: short: --from lacks about 1 of the 10,000 lines of the filter, which would be lost
tamis: short: --from lacks about 1 of the 10,000 lines of the filter, which would be lost
tamis: short: --from lacks about 1 of the 10,000 lines of the filter, which would be lost
tamis: short: --from lacks about 1 of the 10,000 lines of the filter, which would be lost
$ tamis build -f -o f.tamis list; cp f.tamis before; head -n 5000 list > half; tamis add --grow --from half f.tamis many; cmp f.tamis before
tamis: half: --from lacks about 4,988 of the 9,981 lines of the filter, which would be lost
$ cat list list > twice; for kind in blocked cuckoo counting; do tamis build -f --items 30000 --kind $kind -o f.tamis twice; cp f.tamis before; cat short short many | tamis add --grow --from short f.tamis; cmp f.tamis before; done
tamis: short: --from lacks about 1 of the 9,954 lines of the filter, which would be lost
tamis: short: --from lacks about 10,001 of the 20,000 lines of the filter, which would be lost
tamis: short: --from lacks about 10,001 of the 20,000 lines of the filter, which would be lost
$ tamis build -f --items 30000 --kind cuckoo -o f.tamis twice; tamis add --grow --from twice f.tamis many; seq 40000 | tamis check -vc f.tamis
tamis: f.tamis: built again, with room for 75,000 lines
0
[1]

# Filters from which lines can be removed: each line of the list stands for one copy. A list that
# lacks a copy changes nothing, and a copy that was removed stays removed.
$ (seq 1000; echo 7) > again; seq 1000 > once; seq 2001 4000 > further
$ for kind in counting cuckoo; do tamis build -f --kind $kind -o k again; tamis add --grow --from once k further; echo 7 | tamis remove k; echo 7 | tamis check -c k; done
tamis: once: --from lacks about 1 of the 1,001 lines of the filter, which would be lost
1
tamis: once: --from lacks about 1 of the 1,001 lines of the filter, which would be lost
1
$ for kind in counting cuckoo; do tamis build -f --kind $kind -o k again; echo 7 | tamis remove k; tamis add --grow --from again k further; echo 7 | tamis remove k; echo 7 | tamis check -c k; done
tamis: k: built again, with room for 4,501 lines
0
tamis: k: built again, with room for 4,501 lines
0
[1]
$ for kind in counting cuckoo; do tamis build -f --kind $kind -o k again; tamis add --grow --from again k further; echo 7 | tamis remove k; echo 7 | tamis check -c k; done
tamis: k: built again, with room for 4,501 lines
1
tamis: k: built again, with room for 4,501 lines
1

# A saturated counter stays saturated: its line is never missed, however often the list has it.
$ for i in $(seq 20); do seq 50; done > often; tamis build -f --kind counting -o k often; tamis add --grow --from once k further; for i in $(seq 20); do seq 50; done | tamis remove -q k; seq 50 | tamis check -vc k
tamis: k: built again, with room for 4,500 lines
0
[1]

# Lines of the list that the filter does not have are left out, so what was removed stays removed.
$ for kind in cuckoo counting; do tamis build -f --kind $kind -o f.tamis list; seq 4000 4999 | tamis remove -q f.tamis; tamis add --grow --from list f.tamis many; seq 4000 4999 | tamis check -c f.tamis > kept; test $(cat kept) -lt 50; seq 3999 | tamis check -vc f.tamis; done
tamis: f.tamis: built again, with room for 60,000 lines
0
tamis: f.tamis: built again, with room for 60,000 lines
0
[1]

# No filter of another kind can become a growing one.
$ for kind in bloom blocked partitioned counting pair window cuckoo ribbon fuse; do tamis build -f --kind $kind -o f.tamis more; tamis convert --to growing -o grown.tamis f.tamis; done; ls grown.tamis
tamis: f.tamis: no growing filter gives the same answers as this bloom filter
tamis: f.tamis: no growing filter gives the same answers as this blocked filter
tamis: f.tamis: no growing filter gives the same answers as this partitioned filter
tamis: f.tamis: no growing filter gives the same answers as this counting filter
tamis: f.tamis: no growing filter gives the same answers as this pair filter
tamis: f.tamis: no growing filter gives the same answers as this window filter
tamis: f.tamis: no growing filter gives the same answers as this cuckoo filter
tamis: f.tamis: no growing filter gives the same answers as this ribbon filter
tamis: f.tamis: no growing filter gives the same answers as this fuse filter
ls: cannot access 'grown.tamis': No such file or directory
[2]

# Nothing is lost by a list that is not there.
$ tamis build -f -o f.tamis list; cp f.tamis before
$ tamis add --grow f.tamis many; tamis add --from list f.tamis many; cmp f.tamis before
tamis: f.tamis: unchanged: --grow requires --from FILE, the lines from which it was built, because a filter does not keep them
tamis: add: --from requires --grow
$ tamis add --grow --from missing f.tamis many; cat list | tamis add --grow --from - f.tamis many; cmp f.tamis before
tamis: missing: --from: cannot read: No such file or directory
tamis: -: --from: this must be a file with lines, because it is read twice
$ tamis build -f --kind ribbon -o r.tamis list; cp r.tamis before; tamis add --grow --from half r.tamis more; cmp r.tamis before
tamis: half: --from lacks about 5,000 of the 10,000 lines of the filter, which would be lost

# A sketch is never full, so there is nothing to do. A window and a pair have other ways out.
$ tamis count -o c.tamis list; tamis add --grow --from list c.tamis more && echo 10001 | tamis freq c.tamis; tamis distinct -q -o d.tamis list; tamis add --grow d.tamis more && tamis distinct d.tamis; tamis distinct -q --generations 3 -o dw.tamis list; tamis add --grow dw.tamis more && tamis distinct dw.tamis
         1  1..1              10001
12987
12987
$ for kind in window pair; do tamis build -f --kind $kind -o w.tamis list; tamis add --grow --from list w.tamis more; done; tamis build --never more -q -o e.tamis list; tamis add --grow --from list e.tamis more; tamis build --kind bloom --k 1 -q -o p.tamis list; tamis release --epsilon 3 -q -o released.tamis p.tamis; tamis add --grow --from list released.tamis more
tamis: w.tamis: unchanged: --grow cannot build a filter of kind window again; 'tamis rotate' makes room by forgetting the oldest lines, and --overfill, without --grow, adds beyond the plan
tamis: w.tamis: unchanged: --grow cannot build a filter of kind pair again; 'tamis compact' makes room for lines in place of removed ones, and --overfill, without --grow, adds beyond the plan
tamis: e.tamis: unchanged: --grow cannot build a filter of kind exact again; build it from all lines, with --never: tamis build
tamis: released.tamis: unchanged: --grow cannot build a filter of kind private again; add the lines to the filter that it was made from
[2]

# Writers wait for each other until the new file is in place: no line of any of them is lost.
$ seq 3099 > all; seq 99 | tamis build -q --items 100 -o g.tamis; for i in $(seq 30); do seq $((i * 100)) $((i * 100 + 99)) | tamis add -q --grow --from all g.tamis & done; wait; tamis check -vc g.tamis all
0
[1]

# A single missing line is noticed with a probability of 99 %. Fewer than 180 of 200 would have a
# probability below 1e-12.
$ seq 1000 > k; seq 1001 3000 > new; tamis build -q -o k.tamis k; for i in $(seq 5 5 1000); do sed ${i}d k > lacks; cp k.tamis try.tamis; tamis add -q --grow --from lacks try.tamis new 2>/dev/null; echo $?; done | grep -c 2
195

# A header is not a line: the filter has room for just the others, from files and from a stream.
$ (echo id; seq 1000) > h1; (echo id; seq 1001 1005) > h2; : > nothing; for lines in h1 'h1 h2' 'h1 h2 nothing'; do tamis build -f --csv --header --field id -o h.tamis $lines; tamis info --json h.tamis | grep -o '"planned_items": [0-9]*'; done; tamis build -f --csv --header --field id -o h.tamis < h1; tamis info --json h.tamis | grep -o '"planned_items": [0-9]*'
"planned_items": 1000
"planned_items": 1005
"planned_items": 1005
"planned_items": 1000
$ printf 'id,note\n1,"two\nlines"\n2,"x\n\n"\n3\n"' > h4; for field in id note; do tamis build -f --csv --header --field $field -q -o r.tamis h4 h4; tamis info --json r.tamis | grep -o '"planned_items": [0-9]*'; done
"planned_items": 6
"planned_items": 4
$ (echo id; seq 2001 4000) > h3; tamis add --grow --csv --header --field id --from h1 h.tamis h3
tamis: h.tamis: built again, with room for 4,500 lines
