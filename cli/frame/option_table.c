/* The table of options. A command takes those that its row in commands.c names; own_options.c has
 * the exceptions of commands. */
#include "options.h"

const struct option options[] = {
    {'n', "items", "N", COUNT, FILTER, AT(plan.items),
     "expected number of distinct items (1000000, 1M, 1e6)"},
    {'p', "fpr", "RATE", RATE, FILTER, AT(plan.fpr), "false-positive rate (0.01, 1%, 1/100)"},
    {'b', "bytes", "B", COUNT, FILTER, AT(plan.bytes),
     "size of the whole file in bytes (2000000, 2MB, 2MiB)"},
    {0, "kind", "KIND", TEXT, FILTER, AT(plan.kind),
     "kind of filter (default: blocked). Lines can be added: blocked, bloom, partitioned. "
     "Lines can also be removed: counting, cuckoo, pair (which can miss members). Grows with "
     "its lines: growing (with --removable they can also be removed). Forgets old lines: window. "
     "Sealed, so it never changes, and smallest: ribbon, fuse, exact. Keeps a value for each key: "
     "map. auto chooses blocked or bloom. A sketch that counts distinct lines: distinct. 'tamis "
     "help kinds' compares them"},
    {0, "inner", "KIND", TEXT, DETAILS, AT(plan.inner),
     "kind of the filters inside a window or a pair: blocked (default), bloom or partitioned, and "
     "for a window also distinct. For a counting filter, the layout of its counters: bloom "
     "(default) or blocked, with one cache line for each key"},
    {0, "error", "E", RATE, FILTER, AT(plan.error),
     "largest error of a count, except with probability --delta (for example 1e-4). count-min: "
     "counts are too high by at most E times the total weight of all lines. count-sketch: counts "
     "are wrong by at most E times the square root of the sum of all squared counts"},
    {0, "delta", "D", RATE, DETAILS, AT(plan.delta),
     "probability that a count is off by more than --error (for example 1%)"},
    {0, "conservative", NULL, FLAG, DETAILS, AT(plan.conservative),
     "count-min: half the error, but nothing can be subtracted or removed"},
    {0, "counter-bits", "N", COUNT, DETAILS, AT(plan.counter_bits),
     "bits of each counter of a counting filter: 4 (default), 8 or 16"},
    {0, "generations", "N", COUNT, FILTER, AT(plan.generations),
     "number of generations of a window (default 4)"},
    {0, "turning", NULL, FLAG, DETAILS, AT(plan.turning),
     "let the window rotate by itself when its newest generation is full (default: only 'tamis "
     "rotate' rotates it)"},
    {0, "removable", NULL, FLAG, FILTER, AT(plan.removable),
     "growing, which it makes the default: lines can also be removed. Each line then takes room as "
     "often as it is added, up to 7 times, and the file has at least 15 KB at 1 %"},
    {0, "static", NULL, FLAG, FILTER, AT(plan.is_static),
     "make a sealed filter: small, but it never changes. Its kind is chosen: the smallest "
     "one, or the one with the lowest rate if --bytes is given without --fpr. The choice is "
     "printed on standard error"},
    {0, "headroom", "SHARE", SHARE, FILTER, AT(plan.headroom),
     "leave room for more lines than are counted (50%). Without it the filter has room "
     "for the counted lines only"},
    {0, "grow", NULL, FLAG, FILTER, AT(plan.grow),
     "if it is full, build it again from --from and the lines. It then has at "
     "least twice the room. A sealed filter is always built again, a growing one or a sketch "
     "never. No filter can become a growing one without its lines"},
    {0, "never", "FILE", TEXTS, FILTER, AT(plan.never),
     "file of lines that are not members, for which the answer must never be maybe: makes an exact "
     "filter. May be repeated"},
    {0, "never-items", "N", COUNT, FILTER, AT(plan.never_items),
     "exact: number of lines that will be given with --never"},
    {0, "to", "KIND", TEXT, FOREIGN, AT(foreign.to),
     "what to convert to: bloom, from a counting filter; or the format of another program: "
     "parquet, dcso, redisbloom (the data of SCANDUMP's chunks, concatenated), redisbloom-dump "
     "(for RESTORE), guava"},
    {0, "from", "FORMAT", TEXT, FOREIGN, AT(foreign.from),
     "format of another program's filter. Only guava must be named; parquet, dcso, redisbloom "
     "and redisbloom-dump are recognised by their content"},
    {0, "type", "TYPE", TEXT, FOREIGN, AT(foreign.type),
     "type of the lines in another program's filter: string, utf16, int32, int64, uint32, "
     "uint64, float, double, hex (bytes in hexadecimal)"},
    {0, "column", "NAME", TEXT, FOREIGN, AT(foreign.column), "column of a Parquet file"},
    {0, "row-group", "N", TEXT, FOREIGN, AT(foreign.row_group),
     "only this row group of a Parquet file, counted from 0 (default: all)"},
    {'f', "patterns", "FILE", TEXTS, FILTER, AT(check.patterns),
     "compare with the lines of FILE, which is exact. Then there is no filter; grep -Fxf does "
     "the same. With --fpr or --bytes, only a filter of these lines is kept in memory, and "
     "the answer is no longer exact. May be repeated"},
    {0, "confirm", "FILE", TEXT, FILTER, AT(check.confirm),
     "look up every maybe in FILE, which is exact. FILE is the list from which the filter was "
     "built: a file of lines, or an LMDB whose keys are the lines. A file of lines is read "
     "once after the input, and also each time that the maybes fill --memory. All keys of an "
     "LMDB are read before the first line, about ten million per second, and again when it "
     "has changed"},
    {'n', "number", "N", COUNT, OUTPUT, AT(top.most),
     "how many lines to list (default 10; with --min all)"},
    {0, "min", "RATE", RATE, OUTPUT, AT(top.min),
     "list every line with at least this share of all (0.1%). If the sketch is too small for "
     "a complete list, top fails and names a size that suffices"},
    {0, "live", NULL, FLAG, OUTPUT, AT(top.live),
     "update the list on the terminal while lines arrive. Ctrl-C ends the input and prints the "
     "list as it is then"},
    {'o', "output", "FILE", TEXT, OUTPUT, AT(output.path), "file to write; - for standard output"},
    {'f', "force", NULL, FLAG, OUTPUT, AT(output.force), "replace the output file if it exists"},
    {'v', "invert", NULL, FLAG, OUTPUT, AT(select.invert), "print the absent lines instead"},
    {'c', "count", NULL, FLAG, OUTPUT, AT(select.count),
     "print only the number of selected lines. It is the sum over all inputs"},
    {0, "total", NULL, FLAG, OUTPUT, AT(select.total),
     "print only the number of lines that would be printed"},
    {'1', "no-first", NULL, FLAG, OUTPUT, AT(diff.no_first), "suppress column 1: lines only in A"},
    {'2', "no-second", NULL, FLAG, OUTPUT, AT(diff.no_second),
     "suppress column 2: lines only in B"},
    {'3', "no-common", NULL, FLAG, OUTPUT, AT(diff.no_common), "suppress column 3: lines in both"},
    {'n', "line-number", NULL, FLAG, OUTPUT, AT(select.numbers),
     "print before each line its number in its file"},
    {'H', "with-filename", NULL, FLAG, OUTPUT, AT(select.names),
     "print before each line the name of its file"},
    {'l', "files-with-matches", NULL, FLAG, OUTPUT, AT(select.only_names),
     "print only the names of files that have selected lines"},
    {'m', "max-count", "N", COUNT, OUTPUT, AT(select.most_lines),
     "stop after N selected lines, over all inputs"},
    {'q', "quiet", NULL, FLAG, OUTPUT, AT(quiet),
     "print no results and no progress. Errors are still printed, and the exit status shows the "
     "result"},
    {'z', "null", NULL, FLAG, INPUT, AT(lines.nul), "lines end with a NUL byte, not a newline"},
    {0, "raw", NULL, FLAG, INPUT, AT(lines.raw),
     "read the input as it is. Otherwise gzip, zstd, bzip2 and xz are decompressed"},
    {0, "csv", NULL, FLAG, INPUT, AT(lines.csv),
     "read CSV (RFC 4180), with commas or -t between fields. Fields in quotes may contain "
     "delimiters, line ends and doubled quotes. Without --field, the key is the record as it is "
     "written"},
    {0, "tsv", NULL, FLAG, INPUT, AT(lines.tsv), "the same as --csv, with tabs between fields"},
    {0, "header", NULL, FLAG, INPUT, AT(lines.header),
     "the first line of each file names its columns. It is not an item; --field and the like "
     "accept its names (a number is a name only if there are fewer columns), and where lines are "
     "printed, so is the header"},
    {0, "jsonl", NULL, FLAG, INPUT, AT(lines.jsonl),
     "read one JSON value per line, and the --field in it. A field is a path, such as user.id or "
     "tags.0; \\. is a dot in a name. The key is the text of a string, a number or a boolean. "
     "Lines "
     "without the value, or with null, are skipped; their number is printed on standard error"},
    {0, "crlf", NULL, FLAG, INPUT, AT(lines.crlf),
     "lines may end as on Windows: a carriage return before the line end is not part of the line"},
    {0, "strict-input", NULL, FLAG, INPUT, AT(lines.strict),
     "fail at the first line that cannot be read, instead of skipping it: if it has too few "
     "fields, a bad weight or no value, is not CSV or JSON, or ends with a carriage return "
     "although --crlf was not given. A file in UTF-16 is an error as well"},
    {0, "field", "N", COLUMN, INPUT, AT(lines.field),
     "use field N of each line as the key, counted from 1. With --header or --jsonl, it may be a "
     "name. In JSON lines, a number is an index of an array, counted from 0. Lines with fewer "
     "fields are skipped; their number is printed on standard error"},
    {'t', "delimiter", "C", DELIMITER, INPUT, AT(lines.delimiter),
     "separator of fields: one byte or blanks (default: tab). blanks stands for any number of "
     "spaces and tabs, as in awk"},
    {0, "by", "N", COLUMN, INPUT, AT(lines.group_field),
     "count the distinct lines of each group separately; field N of a line, counted from 1, is its "
     "group. Lines with fewer fields are skipped; their number is printed on standard error"},
    {0, "interval", NULL, FLAG, OUTPUT, AT(interval),
     "also print the 99 % confidence interval. A line of output is then the number, a tab, "
     "and LOWER..UPPER. If the number is exact, both are equal to it"},
    {0, "list-field", "N", COLUMN, INPUT, AT(lines.list_field),
     "use only field N of each line of the list that -f or --confirm names"},
    {0, "value-field", "N", COLUMN, INPUT, AT(lines.value_field),
     "use field N of each line as the value of its key: a whole number of at most 32 bits"},
    {0, "value-bits", "R", COUNT, DETAILS, AT(plan.counter_bits),
     "bits of a value, 1 to 32 (default: as many as the largest value needs)"},
    {0, "weight-field", "N", COLUMN, INPUT, AT(lines.weight_field),
     "count each line as often as its field N states. The field must be a whole number; "
     "without this option each line counts 1. A - counts 0, as in Apache's logs. Lines with "
     "anything else in this field are skipped; their number is printed on standard error"},
    {0, "json", NULL, FLAG, OUTPUT, AT(json), "print JSON"},
    {0, "seed", "S", SEED, DETAILS, AT(plan.seed),
     "seed of the hash (default 0). Only filters with equal seeds can be merged"},
    {0, "encoding", "ENC", TEXT, DETAILS, AT(plan.encoding),
     "state in the file how lines become keys: text (the line as it is), int64le (a decimal "
     "integer "
     "becomes 8 bytes, little-endian, signed), or fixed:N (every line has N bytes). Other commands "
     "then follow it. By default nothing is stated, and keys are text"},
    {0, "key-file", "FILE", TEXT, FILTER, AT(key.file),
     "file with a secret key, made by 'tamis key new'. It has 16 bytes or 32 hex digits, and "
     "nobody else may read it. Use one if strangers can choose the lines"},
    {0, "strict", NULL, FLAG, DETAILS, AT(plan.strict),
     "make a filter that refuses items beyond the "
     "planned number"},
    {0, "overfill", NULL, FLAG, OUTPUT, AT(output.overfill),
     "write the filter even if its false-positive rate is more than twice the planned one"},
    {0, "compact", NULL, FLAG, DETAILS, AT(plan.compact),
     "make a blocked filter slightly smaller and "
     "slower"},
    {0, "for-transfer", NULL, FLAG, DETAILS, AT(plan.for_transfer),
     "make a bloom filter that will be packed ('tamis pack'): bigger as it is, but smaller when "
     "packed"},
    {0, "m", "M", COUNT, DETAILS, AT(plan.m),
     "number of bits (partitioned: in each row), of counters (counting), or of slots (cuckoo, "
     "growing)"},
    {0, "k", "K", COUNT, DETAILS, AT(plan.k),
     "number of probes per key (fuse: 3 or 4; growing: the fewest bits that are kept of a key)"},
    {0, "exact-until", "B", COUNT, FILTER, AT(uniq.exact_until),
     "keep a 128-bit hash of each line, which makes no error, until the hashes take B bytes; then "
     "use a filter"},
    {0, "state", "FILE", TEXT, FILTER, AT(uniq.state),
     "continue from FILE, and save the state there. If FILE does not exist yet, uniq begins "
     "without any line; the state is saved at the end"},
    {0, "window", "W", TEXT, FILTER, AT(uniq.window),
     "forget lines after W lines (1M) or after a time (5m). A number is that of distinct "
     "lines: the last W are remembered. With a time (30s, 5m, 1h, 1d), each line is "
     "remembered for that time and up to a third longer"},
    {0, "every", "TIME", SECONDS, FILTER, AT(rotate.every),
     "rotate as often as is due since the last time, if each generation covers TIME (5m, 1h). The "
     "epoch is the number of such periods since 1970. The first time, it is only recorded"},
    {0, "keys", "N", COUNT, LOOKUPS, AT(keys),
     "number of random keys to look up (default: as many as the rate needs)"},
    {0, "threads", "N", COUNT, WORK, AT(work.threads),
     "number of threads (default: one per processor)"},
    {0, "memory", "SIZE", COUNT, WORK, AT(work.memory),
     "memory for the keys of a ribbon while it is built, beside the filter itself: 64MiB or more "
     "(default: as much as the keys need). Further keys wait in a temporary file, 16 to 34 bytes "
     "each"},
    {0, "temp", "DIR", TEXT, WORK, AT(work.temp),
     "directory of the temporary file (default: $TMPDIR, or /tmp)"},
    {0, "ask", "WORD", TEXT, INPUT, AT(ask), "a word to look up after all words were added"},
    {0, "max-bytes", "B", COUNT, FILTER, AT(guard.max_bytes),
     "largest size of the filter in bytes (default 2000000)"},
    {0, "labels-in-filter", NULL, FLAG, FILTER, AT(guard.labelled),
     "keep a label of each expression in the filter, which clients show before they ask "
     "the server; not with --never"},
    {0, "lenient", NULL, FLAG, FILTER, AT(guard.lenient),
     "also accept a list that has no entry, or more lines left out than taken"},
    {0, "seckey", "KEY", TEXT, TRUST, AT(sign.seckey),
     "file of the secret key that signs, made by 'tamis key new --sign'; nobody else may read it"},
    {0, "pubkey", "KEY", TEXTS, TRUST, AT(sign.pubkeys),
     "file of a public key that must have signed the manifest; may be repeated. A version that is "
     "unsigned, wrongly signed, expired, or older than the last accepted one is refused"},
    {0, "sign", "KEY", TEXTS, TRUST, AT(sign.keys),
     "file of a secret key that signs the manifest; may be repeated, for a change of keys. Once "
     "a version is signed, the next ones must be signed as well"},
    {0, "expires", "TIME", SECONDS, TRUST, AT(sign.expires),
     "let clients that check signatures refuse this version after TIME (7d); needs --sign"},
    {0, "sources", "FILE", TEXT, INPUT, AT(guard.sources),
     "file with a label and a URL on each line. Lists in DIR that were downloaded for labels which "
     "it no longer has are removed"},
    {0, "port", "N", TEXT, SERVER, AT(guard.port),
     "port to listen at (default 8080); 0 means any free port"},
    {0, "address", "IP", TEXT, SERVER, AT(guard.address),
     "address to listen at (default 127.0.0.1), or the path of a Unix socket, which has a slash"},
    {0, "metrics-address", "IP:PORT", TEXT, SERVER, AT(guard.metrics_address),
     "address for /metrics alone, or the path of a Unix socket. Without it, /metrics is served "
     "beside the rest if --address is a loopback address and no proxy is trusted, and otherwise "
     "nowhere"},
    {0, "trust-proxy", "IP[/BITS]", TEXTS, SERVER, AT(guard.proxies),
     "proxy that names its clients in X-Forwarded-For, for the limits on one client; 'unix' "
     "stands for all that connect to a Unix socket. Nobody else is believed. May be repeated"},
    {0, "access-log", "FILE", TEXT, SERVER, AT(guard.access_log),
     "append a line for each answer to FILE, or to standard output if it is '-': time, route, "
     "status, bytes and seconds, never a URL or a prefix. SIGHUP opens the file again"},
    {0, "log-clients", "HOW", TEXT, SERVER, AT(guard.log_clients),
     "also log clients: 'network' for the first 24 bits of an IPv4 address or 48 of an IPv6 "
     "address, 'address' for all of it (default: no address)"},
    {0, "host-name", "NAME", TEXTS, SERVER, AT(guard.host_names),
     "name by which people and monitoring reach this server, without a port. May be repeated. /, "
     "/metrics and /healthz are refused under other names, except localhost and IP addresses, "
     "because a web page could make its own name resolve to this server"},
    {0, "rate-limit", "N", COUNT, SERVER, AT(guard.rate_limit),
     "requests per second from one client address or IPv6 /64 (default: no limit)"},
    {0, "connections", "N", COUNT, SERVER, AT(guard.connections),
     "simultaneous connections (default 1000)"},
    {0, "per-address", "N", COUNT, SERVER, AT(guard.per_address),
     "simultaneous connections from one client address or IPv6 /64 (default 64)"},
    {0, "timeout", "TIME", SECONDS, REDIS, AT(redis.timeout),
     "redis://: how long to keep trying while servers fail, change their roles or do not confirm "
     "(default 60s)"},
    {0, "shards", "N", COUNT, REDIS, AT(redis.shards),
     "redis://: number of Redis keys over which the set is spread (default: 4 for each master, or "
     "1 if there is only one server)"},
    {0, "wait", "N", COUNT, REDIS, AT(redis.replicas),
     "redis://: a line counts as added when N replicas have confirmed it"},
    {0, "ack", NULL, FLAG, REDIS, AT(redis.ack),
     "redis://: print periodically how many lines, counted from the first, are added, so that a "
     "failed run can resume after them"},
    {0, "each", NULL, FLAG, REDIS, AT(redis.each), "redis://: also print a line for each shard"},
    {0, "cacert", "FILE", TEXT, REDIS, AT(redis.cacert),
     "rediss://: certificates of the authorities to trust, in PEM format (default: those of the "
     "system)"},
    {0, "cert", "FILE", TEXT, REDIS, AT(redis.cert),
     "rediss://: certificate of the client, in PEM format, for servers that require one"},
    {0, "key", "FILE", TEXT, REDIS, AT(redis.key),
     "rediss://: private key of --cert. The secret key of a filter is --key-file"},
    {0, "sni", "NAME", TEXT, REDIS, AT(redis.sni),
     "rediss://: name that the certificates of all servers must have (default: the host of each "
     "server)"},
    {0, "password-file", "FILE", TEXT, REDIS, AT(redis.password_file),
     "redis://: file whose only line is the password. Nobody else may read it"},
    {0, "match", "PATTERN", TEXT, INPUT, AT(migrate.match),
     "only keys whose name matches PATTERN, as in Redis' SCAN: x:* (default: all keys)"},
    {0, "dry-run", NULL, FLAG, OUTPUT, AT(migrate.dry_run),
     "copy nothing; print how many keys of each type there are, and their bytes"},
    {0, "replace", NULL, FLAG, OUTPUT, AT(migrate.replace),
     "replace keys that exist at the target and differ (default: leave them alone and fail)"},
    {0, "cache", "TIME", SECONDS, SERVER, AT(guard.cache),
     "how long a client may keep an answer (default 5m)"},
    {0, "epsilon", "E", POSITIVE, FILTER, AT(release.epsilon),
     "privacy loss of the release, 0.001 to 16. A smaller value is more private; 1 is usual"},
    {0, "again", NULL, FLAG, FILTER, AT(release.again),
     "release the filter once more, with fresh noise. The epsilons of all releases add up"},
    {0, "prior", "RATE", RATE, FILTER, AT(check.prior),
     "private filters: the probability that a line is a member before the filter is asked "
     "(default 50%: nothing is known)"},
    {0, "plot", NULL, FLAG, OUTPUT, AT(picture.plot),
     "also draw how full the filter is, and which parts of it are in use"},
    {0, "svg", "FILE", TEXT, OUTPUT, AT(picture.svg),
     "write a picture of the rate against the size, for every kind"},
    {0, "visits", "N", COUNT, LOOKUPS, AT(cost.visits), "number of lookups (default 102000)"},
    {0, "bad", "N", TEXT, LOOKUPS, AT(cost.bad),
     "how many lookups are for items in the set, as a number or a share (default 2000)"},
    {0, "lookup", "TIME", SECONDS, LOOKUPS, AT(cost.lookup),
     "time of one lookup in the filter (default 1ms)"},
    {0, "man", NULL, FLAG, OUTPUT, AT(pages.man), "print the manual page as roff source"},
    {0, "completions", "SHELL", TEXT, OUTPUT, AT(pages.completions),
     "print the completions for bash, zsh or fish"},
    {0, "color", "WHEN", TEXT, OTHER, AT(color),
     "when to use colours: auto (default: on a terminal, unless NO_COLOR is set), always or never"},
    {'h', "short-help", NULL, FLAG, OTHER, AT(short_help),
     "print one screen of help: examples and the most used options"},
    {0, "help", NULL, FLAG, OTHER, AT(help), "print all of the help, with every option"},
};
const size_t n_options = sizeof options / sizeof *options;
