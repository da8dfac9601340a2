/* One table of options and one of commands; parsing (options.c), --help and the manual page
 * (manual.c) all come from them. own_options.c has the exceptions of commands. */
#include "options.h"

const struct option options[] = {
    {'n', "items", "N", COUNT, AT(plan.items),
     "expected number of distinct items (1000000, 1M, 1e6)"},
    {'p', "fpr", "RATE", RATE, AT(plan.fpr), "false-positive rate (0.01, 1%, 1/100)"},
    {'b', "bytes", "B", COUNT, AT(plan.bytes),
     "size of the whole file in bytes (2000000, 2MB, 2MiB)"},
    {0, "kind", "KIND", TEXT, AT(plan.kind),
     "kind of filter (default: blocked). Lines can be added: blocked, bloom, partitioned. Lines "
     "can also be removed: counting, cuckoo, pair. Grows with its lines: growing. Forgets old "
     "lines: window. Sealed, so it never changes, and smallest: ribbon, fuse, exact. auto chooses "
     "blocked or bloom. A sketch that counts distinct lines: distinct. 'tamis help kinds' compares "
     "them"},
    {0, "inner", "KIND", TEXT, AT(plan.inner),
     "kind of the filters inside a window or a pair: blocked (default), bloom or partitioned, and "
     "for a window also distinct. For a counting filter, the layout of its counters: bloom "
     "(default) or blocked, with one cache line for each key"},
    {0, "error", "E", RATE, AT(plan.error),
     "largest error of a count, except with probability --delta (for example 1e-4). count-min: "
     "counts are too high by at most E times the total weight of all lines. count-sketch: counts "
     "are wrong by at most E times the square root of the sum of all squared counts"},
    {0, "delta", "D", RATE, AT(plan.delta),
     "probability that a count is off by more than --error (for example 1%)"},
    {0, "conservative", NULL, FLAG, AT(plan.conservative),
     "count-min: half the error, but nothing can be subtracted or removed"},
    {0, "counter-bits", "N", COUNT, AT(plan.counter_bits),
     "bits of each counter of a counting filter: 4 (default), 8 or 16"},
    {0, "generations", "N", COUNT, AT(plan.generations),
     "number of generations of a window (default 4)"},
    {0, "turning", NULL, FLAG, AT(plan.turning),
     "let the window rotate by itself when its newest generation is full (default: only 'tamis "
     "rotate' rotates it)"},
    {0, "static", NULL, FLAG, AT(plan.is_static),
     "make a sealed filter, which never changes, and choose its kind: the smallest one, or the one "
     "with the lowest rate if --bytes is given without --fpr. The choice is printed on standard "
     "error"},
    {0, "never", "FILE", TEXTS, AT(plan.never),
     "file of lines that are not members, for which the answer must never be maybe: makes an exact "
     "filter. May be repeated"},
    {0, "never-items", "N", COUNT, AT(plan.never_items),
     "exact: number of lines that will be given with --never"},
    {0, "to", "KIND", TEXT, AT(foreign.to),
     "what to convert to: bloom, from a counting filter; or the format of another program: "
     "parquet, dcso, redisbloom (the data of SCANDUMP's chunks, concatenated), redisbloom-dump "
     "(for RESTORE), guava"},
    {0, "from", "FORMAT", TEXT, AT(foreign.from),
     "format of another program's filter. Only guava must be named; parquet, dcso, redisbloom "
     "and redisbloom-dump are recognised by their content"},
    {0, "type", "TYPE", TEXT, AT(foreign.type),
     "type of the lines in another program's filter: string, utf16, int32, int64, uint32, "
     "uint64, float, double, hex (bytes in hexadecimal)"},
    {0, "column", "NAME", TEXT, AT(foreign.column), "column of a Parquet file"},
    {0, "row-group", "N", TEXT, AT(foreign.row_group),
     "only this row group of a Parquet file, counted from 0 (default: all)"},
    {'f', "patterns", "FILE", TEXTS, AT(check.patterns),
     "compare with the lines of FILE instead of a filter, as grep -Fxf does: the answer is exact. "
     "With --fpr or --bytes, only a filter of these lines is kept in memory, and the answer is no "
     "longer exact. May be repeated"},
    {0, "confirm", "FILE", TEXT, AT(check.confirm),
     "make the answer exact: look up every maybe in FILE, the list from which the filter was "
     "built. FILE is a file of lines, or an LMDB whose keys are the lines. A file of lines is read "
     "once after the input, and also each time that the maybes fill --memory. All keys of an LMDB "
     "are read before the first line, about ten million per second, and again when it has "
     "changed"},
    {'n', "number", "N", COUNT, AT(top.most),
     "how many lines to list (default 10; with --min all)"},
    {0, "min", "RATE", RATE, AT(top.min),
     "list every line that makes up at least this share of all lines (0.1%). If the sketch is "
     "too small for a complete list, top fails and names a size that suffices"},
    {0, "live", NULL, FLAG, AT(top.live),
     "update the list on the terminal while lines arrive. Ctrl-C ends the input and prints the "
     "list as it is then"},
    {'o', "output", "FILE", TEXT, AT(output.path), "file to write; - for standard output"},
    {'f', "force", NULL, FLAG, AT(output.force), "replace the output file if it exists"},
    {'v', "invert", NULL, FLAG, AT(select.invert),
     "print the absent lines instead. They are certainly absent, except with a pair, which can "
     "miss members"},
    {'c', "count", NULL, FLAG, AT(select.count),
     "print only the number of selected lines, over all inputs"},
    {0, "total", NULL, FLAG, AT(select.total),
     "print only the number of lines that would be printed"},
    {'n', "line-number", NULL, FLAG, AT(select.numbers),
     "print before each line its number in its file"},
    {'H', "with-filename", NULL, FLAG, AT(select.names),
     "print before each line the name of its file"},
    {'l', "files-with-matches", NULL, FLAG, AT(select.only_names),
     "print only the names of files that have selected lines"},
    {'m', "max-count", "N", COUNT, AT(select.most_lines),
     "stop after N selected lines, over all inputs"},
    {'q', "quiet", NULL, FLAG, AT(quiet),
     "print no results and no progress. Errors are still printed, and the exit status shows the "
     "result"},
    {'z', "null", NULL, FLAG, AT(lines.nul), "lines end with a NUL byte, not a newline"},
    {0, "raw", NULL, FLAG, AT(lines.raw),
     "read the input as it is. Otherwise gzip, zstd, bzip2 and xz are decompressed"},
    {0, "field", "N", COUNT, AT(lines.field),
     "use field N of each line as the key, counted from 1. Lines with fewer fields are skipped; "
     "their number is printed on standard error"},
    {'t', "delimiter", "C", DELIMITER, AT(lines.delimiter),
     "what separates fields: one byte (default: a tab), or blanks, for any number of spaces and "
     "tabs, as in awk"},
    {0, "by", "N", COUNT, AT(lines.group_field),
     "count the distinct lines of each group separately; field N of a line, counted from 1, is its "
     "group. Lines with fewer fields are skipped; their number is printed on standard error"},
    {0, "interval", NULL, FLAG, AT(interval),
     "also print the 99 % confidence interval: the number, a tab, and LOWER..UPPER. If the number "
     "is exact, both are equal to it"},
    {0, "list-field", "N", COUNT, AT(lines.list_field),
     "use only field N of each line of the list that -f or --confirm names"},
    {0, "weight-field", "N", COUNT, AT(lines.weight_field),
     "count each line as often as its field N states, a whole number (default: each line counts "
     "1). A - counts 0, as in Apache's logs. Lines with anything else in this field are skipped; "
     "their number is printed on standard error"},
    {0, "json", NULL, FLAG, AT(json), "print JSON"},
    {0, "seed", "S", SEED, AT(plan.seed),
     "seed of the hash (default 0). Only filters with equal seeds can be merged"},
    {0, "encoding", "ENC", TEXT, AT(plan.encoding),
     "state in the file how lines become keys: text (the line as it is), int64le (a decimal "
     "integer "
     "becomes 8 bytes, little-endian, signed), or fixed:N (every line has N bytes). Other commands "
     "then follow it. By default nothing is stated, and keys are text"},
    {0, "key-file", "FILE", TEXT, AT(key.file),
     "file with a secret key, made by 'tamis key new': 16 bytes or 32 hex digits, which nobody "
     "else may read. Use one if strangers can choose the lines"},
    {0, "strict", NULL, FLAG, AT(plan.strict),
     "make a filter that refuses items beyond the "
     "planned number"},
    {0, "overfill", NULL, FLAG, AT(output.overfill),
     "write the filter even if its false-positive rate is more than twice the planned one"},
    {0, "compact", NULL, FLAG, AT(plan.compact),
     "make a blocked filter slightly smaller and "
     "slower"},
    {0, "for-transfer", NULL, FLAG, AT(plan.for_transfer),
     "make a bloom filter that will be packed ('tamis pack'): bigger as it is, but smaller when "
     "packed"},
    {0, "m", "M", COUNT, AT(plan.m),
     "number of bits (partitioned: in each row), of counters (counting), or of slots (cuckoo, "
     "growing)"},
    {0, "k", "K", COUNT, AT(plan.k),
     "number of probes per key (fuse: 3 or 4; growing: the fewest bits that are kept of a key)"},
    {0, "exact-until", "B", COUNT, AT(uniq.exact_until),
     "keep a 128-bit hash of each line, which makes no error, until the hashes take B bytes; then "
     "use a filter"},
    {0, "state", "FILE", TEXT, AT(uniq.state),
     "continue from the state in FILE if it exists, and save the state there at the end"},
    {0, "window", "W", TEXT, AT(uniq.window),
     "remember only the last W distinct lines (1000, 1M), or, if W is a time (30s, 5m, 1h, 1d), "
     "each line for that time and up to a third longer"},
    {0, "every", "TIME", SECONDS, AT(rotate.every),
     "rotate as often as is due since the last time, if each generation covers TIME (5m, 1h). The "
     "epoch is the number of such periods since 1970. The first time, it is only recorded"},
    {0, "keys", "N", COUNT, AT(keys),
     "number of random keys to look up (default: as many as the rate needs)"},
    {0, "threads", "N", COUNT, AT(work.threads), "number of threads (default: one per processor)"},
    {0, "memory", "SIZE", COUNT, AT(work.memory),
     "memory for the keys of a ribbon while it is built, beside the filter itself: 64MiB or more "
     "(default: as much as the keys need). Further keys wait in a temporary file, 16 to 34 bytes "
     "each"},
    {0, "temp", "DIR", TEXT, AT(work.temp),
     "directory of the temporary file (default: $TMPDIR, or /tmp)"},
    {0, "ask", "WORD", TEXT, AT(ask), "a word to look up after all words were added"},
    {0, "max-bytes", "B", COUNT, AT(guard.max_bytes),
     "largest size of the filter in bytes (default 2000000)"},
    {0, "lenient", NULL, FLAG, AT(guard.lenient),
     "also accept a list that has no entry, or more lines left out than taken"},
    {0, "port", "N", TEXT, AT(guard.port),
     "port to listen at (default 8080); 0 means any free port"},
    {0, "address", "IP", TEXT, AT(guard.address), "address to listen at (default 127.0.0.1)"},
    {0, "host-name", "NAME", TEXTS, AT(guard.host_names),
     "name by which people and monitoring reach this server, without a port. May be repeated. /, "
     "/metrics and /healthz are refused under other names, except localhost and IP addresses, "
     "because a web page could make its own name resolve to this server"},
    {0, "rate-limit", "N", COUNT, AT(guard.rate_limit),
     "requests per second from one client address or IPv6 /64 (default: no limit)"},
    {0, "connections", "N", COUNT, AT(guard.connections),
     "simultaneous connections (default 1000)"},
    {0, "per-address", "N", COUNT, AT(guard.per_address),
     "simultaneous connections from one client address or IPv6 /64 (default 64)"},
    {0, "timeout", "TIME", SECONDS, AT(redis.timeout),
     "redis://: how long to keep trying while servers fail, change their roles or do not confirm "
     "(default 60s)"},
    {0, "shards", "N", COUNT, AT(redis.shards),
     "redis://: number of Redis keys over which the set is spread (default: 4 for each master, or "
     "1 if there is only one server)"},
    {0, "wait", "N", COUNT, AT(redis.replicas),
     "redis://: a line counts as added when N replicas have confirmed it"},
    {0, "ack", NULL, FLAG, AT(redis.ack),
     "redis://: print periodically how many lines, counted from the first, are added, so that a "
     "failed run can resume after them"},
    {0, "each", NULL, FLAG, AT(redis.each), "redis://: also print a line for each shard"},
    {0, "cache", "TIME", SECONDS, AT(guard.cache),
     "how long a client may keep an answer (default 5m)"},
    {0, "epsilon", "E", POSITIVE, AT(release.epsilon),
     "privacy loss of the release, 0.001 to 16. A smaller value is more private; 1 is usual"},
    {0, "again", NULL, FLAG, AT(release.again),
     "release the filter once more, with fresh noise. The epsilons of all releases add up"},
    {0, "prior", "RATE", RATE, AT(check.prior),
     "private filters: the probability that a line is a member before the filter is asked "
     "(default 50%: nothing is known)"},
    {0, "plot", NULL, FLAG, AT(picture.plot),
     "also draw how full the filter is, and which parts of it are in use"},
    {0, "svg", "FILE", TEXT, AT(picture.svg),
     "write a picture of the rate against the size, for every kind"},
    {0, "visits", "N", COUNT, AT(cost.visits), "number of lookups (default 102000)"},
    {0, "bad", "N", TEXT, AT(cost.bad),
     "how many lookups are for items in the set, as a number or a share (default 2000)"},
    {0, "lookup", "TIME", SECONDS, AT(cost.lookup),
     "time of one lookup in the filter (default 1ms)"},
    {0, "man", NULL, FLAG, AT(pages.man), "print the manual page as roff source"},
    {0, "completions", "SHELL", TEXT, AT(pages.completions),
     "print the completions for bash, zsh or fish"},
    {0, "color", "WHEN", TEXT, AT(color),
     "when to use colours: auto (default: on a terminal, unless NO_COLOR is set), always or never"},
    {'h', "help", NULL, FLAG, AT(help), "print this text"},
};
const size_t n_options = sizeof options / sizeof *options;

