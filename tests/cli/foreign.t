# Filters of other programs, made by them (tests/golden/foreign).
$ cp "$TAMIS_SOURCE"/tests/golden/foreign/* . && for c in id name share; do cut -c 3- duckdb-$c.answers > $c; done

# Asked as they are, with the answers of their own programs.
$ cut -c 3- dcso.answers > asked; tamis check dcso.bloom asked > found; sed -n 's/^1 //p' dcso.answers | cmp - found
$ tamis check --from dcso -c dcso.bloom asked
386
$ cut -c 3- redisbloom-chain.answers | tamis check -v redisbloom-chain.dump | head -n 2
item-1-357228733
item-1-961616757
$ cut -c 3- redisbloom-chain.answers | tamis check -c redisbloom-chain.chunks
60
$ cut -c 3- guava-long.answers | tamis check --from guava --type int64 -c guava-long.guava; grep -c ^1 guava-long.answers
229
229
$ cut -c 3- guava-utf16.answers | tamis check --from guava --type utf16 -c guava-utf16.guava; grep -c ^1 guava-utf16.answers
230
230
$ tamis check --json dcso.bloom asked
{"filter": "dcso.bloom", "lines": 900, "maybe": 386, "absent": 514, "fpr_now": 0.12184387108}
$ echo no-such-key-at-all | tamis check dcso.bloom
[1]

# Compressed files are recognized by their content.
$ gzip -k dcso.bloom; tamis check -c dcso.bloom.gz asked; tamis convert --to dcso -o plain.bloom dcso.bloom.gz && cmp plain.bloom dcso.bloom
386

# Parquet files: a column, in any row group.
$ tamis info duckdb.parquet
duckdb.parquet: Parquet file with 11 Bloom filters
  row group  column               type          values  filter
          0  id                   int64          2,048  128 bytes at 5,368, wrong 0.684 % (1 in 146)
          0  small                int32          2,048  64 bytes at 5,512, wrong 0.735 % (1 in 136)
          0  name                 string         2,048  256 bytes at 5,592, wrong 1.82 % (1 in 55)
          0  share                double         2,048  32 bytes at 5,864, wrong 7.93 % (1 in 13)
          0  mark                 float          2,048  32 bytes at 5,911, wrong 0.00334 % (1 in 29,926)
          0  tag                  string         2,048  32 bytes at 5,958, wrong 0.263 % (1 in 380)
          1  id                   int64          2,048  128 bytes at 6,005, wrong 0.684 % (1 in 146)
          1  small                int32          2,048  64 bytes at 6,149, wrong 0.735 % (1 in 136)
          1  name                 string         2,048  256 bytes at 6,229, wrong 1.82 % (1 in 55)
          1  share                double         2,048  32 bytes at 6,501, wrong 7.93 % (1 in 13)
          1  mark                 float          2,048  32 bytes at 6,548, wrong 0.00334 % (1 in 29,926)
          1  tag                  string         2,048  no filter
$ tamis check --column name -c duckdb.parquet name; tamis check --column id -c duckdb.parquet id; tamis check --column share -c duckdb.parquet share
208
102
85
$ tamis check duckdb.parquet name
tamis: duckdb.parquet: several columns have Bloom filters; choose one with --column, for example --column id
[2]
$ tamis check --column nothing duckdb.parquet name
tamis: duckdb.parquet: there is no column 'nothing'
[2]
$ tamis check --column name --type int64 duckdb.parquet name
tamis: --type: column 'name' has the type string
[2]
$ tamis check --column id duckdb.parquet name
tamis: name: line 1: 'user-0' is not valid int64
[2]
$ tamis check --column id --row-group 7 duckdb.parquet id
tamis: duckdb.parquet: there is no column 'id' in that row group
[2]
$ tamis check --column id --row-group x duckdb.parquet id
tamis: --row-group: 'x' is not a number
[2]
$ tamis check --json --column name duckdb.parquet name
{"filter": "duckdb.parquet", "lines": 600, "maybe": 208, "absent": 392, "fpr_now": 0.0360988681807}

# A row group without a filter may hold anything: never a "no".
$ echo never-there | tamis check --column tag duckdb.parquet
tamis: duckdb.parquet: a row group has no Bloom filter for column 'tag', so every line may be in it
never-there
$ echo never-there | tamis check --column tag --row-group 0 duckdb.parquet
[1]

# The encoding is named, never guessed.
$ tamis check guava-long.guava asked
tamis: guava-long.guava: not a Tamis file
[2]
$ tamis check --from guava guava-long.guava asked
tamis: a guava filter does not record the type of its keys; give --type, which is one of string, utf16, int32, int64, uint32, uint64, float, double, hex
[2]
$ tamis check --from guava --type long guava-long.guava asked
tamis: --type: unknown type 'long'; the types are string, utf16, int32, int64, uint32, uint64, float, double, hex
[2]
$ printf '12\n1.5\n' | tamis check --from guava --type int64 guava-long.guava
tamis: standard input: line 2: '1.5' is not valid int64
[2]
$ printf '99999999999\n' | tamis check --column small duckdb.parquet
tamis: standard input: line 1: '99999999999' is not valid int32
[2]
$ printf '\377\n' | tamis check --from guava --type utf16 guava-utf16.guava > out; echo $?
tamis: standard input: line 1: '\xff' is not valid UTF-8 text
2

# Bits unchanged in another container.
$ tamis convert --to redisbloom -o chain redisbloom-chain.dump && cmp chain redisbloom-chain.chunks
$ tamis convert --to redisbloom-dump -o - chain | tamis convert --from redisbloom --to redisbloom -o again - ; cmp again chain
$ tamis convert --to parquet --column name --row-group 1 -o name.filter duckdb.parquet && tamis info name.filter
name.filter: Parquet split-block filter
  items     by the bits about 207 distinct
  wrong     1.82 % (1 in 55) of never-added keys get a maybe now
  bits      54.7 % of 2,048 set, in 256 bytes; k = 8
  hash      xxh64, seed 0
  keys      the file does not record their type; give --type
$ tamis convert --to parquet --column name -o x duckdb.parquet
tamis: duckdb.parquet: the column has a filter in each row group; choose one with --row-group, for example --row-group 0
[2]
$ tamis convert --to parquet --column tag --row-group 1 -o x duckdb.parquet
tamis: duckdb.parquet: column 'tag' has no Bloom filter
[2]

# What cannot be converted says why.
$ tamis convert --to guava -o x dcso.bloom
tamis: dcso.bloom: its bits were set with the hash of dcso, not with that of guava; build it again from the keys
[2]
$ tamis convert --to bloom -o x dcso.bloom
tamis: dcso.bloom: its bits were set with another program's hash; build the filter from the keys with 'tamis build --kind bloom'
[2]
$ tamis build -q -o ours.tamis asked; tamis convert --to dcso -o x ours.tamis
tamis: ours.tamis: its bits were not set with the hash of dcso; build the filter from the keys with 'tamis build --to dcso'
[2]
$ tamis convert --to nonsense -o x dcso.bloom
tamis: --to: unknown format 'nonsense'; the formats are parquet, dcso, redisbloom, redisbloom-dump and guava
[2]
$ tamis convert --from nonsense --to dcso -o x dcso.bloom
tamis: --from: unknown format 'nonsense'; the formats are parquet, dcso, redisbloom, redisbloom-dump and guava
[2]
$ tamis convert --from guava --to guava -o x dcso.bloom
tamis: dcso.bloom: this Guava filter has no probes
[2]
$ tamis add dcso.bloom asked
tamis: dcso.bloom: this filter belongs to another program; only check, info and convert accept it
[2]
$ tamis verify dcso.bloom
tamis: dcso.bloom: this filter belongs to another program; only check, info and convert accept it
[2]

# Built for other programs.
$ seq -f 'key-%.0f' 1 300 > keys; tamis build --to dcso --fpr 0.1 -o ours.bloom keys; head -c 232 dcso.bloom | cmp - ours.bloom
$ seq 1 1000 | tamis build --to guava --type int64 --items 1000 -o ours.guava; seq 1 1000 | tamis check --from guava --type int64 -vc ours.guava
0
[1]
$ seq 1 1000 | tamis build --to redisbloom-dump --items 1000 -o ours.dump; tamis info ours.dump
ours.dump: RedisBloom filter, as a DUMP
  items     999 of 1,000 planned, by its own count
            by the bits about 991 distinct
  wrong     0.468 % (1 in 214) of never-added keys get a maybe now; planned 1 % (1 in 100)
  bits      51.1 % of 11,072 set, in 1,384 bytes; k = 8
  hash      two of MurmurHash64A
  keys      any bytes
$ seq 0 1000003 99000297 > ids; tamis build --to parquet --type int64 --fpr 0.1 -fo ids.filter ids; tamis convert --to parquet --column id --row-group 0 -o - duckdb.parquet | cmp - ids.filter
$ tamis build --to dcso --headroom 50% -o roomy.bloom keys; tamis info roomy.bloom | grep items
  items     300 of 450 planned, by its own count
$ seq 1 1000 | tamis build --to redisbloom --items 10 -o x
tamis: x: there are more lines than --items, and a RedisBloom filter accepts no more than that
[2]
$ seq 1 1000 | tamis build --to dcso --items 100 -o over.bloom
tamis: over.bloom: not written: it would hold about 939 items, planned for 100; its false-positive rate would be 99.3 %, planned 1.02 % (1 in 98)
tamis: over.bloom: give more --items; --overfill writes it anyway
[2]
$ seq 1 1000 | tamis build --to dcso -o x
tamis: --to dcso: give --items, because the lines of a stream can be read only once
[2]
$ seq 1 1000 | tamis build --to parquet --items 1000 -o x
tamis: a parquet filter does not record the type of its keys; give --type, which is one of string, utf16, int32, int64, uint32, uint64, float, double, hex
[2]
$ tamis build --to dcso --kind ribbon -o x keys
tamis: --to dcso: --kind is not available for filters of other programs
[2]
$ tamis build --type int64 -o x keys
tamis: --type requires --to, because it is for filters of other programs
[2]
$ tamis build --to dcso -o ours.bloom keys
tamis: ours.bloom: already exists; use -f to replace it
[2]

# One item is what the first bytes of a DCSO filter say, too.
$ seq 1 | tamis build --to redisbloom --items 1000 -o one.chunks; echo 1 | tamis check one.chunks
1

# Damage.
$ head -c 200 dcso.bloom > cut.bloom; tamis info cut.bloom
tamis: cut.bloom: this DCSO filter is truncated
[2]
$ head -c 7000 duckdb.parquet > cut.parquet; tamis info cut.parquet
tamis: cut.parquet: not a complete Parquet file: PAR1 is missing at one end
[2]
$ head -c 200 redisbloom-default.dump > cut.dump; tamis check cut.dump asked
tamis: cut.dump: this Redis DUMP is truncated or damaged
[2]
$ head -c 150 redisbloom-default.chunks > cut.chunks; tamis check cut.chunks asked
tamis: cut.chunks: this RedisBloom filter is truncated; are all chunks of SCANDUMP there?
[2]
$ head -c 100 dcso.bloom.gz > cut.gz; tamis info --from dcso cut.gz
tamis: cut.gz: cannot read: gzip data ends too early
[2]
$ tamis info --from dcso no-such-file
tamis: no-such-file: cannot read: No such file or directory
[2]
$ tamis check ours.tamis --column x asked
tamis: ours.tamis: --type, --column and --row-group require a filter of another program
[2]

# A line that is not a number ends the command, without a count of some lines. Lines have numbers
# only if all of them are keys.
$ seq 100 > hundred; tamis build --to guava --type int64 -o hundred.guava hundred
$ (echo x; seq 10) | tamis check --from guava --type int64 -c hundred.guava
tamis: standard input: line 1: 'x' is not valid int64
[2]
$ printf '1\t5\nonly\n2\tx\n' | tamis check --from guava --type int64 --field 2 -c hundred.guava
tamis: standard input: line 3: 'x' is not valid int64
[2]
$ printf 'name,id\n"two\nlines",5\nann,x\n' | tamis check --from guava --type int64 --csv --header --field id -c hundred.guava
tamis: standard input: line 4: 'x' is not valid int64
[2]