const struct command commands[] = {
    {"plan", "", "compute sizes and false-positive rates before building",
     "Give two of --items, --fpr and --bytes. plan computes the third for every kind of filter and "
     "prints one line for each kind. Nothing is built. --m, alone or with --k, can be given "
     "instead of --bytes. If all three are given, plan lists the kinds that fit, and what the "
     "others need.\n"
     "\n"
     "Beside the bits per item (bits), plan prints the lower bound that no structure can beat at "
     "that rate (bound), and the ratio of the two. k is the number of probes per key, and m the "
     "number of bits, counters or slots.\n"
     "\n"
     "--kind distinct plans a sketch of distinct lines by --error, --bytes or both. plan knows no "
     "other sketches, because you choose their size: see 'tamis help kinds'.",
     "tamis plan --items 1000000 --bytes 2000000",
     "items fpr bytes error kind never-items inner counter-bits generations turning compact "
     "for-transfer m k plot svg force json",
     0, run_plan},
    {"build", "-o OUT [FILE...]", "build a filter from lines",
     "Reads the files, or standard input, and writes a filter of their lines to the file given "
     "with -o. An existing file is replaced only with -f. The file is written completely or not at "
     "all. Exit status 0 when it was written, 2 on an error.\n"
     "\n"
     "Without --items, build counts the lines and makes the filter just big enough for that "
     "number. Give --items if more lines will be added later. More lines than --items make the "
     "filter overfull: see 'tamis add --help'. Without --fpr and --bytes, the false-positive rate "
     "is 1%.\n"
     "\n"
     "In a window, --items is the number for all generations together; without it, each generation "
     "is planned for as many lines as were counted. The lines go to the newest generation.\n"
     "\n"
     "With --to, the output is a filter for another program. Input from a pipe then requires "
     "--items, because it can be read only once. With -o redis://HOST:PORT/NAME, the output is a "
     "set at a Redis server, or spread over the masters of a Redis Cluster: see 'tamis help "
     "redis'.",
     "tamis build --fpr 0.1% -o bad.tamis bad-urls.txt",
     "items fpr bytes error kind static never inner counter-bits generations turning compact "
     "for-transfer m k seed encoding key-file strict overfill to type output force field delimiter "
     "null "
     "raw threads memory temp shards wait ack timeout quiet",
     0, run_build},
    {"add", "FILTER [FILE...]", "add lines to a filter or a sketch",
     "Reads the files, or standard input, and adds their lines to FILTER. The file is replaced "
     "when all lines have been read; after an error it stays as it was. Several adds to one filter "
     "at the same time wait for each other, so no line is lost.\n"
     "\n"
     "A filter that holds more than it was planned for is overfull: its false-positive rate is "
     "above the planned one. Up to twice the planned rate, add saves the filter and prints a "
     "warning, even with -q. Above that, add fails with exit status 2 and leaves the file "
     "unchanged, unless --overfill is given. To avoid this, build the filter with --items for all "
     "lines to come, or with --kind growing.",
     "tamis build --items 1M -o known.tamis bad-urls.txt &&\n"
     "tamis add known.tamis more-urls.txt",
     "field delimiter weight-field key-file overfill null raw threads wait ack timeout quiet", 1,
     run_add},
    {"remove", "FILTER [FILE...]", "remove lines from a filter or a sketch",
     "Reads the files, or standard input, and removes their lines from FILTER. This works with "
     "counting, cuckoo and pair filters, and with signed-tally, count-min (unless it is "
     "--conservative) and count-sketch. After an error the file stays as it was.\n"
     "\n"
     "Remove only lines that were added. Removing a line that was never added but appears present "
     "damages other lines. Lines that are certainly absent change nothing; their number is "
     "printed on standard error. Exit status 0 when a line was removed, 1 when none was present, "
     "2 on an error.",
     "tamis remove users.tamis gone.txt",
     "field delimiter key-file null raw threads wait timeout quiet", 1, run_remove},
    {"rotate", "FILTER...", "start a new generation of a window and drop the oldest",
     "Run it at regular intervals, for example from cron. For a window of the last day, build it "
     "with 25 generations and rotate it every hour. If several filters are named, all of them are "
     "tried before the first is changed. No secret key is needed.\n"
     "\n"
     "With --every the number of runs does not matter: 'tamis rotate --every 1h' rotates once for "
     "each full hour of the clock since the last rotation, and not at all within the same hour. "
     "The file records the hour as its epoch, which 'tamis info' prints. If the epoch is in the "
     "past, because the clock was set back or TIME was shorter before, nothing is rotated and the "
     "exit status is 2.",
     "tamis rotate --every 1h seen-today.tamis", "every to wait timeout quiet", 1, run_rotate},
    {"compact", "FILTER [FILE...]", "rebuild a filter from the lines that remain",
     "Reads the files, or standard input, which must contain every line that is to stay in "
     "FILTER, and builds the filter again from them. It keeps its plan (a growing filter keeps "
     "its current size) and loses everything else: the traces of removed lines, and items beyond "
     "the plan. Use it when a pair is worn by removals, or when a filter is overfull.\n"
     "\n"
     "The file is replaced when all lines have been read. After an error it stays as it was, also "
     "if the new filter would be overfull: see 'tamis add --help'.",
     "tamis compact users.tamis users.txt",
     "field delimiter key-file overfill null raw threads quiet", 1, run_compact},
    {"check", "{FILTER | -f PATTERNS} [FILE...]", "print the lines that may be in a filter",
     "Reads the files, or standard input, and prints every line that may be in FILTER (a "
     "\"maybe\"), as grep prints the lines that match. Some of the printed lines may be false "
     "positives. Lines that are not printed are certainly absent, except with a filter of kind "
     "pair, which can miss members. -v prints the absent lines instead. Exit status 0 when a line "
     "was selected, 1 when none was, 2 on an error. If the filter is overfull, a warning with its "
     "current rate is printed once on standard error.\n"
     "\n"
     "Two options make the answer exact, and -v then prints the exact complement. -f compares the "
     "lines with a list instead of a filter. --confirm looks up every maybe in the list from which "
     "the filter was built.\n"
     "\n"
     "--field looks up one field of each line and prints the whole line. Fields are split at every "
     "delimiter; quotes, as in CSV, have no special meaning. --json prints the totals as one "
     "object instead of the lines.\n"
     "\n"
     "These options are those of grep: -c, -f, -H, -l, -m, -n, -q, -v and -z. Other options of "
     "grep do not exist here: whole lines are compared byte by byte, so there are no regular "
     "expressions and no -i. -c and -m count over all inputs together. File names are printed only "
     "with -H and -l.\n"
     "\n"
     "FILTER may belong to another program. Filters of Parquet files, DCSO bloom and RedisBloom "
     "are recognised by their content; a Guava filter needs --from guava. With a Parquet file, a "
     "line is printed if it may be in any row group.\n"
     "\n"
     "A private filter ('tamis release') gives no verdicts. check prints for every line the "
     "probability that it is a member, a tab and the line. The probability depends on --prior. "
     "--json reports how many lines have which probability, with its 99 % confidence interval. "
     "Options that need a verdict are refused: -c, -l, -m, -q, -v and --confirm. Exit status 0 "
     "means that there were lines, 1 that there were none.",
     "tamis check bad.tamis access-urls.txt",
     "patterns confirm field list-field delimiter invert count line-number with-filename "
     "files-with-matches max-count quiet null raw threads memory fpr bytes json "
     "key-file from type column row-group prior timeout",
     0, run_check},
    {"uniq", "[FILE...]", "drop repeated lines and keep the order",
     "Reads the files, or standard input, and prints each line the first time that it occurs. The "
     "input need not be sorted and may be endless. uniq needs a few bytes of memory per distinct "
     "line, however long the lines are. With --field, lines are equal if that field is equal, and "
     "the whole line is printed. -z is the only option of GNU uniq that exists here; 'tamis top' "
     "counts each line, as uniq -c does.\n"
     "\n"
     "uniq remembers the lines in a filter. The only possible error is that a new line is dropped. "
     "This happens at the rate given with --fpr (default 0.0001%). The filter grows with the "
     "lines, unless --bytes, --window or another --kind is given. A filter that cannot grow may "
     "become overfull. uniq then prints a warning, and at the end an estimate of how many lines "
     "were wrongly dropped. Exit status 0, or 2 on an error or if the rate was more than twice the "
     "requested one.\n"
     "\n"
     "--total prints only the number of lines, and --json prints all totals. \"wrongly_dropped\" "
     "in --json is more likely too high than too low. It is null if at any time more than half of "
     "the new lines were dropped; the true number is then anything up to \"repeated\".\n"
     "\n"
     "--window makes uniq forget old lines. A window of time requires --bytes or --items, the "
     "largest number of distinct lines in that time.\n"
     "\n"
     "--state continues where an earlier run stopped. Other options must have the values with "
     "which the state was made, or be omitted. SIGINT, SIGTERM and SIGHUP then end the input, and "
     "the state is saved. A window of time also forgets lines while no uniq runs, because the "
     "state "
     "records its epoch: a third of the time is a generation, as with 'tamis rotate --every'. If "
     "the clock is behind the state, nothing is forgotten; if it is behind by more than the whole "
     "window, uniq fails.",
     "tamis uniq --field 1 -t ' ' access-urls.txt",
     "items fpr bytes kind exact-until state invert window field delimiter total json seed "
     "key-file null raw threads quiet",
     0, run_uniq},
    {"count", "-o OUT [FILE...]", "make a sketch of how often lines occur",
     "Reads the files, or standard input, and writes a sketch of their lines to the file given "
     "with -o. A sketch estimates how often any line occurred, in memory that does not grow: 1 "
     "MiB, unless --bytes, --error or --m sets another size.\n"
     "\n"
     "'tamis freq' looks up counts, 'tamis add' counts further lines, 'tamis merge' adds sketches "
     "up, and 'tamis info' reports how accurate a sketch is. A window counts recent lines only: "
     "'tamis rotate' drops its oldest generation.",
     "tamis count --bytes 256KiB -o seen.tamis access-urls.txt",
     "kind inner generations bytes error delta conservative m k counter-bits field delimiter "
     "weight-field seed "
     "encoding key-file output force null raw threads shards wait ack timeout quiet",
     0, run_count},
    {"freq", "SKETCH [ITEM... | -]", "estimate how often items occurred",
     "Looks up the items, or the lines of standard input if none or - is given. Prints for each "
     "the estimated count, an interval for the true count, and the item. 'tamis count' and 'tamis "
     "top -o' make sketches; counting and cuckoo filters are accepted as well. Exit status 0 when "
     "an item may have occurred, 1 when none did, 2 on an error.\n"
     "\n"
     "The upper bound of the interval always holds, except with signed-tally and count-sketch. The "
     "lower bound holds with 99 % confidence, and with certainty if a top sketch lists the item. A "
     "count of 9+ and an interval of 9.. mean 9 or more.\n"
     "\n"
     "~ marks a count so low that an item which never occurred could have it. ? marks a poisoned "
     "count, which is too high because somebody chose lines that share the item's counters. Only a "
     "sketch of kind top can detect this; for other kinds, --json prints \"suspect\": null. In "
     "--json, \"certain\" is the guaranteed minimum count. With a secret key, it holds even if the "
     "lines were chosen by an attacker.",
     "tamis freq counts.tamis http://a.example/",
     "field delimiter json key-file null raw timeout quiet", 1, run_freq},
    {"top", "[FILE... | SKETCH]", "list the most frequent lines with their counts",
     "Reads the files, or standard input, and does what sort | uniq -c | sort -rn | head does, in "
     "one pass and with a sketch of 1 MiB. --bytes sets another size; without it, the sketch is "
     "bigger for a large -n or a small --min. Prints for each line its count, an interval for the "
     "true count, and the line. If the count is exact, both ends of the interval are equal. ? "
     "marks a poisoned count: see 'tamis freq --help'. Exit status 0 when a line was listed, 1 "
     "when there was none, 2 on an error.\n"
     "\n"
     "-o also saves the sketch. 'tamis top SKETCH' lists a saved sketch again, 'tamis freq' looks "
     "up its counts, 'tamis add' adds lines to it, and 'tamis merge' adds sketches up.",
     "tamis top -n 20 access-urls.txt",
     "number min bytes field delimiter weight-field live json output force seed key-file null "
     "raw threads timeout quiet",
     0, run_top},
    {"distinct", "[FILE... | SKETCH...]", "count distinct lines",
     "  tamis distinct FILE               how many distinct lines\n"
     "  tamis distinct --by 1 FILE        how many for each value of field 1\n"
     "  tamis distinct A.tamis B.tamis    how many in the union of sketches\n"
     "\n"
     "Reads the files, or standard input, and prints how many distinct lines they have, as sort -u "
     "| wc -l does, in one pass and with a sketch of 64 KiB. Up to 2,048 distinct lines the number "
     "is exact. Beyond that it is an estimate with a relative standard error of 0.27 %: two thirds "
     "of all estimates are off by less, and 99 % by less than 0.7 %. --error and --bytes make "
     "other sketches, from 320 bytes up. Smaller sketches are exact up to half the number of their "
     "registers: with --error 1% up to 1,024. Exit status 0, also for empty input, or 2 on an "
     "error.\n"
     "\n"
     "-o also saves the sketch. If that fails, the number has already been printed, and the exit "
     "status is 2. 'tamis distinct SKETCH...' prints the number of distinct lines in all sketches "
     "together. 'tamis add' adds lines to a sketch, 'tamis merge' unites sketches, and 'tamis "
     "compare' estimates how many lines two sketches have in common. With --generations, the "
     "sketch is a window, which forgets old lines: 'tamis rotate' drops its oldest generation. "
     "Filters of kind bloom, partitioned, blocked, counting and growing are accepted as sketches, "
     "too.\n"
     "\n"
     "--by counts the distinct lines of each group; it replaces sort -u | cut | uniq -c | sort "
     "-rn. Each line of output is a number, a tab and a group. The groups with most distinct lines "
     "come first, and groups with equal numbers are in the order of their bytes. With --field, the "
     "distinct values of that field are counted in each group. Numbers up to 2,048 are exact, and "
     "larger ones have an error of 0.54 %, unless --error or --bytes is given. All groups are kept "
     "in memory, up to --memory. If that is too small, distinct prints no number and fails.\n"
     "\n"
     "--json prints the members distinct, lower, upper, confidence, error, exact, lines, skipped "
     "and bytes. lines does not include the skipped lines. Both are null for sketches, which do "
     "not record them. When lines are counted, distinct and upper are at most lines; a saved "
     "sketch does not know that limit, so its number may be higher. With --by, it prints an object "
     "for each group, with the members group and lines, and at the end one with groups, lines, "
     "skipped and bytes.",
     "tamis distinct --field 1 -t ' ' access-urls.txt",
     "by number interval error bytes field delimiter generations json output force seed encoding "
     "key-file null raw threads memory shards wait timeout quiet",
     0, run_distinct},
    {"merge", "-o OUT FILTER...", "make the union of filters, or the sum of sketches",
     "Filters of the same kind, shape and hash become one filter of all their items, bit for bit "
     "the same as if it had been built from them. Sketches become one sketch of all their lines; "
     "distinct sketches may differ in size, and the result has the smallest. The result is written "
     "to the file given with -o. No secret key is needed.\n"
     "\n"
     "Plan each filter for the items of all of them together (tamis build --items), because the "
     "union must not be overfull. Up to twice the planned rate, merge prints a warning. Above "
     "that it fails and writes nothing, unless --overfill is given.",
     "tamis build --items 10k -o a.tamis bad-urls.txt &&\n"
     "tamis build --items 10k -o b.tamis more-urls.txt &&\n"
     "tamis merge -o all.tamis a.tamis b.tamis",
     "output force overfill wait timeout quiet", 1, run_merge},
    {"compare", "FILTER FILTER", "estimate how many items two filters have in common",
     "Estimates from the bits how many items each filter, their union and their intersection "
     "have, how many only one of them has, and the Jaccard index, which is the share of all items "
     "that both contain. Each estimate is printed with its 99 % confidence interval. All intervals "
     "below the first two hold together with 99 %, so they are wider than those of 'tamis "
     "distinct'. A number that may be 0 is too small to estimate; then only its upper bound is "
     "printed, and in --json it is "
     "null.\n"
     "\n"
     "The filters must be bloom, partitioned, blocked or counting filters that could be merged: "
     "of the same kind, shape and hash; or distinct sketches with the same hash, which may differ "
     "in size. No secret key is needed. The bigger the filters are for their items, the narrower "
     "the intervals.",
     "tamis compare monday.tamis tuesday.tamis", "json", 2, run_compare},
    {"convert", "--to KIND -o OUT FILTER",
     "change the kind or format of a filter, not its "
     "answers",
     "A counting filter becomes a bloom filter of a quarter of the size, for users who only look "
     "up keys. A filter of another program keeps its bits and changes its container: it is taken "
     "out of a Parquet file (--column, --row-group) or out of gzip, or changed between the two "
     "forms of RedisBloom. To change the hash, build the filter again from the keys, with 'tamis "
     "build --to'.",
     "tamis convert --to bloom -o users.bloom users.tamis", "to from column row-group output force",
     1, run_convert},
    {"pack", "-o OUT FILTER", "make a smaller file of a filter, for transfer",
     "The fewer bits are set, the smaller the packed file. A filter built with --for-transfer "
     "takes 1.22 times the lower bound at a rate of 1%; a plain bloom filter takes 1.44 times. "
     "Filters that are half full, and ribbons, do not shrink. 'tamis unpack' restores the filter. "
     "No secret key is needed.",
     "tamis pack -o bad.packed bad.tamis", "output force quiet", 1, run_pack},
    {"unpack", "-o OUT FILE", "restore a filter from a packed file",
     "The result is the packed filter, bit for bit. It can be checked, added to and merged like "
     "any other. An almost empty filter may take thousands of times the space of its packed file, "
     "so unpack files from strangers under a memory limit (ulimit -v).",
     "tamis unpack -o arrived.tamis arrived.packed", "output force", 1, run_unpack},
    {"release", "--epsilon E -o OUT FILTER", "make a private copy of a filter, to be published",
     "Use it when others may query the filter but must not learn which lines are in it. FILTER "
     "must be a bloom filter with k = 1. In the copy, called the release, each bit is flipped at "
     "random, with the system's random numbers. The release is epsilon-differentially private: any "
     "published file is at most e^E times as likely with a given line in the set as without it. "
     "Exchanging one line for another counts as 2 E.\n"
     "\n"
     "The release misses a member with probability 1 / (1 + e^E). It can neither be added to nor "
     "merged. 'tamis check' prints how likely each line is a member, and gives no verdicts.\n"
     "\n"
     "Each release is recorded in FILTER.releases. Keep this file with the filter, and do not "
     "publish it. If the same filter is released again with the same epsilon, the result is the "
     "same file, because fresh noise would average out over several releases. --again draws fresh "
     "noise nevertheless. The epsilons of all releases of a filter add up. A symbolic link to the "
     "filter leads to the same record. Copies and hard links each start their own record, although "
     "their epsilons add up as well.\n"
     "\n"
     "The number of bits is published as it is. Build the filter with --items and a round number. "
     "Without --items, the number of bits would reveal the number of lines.",
     "tamis build --kind bloom --k 1 --items 100k --fpr 10% \\\n"
     "  -o urls.tamis access-urls.txt &&\n"
     "tamis release --epsilon 2 -o urls.private urls.tamis",
     "epsilon again output force quiet", 1, run_release},
    {"info", "FILTER...", "describe a filter or a sketch, and how accurate it is now",
     "Prints the kind and size of a filter, how many items it holds and its false-positive rate, "
     "both computed from the bits as they are now. For a sketch, prints how accurate its counts "
     "are. No secret key is needed. Filters of other programs are accepted as by 'tamis check'; "
     "for a Parquet file, info lists the filters of all columns.",
     "tamis info bad.tamis", "plot json from each timeout", 1, run_info},
    {"verify", "FILTER...", "check every checksum and measure the false-positive rate",
     "Reads the whole file and compares its checksums. Then looks up random keys and compares the "
     "share of maybes with the rate that the bits predict. Exit status 0 when all is well, 1 when "
     "the measured rate is not the predicted one, 2 when the file is damaged or on another error.",
     "tamis verify bad.tamis", "keys json key-file", 1, run_verify},
    {"explain", "WORD...", "draw how a small filter works, bit by bit",
     "Adds the words to a partitioned filter of --k rows of --m bits, and draws each step. --ask "
     "draws a lookup.",
     "tamis explain --k 3 --m 5 apple pear --ask plum", "m k seed ask", 1, run_explain},
    {"explain cost", "[FILTER]", "compute how much time a filter saves",
     "Compares the time of all lookups with a filter and without one. The default numbers are an "
     "example from lectures: 102,000 pages a year, of which 2,000 are bad, a list of 5,000,000 "
     "URLs in a database, and a filter of 30 rows of 2,500,000 bits. --fpr sets another rate. If "
     "FILTER is given, its current rate and its size are used. (To add the word cost to a "
     "drawing, write: tamis explain -- cost.)",
     "tamis explain cost --visits 1M --bad 1% --confirm 20ms --fpr 0.1%",
     "visits bad lookup confirm items fpr json", 0, run_explain_cost},
    {"key new", "FILE", "make a secret key",
     "Draws 16 bytes from the system's random generator and writes them as 32 hex digits to FILE, "
     "which only its owner can read (mode 0600). Pass the file to other commands with --key-file. "
     "An existing file is never replaced, because without its key a filter can no longer be "
     "checked or added to. Prints the key's id, as 'tamis key id' does.",
     "tamis key new guests.key", "quiet", 1, run_key_new},
    {"key id", "FILE...", "print the ids of secret keys",
     "The id identifies a key: it is 128 bits computed from the key, which reveal nothing about "
     "it. 'tamis info' prints the same id for a filter that was made with the key. A key file of "
     "yours that others may read is refused, as everywhere.",
     "tamis key id secret.key", "", 1, run_key_id},
#ifdef WITH_GUARD
    {"guard build", "DIR LIST...", "publish lists of bad URLs in a directory",
     "Reads the lists and writes to DIR a filter and an exact store of their entries, which 'tamis "
     "guard check' and 'tamis guard serve' use. Each line of a list is a URL, a host, a line of a "
     "hosts file, ||host^ or a comment. Any other line is reported with its number and left out. "
     "Entries that are too deep to cover what is below them are counted and reported. A list may "
     "be compressed.\n"
     "\n"
     "Each LIST is a file, or LABEL=FILE. Verdicts name the labels of the lists that contain the "
     "URL. The default label is the name of the file, without its folder and its ending. URLs in "
     "--never lists are never reported as bad.\n"
     "\n"
     "A list without any entry, or with more lines left out than taken, is an error, and the "
     "previous version stays published. --lenient accepts such a list. If DIR has a version "
     "already, the next one is published completely or not at all, and the update that clients "
     "download is small if little has changed. Exit status 0 when a version was published, 2 on an "
     "error.",
     "tamis guard build guard malware=bad-urls.txt --never popular.txt",
     "max-bytes never lenient quiet json", 2, run_guard_build},
    {"guard check", "DIR [URL...]", "check whether URLs are listed",
     "Checks the URLs, or the lines of standard input if none or - is given. Prints a verdict for "
     "each: clean, listed (with the labels) or unconfirmed, and how it was reached. Exit status 0 "
     "when a URL was listed, 1 when all were clean, 2 on an error, or if a verdict is unconfirmed "
     "or a line is not a URL.",
     "tamis guard check guard http://evil.example/login", "quiet json", 1, run_guard_check},
    {"guard explain", "URL [DIR]", "print the canonical form of a URL and its expressions",
     "Expressions are the combinations of host and path under which a URL may be listed. With "
     "DIR, their hashes are printed as well, and what the filter and the store of DIR answer for "
     "each.",
     "tamis guard explain 'HTTP://A.B.C:80/x/../1/%32.html?p=1#top'", "json", 1, run_guard_explain},
    {"guard serve", "DIR", "serve a guard directory over HTTP",
     "Serves what 'tamis guard build' has published in DIR, and prints its address when it is "
     "ready:\n"
     "\n"
     "  /filter       the filter, which clients ask first\n"
     "  /v1/confirm   exact answers where the filter cannot exclude a URL;\n"
     "                the client sends only four bytes of a hash\n"
     "  /v1/update    updates of the filter\n"
     "  /metrics      figures for monitoring\n"
     "  /             a page for people\n"
     "\n"
     "A new version of DIR is served as soon as it is published. The server stops on SIGTERM or "
     "SIGINT, with exit status 0.",
     "tamis guard serve guard --port 8080",
     "port address host-name threads rate-limit connections per-address timeout cache quiet", 1,
     run_guard_serve},
#endif
    {"help", "[COMMAND | TOPIC]", "print help about a command or a topic", "",
     "tamis help exit-status", "man completions", 0, run_help},
    {NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL},
};

const struct group groups[] = {
    {"key", "tamis key new my.key && tamis key id my.key"},
#ifdef WITH_GUARD
    {"guard", "echo evil.example > evil.txt &&\n"
              "tamis guard build evil malware=evil.txt &&\n"
              "tamis guard check evil http://evil.example/login"},
#endif
    {NULL, NULL},
};
