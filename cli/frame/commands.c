/* One table of options and one of commands; parsing (options.c), --help and the manual page
 * (manual.c) all come from them. */
#include "options.h"

#define AT(field) offsetof(struct args, field)
const struct option options[] = {
    {'n', "items", "N", COUNT, AT(items),
     "expected number of distinct items (1000000, 1M, 1m, 1e6)"},
    {'p', "fpr", "RATE", RATE, AT(fpr), "false-positive rate (0.01, 1%, 1/100)"},
    {'b', "bytes", "B", COUNT, AT(bytes), "size of the whole file (2000000, 2MB, 2MiB)"},
    {0, "kind", "KIND", TEXT, AT(kind),
     "blocked (default), bloom, partitioned; counting, cuckoo, pair (keys can be removed); "
     "growing (size unknown), window (forgets); ribbon, fuse, exact (sealed: smallest, never "
     "change); auto chooses blocked or bloom. 'tamis help kinds' compares them"},
    {0, "inner", "KIND", TEXT, AT(inner),
     "what window and pair are made of; how counters lie (counting: bloom, blocked)"},
    {0, "error", "E", RATE, AT(error),
     "count-min: no count too high by more than E times the weight of all lines (1e-4); "
     "count-sketch: none wrong by more than E times the root of the sum of squared counts"},
    {0, "delta", "D", RATE, AT(delta), "but with a chance of D for each (1%)"},
    {0, "conservative", NULL, FLAG, AT(conservative),
     "count-min: half the error, but nothing can be taken away"},
    {0, "counter-bits", "N", COUNT, AT(counter_bits), "counting: 4 (default), 8 or 16"},
    {0, "generations", "N", COUNT, AT(generations), "window: how many (default 4)"},
    {0, "turning", NULL, FLAG, AT(turning),
     "window: rotates by itself when the newest generation is full"},
    {0, "static", NULL, FLAG, AT(is_static),
     "a sealed kind, which never changes again: the smallest one, or with --bytes and without "
     "--fpr the one with the lowest rate; says which"},
    {0, "never", "FILE", TEXTS, AT(never),
     "lines that are not in the set and shall never be a maybe: makes an exact filter; may be "
     "given several times"},
    {0, "never-items", "N", COUNT, AT(never_items),
     "exact: how many lines there will be that shall never be a maybe"},
    {0, "to", "KIND", TEXT, AT(to),
     "the kind to convert to: bloom, of a counting filter; or a filter for another program: "
     "parquet, dcso, redisbloom (the data of SCANDUMP's chunks in a row), redisbloom-dump (for "
     "RESTORE), guava"},
    {0, "from", "FORMAT", TEXT, AT(from),
     "the other program's format, where the content does not tell: guava (else parquet, dcso, "
     "redisbloom, redisbloom-dump)"},
    {0, "type", "TYPE", TEXT, AT(type),
     "what the lines are in another program's filter: string, utf16, int32, int64, uint32, "
     "uint64, float, double, hex (bytes in hexadecimal)"},
    {0, "column", "NAME", TEXT, AT(column), "the column of a Parquet file"},
    {0, "row-group", "N", TEXT, AT(row_group),
     "only this row group of a Parquet file, from 0 on (default: all)"},
    {'f', "patterns", "FILE", TEXTS, AT(patterns),
     "the lines of FILE instead of a filter, as with grep -Fxf: exact; with --fpr or --bytes "
     "they are kept as a filter only; may be given several times"},
    {0, "confirm", "FILE", TEXT, AT(confirm),
     "look every maybe up in the list that the filter was made of, so that the answer is exact: "
     "a file of lines, or an LMDB whose keys are the lines. The list is read once, when the "
     "lines are; all keys of an LMDB before the first line, some ten million a second, and again "
     "when it has changed"},
    {'n', "number", "N", COUNT, AT(most), "how many to list (default 10; with --min all)"},
    {0, "min", "RATE", RATE, AT(min),
     "list what makes up this share of all lines (0.1%), every such item for sure, or say why not"},
    {0, "live", NULL, FLAG, AT(live),
     "show the list while lines come; Ctrl-C ends with what there is"},
    {'o', "output", "FILE", TEXT, AT(output), "file to write; - for standard output"},
    {'f', "force", NULL, FLAG, AT(force), "replace the output when it exists"},
    {'v', "invert", NULL, FLAG, AT(invert),
     "print the lines that are absent: certainly so, but of a pair"},
    {'c', "count", NULL, FLAG, AT(count), "print only the number of such lines, over all inputs"},
    {0, "total", NULL, FLAG, AT(total), "print only the number of lines that are left"},
    {'n', "line-number", NULL, FLAG, AT(number), "print the number of each line in its file first"},
    {'H', "with-filename", NULL, FLAG, AT(names), "print the name of its file before each line"},
    {'l', "files-with-matches", NULL, FLAG, AT(only_names),
     "print only the names of files with such lines"},
    {'m', "max-count", "N", COUNT, AT(most_lines), "stop after N such lines, over all inputs"},
    {'q', "quiet", NULL, FLAG, AT(quiet), "no output and no progress; the exit status tells"},
    {'z', "null", NULL, FLAG, AT(nul), "lines end with a NUL byte, not a newline"},
    {0, "raw", NULL, FLAG, AT(raw),
     "take the input as it is; without it gzip, zstd, bzip2 and xz are unpacked"},
    {0, "field", "N", COUNT, AT(field),
     "the key is field N of a line, from 1; lines with fewer are skipped and counted"},
    {'t', "delimiter", "C", DELIMITER, AT(delimiter),
     "what separates fields: one byte (default: a tab), or blanks, for any number of spaces and "
     "tabs, as in awk"},
    {0, "list-field", "N", COUNT, AT(list_field),
     "of the list of -f or --confirm, too, only field N of each line is meant"},
    {0, "weight-field", "N", COUNT, AT(weight_field),
     "field N is a whole number that the line counts for (default: each counts 1); - is 0, as in "
     "Apache's logs; lines with anything else there are skipped and counted"},
    {0, "json", NULL, FLAG, AT(json), "print JSON"},
    {0, "seed", "S", SEED, AT(seed),
     "seed of the hash (default 0); filters merge only with equal seeds"},
    {0, "key-file", "FILE", TEXT, AT(key_file),
     "secret key, of 'tamis key new': 16 bytes, or 32 hex digits, that nobody else may read; for "
     "keys that strangers may choose"},
    {0, "strict", NULL, FLAG, AT(strict), "refuse items beyond the planned number"},
    {0, "overfill", NULL, FLAG, AT(overfill),
     "write the filter even if its rate is then above twice the planned one"},
    {0, "compact", NULL, FLAG, AT(compact), "blocked filters: a little smaller, and slower"},
    {0, "for-transfer", NULL, FLAG, AT(for_transfer),
     "bloom filters, to be sent by 'tamis pack': bigger here, smaller on the wire"},
    {0, "m", "M", COUNT, AT(m),
     "bits per row (partitioned) or in all; counters (counting); slots (cuckoo, growing)"},
    {0, "k", "K", COUNT, AT(k), "probes per key (fuse: 3 or 4; growing: least bits kept)"},
    {0, "exact-until", "B", COUNT, AT(exact_until),
     "be exact, by 128-bit hashes, until they take this many bytes"},
    {0, "state", "FILE", TEXT, AT(state), "go on from this file, and save to it in the end"},
    {0, "window", "W", TEXT, AT(window),
     "remember the last W different lines (1000, 1M), or so long (30s, 5m, 1h, 1d) and up to a "
     "third longer"},
    {0, "keys", "N", COUNT, AT(keys), "random keys to ask (default: as many as the rate needs)"},
    {0, "threads", "N", COUNT, AT(threads), "threads to use (default: one per processor)"},
    {0, "memory", "SIZE", COUNT, AT(memory),
     "beside the filter itself, of a ribbon: 64MiB or more; keys beyond it wait in a temporary "
     "file, 16 to 34 bytes each"},
    {0, "temp", "DIR", TEXT, AT(temp), "where the temporary file goes (default: $TMPDIR, or /tmp)"},
    {0, "ask", "WORD", TEXT, AT(ask), "the word to ask about in the end"},
    {0, "max-bytes", "B", COUNT, AT(max_bytes), "size of the filter, at most (default 2000000)"},
    {0, "lenient", NULL, FLAG, AT(lenient),
     "publish lists without an entry as well, or with more lines left out than taken"},
    {0, "port", "N", TEXT, AT(port), "port to listen at (default 8080); 0: one that is free"},
    {0, "address", "IP", TEXT, AT(address), "address to listen at (default 127.0.0.1)"},
    {0, "rate-limit", "N", COUNT, AT(rate_limit),
     "requests a second of one client address (default: no limit)"},
    {0, "connections", "N", COUNT, AT(connections), "connections at once (default 1000)"},
    {0, "per-address", "N", COUNT, AT(per_address),
     "connections at once of one client address (default 64)"},
    {0, "timeout", "TIME", SECONDS, AT(timeout),
     "redis://: how long to go on while servers fail, change their roles or do not confirm "
     "(default 60s)"},
    {0, "shards", "N", COUNT, AT(shards),
     "redis://: values that the set is spread over (default: 4 for each master, or 1 where there "
     "is only one server)"},
    {0, "wait", "N", COUNT, AT(replicas),
     "redis://: a line counts as added when N replicas have confirmed it"},
    {0, "ack", NULL, FLAG, AT(ack),
     "redis://: print how many lines are added so far, the first ones of the input, again and "
     "again: to go on behind them after a failure"},
    {0, "each", NULL, FLAG, AT(each), "redis://: a line for each shard, too"},
    {0, "cache", "TIME", SECONDS, AT(cache), "how long a client may keep an answer (default 5m)"},
    {0, "epsilon", "E", POSITIVE, AT(epsilon),
     "what the release may betray, 0.001 to 16: less is more private (1 is usual)"},
    {0, "again", NULL, FLAG, AT(again),
     "release it once more, with other noise; the epsilons of all releases add up"},
    {0, "prior", "RATE", RATE, AT(prior),
     "private filters: the probability that a line is in, before the filter is asked (default "
     "50%: nothing is known)"},
    {0, "plot", NULL, FLAG, AT(plot), "draw it as well"},
    {0, "svg", "FILE", TEXT, AT(svg),
     "write a picture of the rate against the size, for every kind"},
    {0, "visits", "N", COUNT, AT(visits), "questions in all (default 102000)"},
    {0, "bad", "N", TEXT, AT(bad),
     "how many of them are in the set, or which share (default 2000)"},
    {0, "lookup", "TIME", SECONDS, AT(lookup), "of a question to the filter (default 1ms)"},
    {0, "item-bytes", "N", COUNT, AT(item_bytes), "length of an item (default 40)"},
    {0, "man", NULL, FLAG, AT(man), "print the manual page as roff source"},
    {0, "completions", "SHELL", TEXT, AT(completions),
     "print what bash, zsh or fish needs to complete command lines"},
    {0, "color", "WHEN", TEXT, AT(color),
     "auto (default: on a terminal, unless NO_COLOR is set), always or never"},
    {'h', "help", NULL, FLAG, AT(help), "this text"},
};
const size_t n_options = sizeof options / sizeof *options;

const struct own_option own_options[] = {
    {"plan",
     {0, "kind", "KIND", TEXT, AT(kind),
      "only this one: bloom, partitioned, blocked, counting, pair, growing, window, cuckoo, "
      "fuse, ribbon, exact; auto chooses blocked or bloom (default: all)"}},
    {"plan", {'f', "force", NULL, FLAG, AT(force), "replace the file of --svg when it exists"}},
    {"uniq",
     {0, "kind", "KIND", TEXT, AT(kind),
      "growing (default), blocked, bloom or partitioned; auto chooses blocked or bloom (default "
      "with --bytes)"}},
    {"count",
     {0, "kind", "KIND", TEXT, AT(kind),
      "tally (default), signed-tally (weights of either sign), count-min (default with --error), "
      "count-sketch, top (keeps the most frequent lines); window (forgets). 'tamis help kinds' "
      "compares them"}},
    {"count",
     {0, "inner", "KIND", TEXT, AT(inner), "the kind of each generation of a window (tally)"}},
    {"count",
     {0, "counter-bits", "N", COUNT, AT(counter_bits),
      "count-min, count-sketch: 32 (default) or 64"}},
    {"count",
     {0, "m", "M", COUNT, AT(m),
      "counters in each row (count-min, count-sketch), or in all, a multiple of 56"}},
    {"count", {0, "k", "K", COUNT, AT(k), "rows of counters (count-min, count-sketch)"}},
    {"explain", {0, "m", "M", COUNT, AT(m), "bits in each row (default 16)"}},
    {"explain", {0, "k", "K", COUNT, AT(k), "rows (default 3)"}},
    {"count,top",
     {'b', "bytes", "B", COUNT, AT(bytes), "size of the sketch (2000000, 2MB; default 1MiB)"}},
    {"uniq",
     {'b', "bytes", "B", COUNT, AT(bytes),
      "size of the filter, which then does not grow (2000000, 2MB, 2MiB)"}},
    {"check", /* grep's -b is another option */
     {0, "bytes", "B", COUNT, AT(bytes), "-f: keep the lines as a filter of this size only"}},
    {"check",
     {'p', "fpr", "RATE", RATE, AT(fpr),
      "-f: keep the lines as a filter only, with this false-positive rate"}},
    {"uniq",
     {'p', "fpr", "RATE", RATE, AT(fpr),
      "rate at which new lines may be dropped (default 0.0001%)"}},
    {"explain cost",
     {'p', "fpr", "RATE", RATE, AT(fpr),
      "false-positive rate of the filter (default: that of FILTER, or of the lectures' filter)"}},
    {"explain cost",
     {'n', "items", "N", COUNT, AT(items),
      "how many are in the set (default: as in FILTER, or 5000000)"}},
    {"explain cost",
     {0, "confirm", "TIME", SECONDS, AT(confirm_time),
      "of a question to the whole set (default 500ms)"}},
    {"uniq",
     {'v', "invert", NULL, FLAG, AT(invert),
      "print the repeated lines instead: every occurrence of a line except the first"}},
    {"check", {0, "help", NULL, FLAG, AT(help), "this text"}}, /* so is grep's -h */
    {"check",
     {0, "memory", "SIZE", COUNT, AT(memory),
      "--confirm LIST: for lines that wait for the list, which is read once each time that it is "
      "full (default 256MiB)"}},
    {"build",
     {0, "to", "FORMAT", TEXT, AT(to),
      "make a filter for another program: parquet, dcso, redisbloom (the data of SCANDUMP's "
      "chunks in a row), redisbloom-dump (for RESTORE), guava"}},
    {"guard build",
     {0, "never", "FILE", TEXTS, AT(never),
      "a list of URLs that are never taken for bad ones; may be given several times"}},
    {"guard serve",
     {0, "timeout", "TIME", SECONDS, AT(timeout), "how long a client may be silent (default 10s)"}},
    {"build,add,compact,merge,check",
     {'q', "quiet", NULL, FLAG, AT(quiet),
      "no output and no progress; errors, and a warning when the filter is overfull or its hashes "
      "are not uniform, are still printed"}},
    {"count",
     {'q', "quiet", NULL, FLAG, AT(quiet),
      "no output and no progress; errors, and a warning when the hashes are not uniform, are still "
      "printed"}},
    {"remove,rotate,merge",
     {0, "wait", "N", COUNT, AT(replicas), "redis://: done when N replicas have confirmed it"}},
};
const size_t n_own_options = sizeof own_options / sizeof *own_options;

const struct refused_option refused_options[] = {
    {"build,add,remove,compact,check,uniq,count,freq,top", "-d",
     "is not the delimiter any more: use -t"},
    {"top", "-k", "is not the number of lines any more: use -n"},
    {"plan,build", "-k", "is not the kind any more: use --kind; --k is the number of probes"},
    {"uniq,count", "-k", "is not the kind any more: use --kind"},
    {"check", "-b", "is not the size any more: use --bytes"},
    {"check", "-h", "is not the help any more: use --help"},
    {"uniq", "-c",
     "does not print the number of lines any more: use --total; 'tamis top' counts each line"},
    {"uniq", "--count",
     "does not print the number of lines any more: use --total; 'tamis top' counts each line"},
    {"uniq", "-D", "does not print the repeated lines any more: use -v"},
    {"uniq", "--repeated", "does not print the repeated lines any more: use --invert"},
};
const size_t n_refused_options = sizeof refused_options / sizeof *refused_options;

const struct command commands[] = {
    {"plan", "", "how big, how wrong: sizes before anything is built",
     "Say two of --items, --fpr and --bytes; the third is computed for every kind of filter, "
     "with the lower bound that no structure can beat beside it.",
     "tamis plan --items 1000000 --bytes 2000000",
     "items fpr bytes kind never-items inner counter-bits generations turning compact "
     "for-transfer m k plot svg force json",
     0, run_plan},
    {"build", "[FILE...]", "make a filter of lines",
     "Reads the files, or standard input, and writes a filter of their lines. Without --items "
     "the lines are counted, and the filter is planned for exactly these: give --items if lines "
     "will be added later. A window is then planned for as many lines in each generation; --items "
     "is for all generations together, and the lines go to the newest one. Without --fpr and "
     "--bytes the rate is 1%. More lines than --items make "
     "the filter overfull: see 'tamis add --help'. An existing output is not replaced without -f. "
     "The output appears whole or not at all. With --to it is a filter for "
     "another program; then a stream needs --items. With -o redis://HOST:PORT/NAME it is a set "
     "over the masters of a Redis Cluster: see 'tamis help redis'.",
     "tamis build --fpr 0.1% -o bad.tamis bad-urls.txt",
     "items fpr bytes kind static never inner counter-bits generations turning compact "
     "for-transfer m k seed key-file strict overfill to type output force field delimiter null "
     "raw threads memory temp shards wait ack timeout quiet",
     0, run_build},
    {"add", "FILTER [FILE...]", "add lines to a filter or a sketch",
     "The file is replaced by the new one when all lines were read, or stays as it was. Several "
     "adds to one filter at the same time wait for each other; no line is lost.\n"
     "\n"
     "A filter that holds more than it was planned for is overfull: its false-positive rate is "
     "above the planned one. Up to twice the planned rate, add saves it and prints a warning, even "
     "with -q. If the rate would be above that, add fails and the file is unchanged, unless "
     "--overfill is given. Build the filter with --items for all lines to come, or with --kind "
     "growing.",
     "tamis build --items 1M -o known.tamis bad-urls.txt &&\n"
     "tamis add known.tamis more-urls.txt",
     "field delimiter weight-field key-file overfill null raw threads wait ack timeout quiet", 1,
     run_add},
    {"remove", "FILTER [FILE...]", "remove lines from a filter or a sketch that can do so",
     "Counting, cuckoo and pair filters can, and signed-tally, count-min and count-sketch. "
     "Remove only lines that were added: removing one that was not, but looks as if, takes away "
     "what belongs to others. Lines that are certainly not in are counted on standard error and "
     "change nothing. Exit status 0 when a line was removed, 1 when none was in, 2 on an error.",
     "tamis remove users.tamis gone.txt",
     "field delimiter key-file null raw threads wait timeout quiet", 1, run_remove},
    {"rotate", "FILTER...", "begin a new generation of a window and forget the oldest",
     "A secret key is not needed. For a window of the last day in hours: 25 generations, and "
     "this from cron every hour.",
     "tamis rotate seen-today.tamis", "wait timeout quiet", 1, run_rotate},
    {"compact", "FILTER [FILE...]", "build a filter again from the lines that are left",
     "The filter keeps its plan (a growing one the size it has) and loses everything else: what "
     "removals have left behind, or items beyond the plan. The file is replaced when all lines "
     "were read, or stays as it was, also if it would be overfull: see 'tamis add --help'.",
     "tamis compact users.tamis users.txt",
     "field delimiter key-file overfill null raw threads quiet", 1, run_compact},
    {"check", "{FILTER | -f PATTERNS} [FILE...]", "print the lines that may be in a filter",
     "Like grep: the lines that may be in the filter are printed, with -v those that are "
     "certainly not. Exit status 0 when a line was selected, 1 when none was, 2 on an error. "
     "When the filter is overfull, a warning with its rate goes to standard error, once. "
     "With -f, or --confirm, the answer is exact, and -v its complement. With --field one field "
     "of each line is looked for, and the line is printed; fields are split at every delimiter: "
     "quotes, as in CSV, are bytes like others. --json prints the totals as one object instead. Of "
     "grep's options there are -c, -f, -H, -l, -m, -n, -q, -v and -z, and no others: whole lines "
     "are compared byte by byte (no -i, no patterns), and -c and -m are over all inputs. Names of "
     "files are printed with -H only. Filters of Parquet files, DCSO bloom and RedisBloom are told "
     "by their content, Guava's by --from; of a Parquet file a line is printed when it may be in "
     "any row group.\n"
     "\n"
     "A private filter ('tamis release') has no verdict on a line. Every line is printed, after "
     "the probability that it is in, which depends on --prior, and a tab; --json tells how many "
     "lines have which, with its interval of 99 %. What asks for a verdict is refused: -c, -l, "
     "-m, -q, -v and --confirm. Exit status 0 means that there were lines, 1 that there were none.",
     "tamis check bad.tamis access-urls.txt",
     "patterns confirm field list-field delimiter invert count line-number with-filename "
     "files-with-matches max-count quiet null raw threads memory fpr bytes json "
     "key-file from type column row-group prior timeout",
     0, run_check},
    {"uniq", "[FILE...]", "drop the lines that came before, and keep the order",
     "In a few bytes per line, however long the lines. The filter grows with the lines, unless "
     "--bytes, --window or another --kind is given. The one error possible is a new line that is "
     "dropped, at the rate of --fpr (default 0.0001%). A filter that cannot grow and holds more "
     "than it was made for says so, and in the end how many lines were wrongly dropped, to be "
     "expected; exit status 2 when the rate was more than twice the one asked for. --total "
     "prints only the number of lines, --json all totals. There wrongly_dropped is rather too high "
     "than "
     "too low, and null when more than half of the new lines were dropped at a time: then it is "
     "anything up to repeated. A window of time must be told --items, how many different lines "
     "come in it at most. With --state it forgets between runs, too: the file's modification "
     "time is when it turned last. Other options must be what they were when the state was made, "
     "or be left out. SIGINT, SIGTERM and SIGHUP end the input then, and the state is saved. Of "
     "the "
     "options of GNU uniq only -z is accepted; 'tamis top' counts each line.",
     "tamis uniq --field 1 -t ' ' access-urls.txt",
     "items fpr bytes kind exact-until state invert window field delimiter total json seed "
     "key-file null raw threads quiet",
     0, run_uniq},
    {"count", "-o OUT [FILE...]", "make a sketch of how often lines came",
     "Reads the files, or standard input, and writes a sketch of their lines in memory that does "
     "not grow: 1 MiB unless --bytes, or --error and --delta, say otherwise. See freq for "
     "asking, add for going on, merge for adding sketches up, info for how sure it is. A window "
     "counts what came lately: 'tamis rotate' forgets its oldest generation.",
     "tamis count --bytes 256KiB -o seen.tamis access-urls.txt",
     "kind inner generations bytes error delta conservative m k counter-bits field delimiter "
     "weight-field seed "
     "key-file output force null raw threads shards wait ack timeout quiet",
     0, run_count},
    {"freq", "SKETCH [ITEM... | -]", "how often items came, by a sketch",
     "Of the items, or with - or none the lines of standard input, prints the count, the "
     "interval that holds the truth, and the item. The upper end always holds (but of "
     "signed-tally and count-sketch), the lower one with 99 %, and for certain if a top lists the "
     "item; 9+ and 9.. are 9 or more. A ~ marks counts that items that never came have as well, a "
     "? those that were poisoned, which only a sketch of kind top can tell: --json has "
     "\"suspect\": null of others, and \"certain\", what holds whoever chose the lines, if a "
     "secret key was used. Counting and cuckoo filters can be asked, too. Exit status 0 when an "
     "item may have come, 1 when none did, 2 on an error.",
     "tamis freq counts.tamis http://a.example/",
     "field delimiter json key-file null raw timeout quiet", 1, run_freq},
    {"top", "[FILE... | SKETCH]", "the most frequent lines, with their counts",
     "In place of sort | uniq -c | sort -rn | head, in one pass and a sketch of 1 MiB (or "
     "--bytes). Prints the count, the interval that holds the truth, and the line; the interval "
     "is one number where the count is exact. A ? marks counts that were poisoned. -o keeps the "
     "sketch, to be asked again by top and freq, added to and merged. Exit status 0 when a line "
     "was listed, 1 when there was none, 2 on an error.",
     "tamis top -n 20 access-urls.txt",
     "number min bytes field delimiter weight-field live json output force seed key-file null "
     "raw threads timeout quiet",
     0, run_top},
    {"merge", "-o OUT FILTER...", "the union of filters, the sum of sketches",
     "Filters of the same kind, shape and hash become the filter of all their items, bit for "
     "bit; sketches become the sketch of all their lines. A secret key is not needed. Each filter "
     "must be planned for the items of all of them together (tamis build --items): a union that "
     "is overfull is treated as by add. Up to twice the planned rate there is a warning; above it "
     "merge fails and writes nothing, unless --overfill is given.",
     "tamis build --items 10k -o a.tamis bad-urls.txt &&\n"
     "tamis build --items 10k -o b.tamis more-urls.txt &&\n"
     "tamis merge -o all.tamis a.tamis b.tamis",
     "output force overfill wait timeout quiet", 1, run_merge},
    {"compare", "FILTER FILTER", "how many items two filters have in common",
     "Estimates from the bits the items of each, of their union and of their intersection, and "
     "the Jaccard index, the share that is common, each with the interval that holds the truth "
     "with 99 % certainty. For bloom, partitioned, blocked and counting filters that could be "
     "merged: of the same kind, shape and hash. A secret key is not needed. The bigger the "
     "filters for their items, the narrower the intervals.",
     "tamis compare monday.tamis tuesday.tamis", "json", 2, run_compare},
    {"convert", "--to KIND -o OUT FILTER", "the plain filter with the same answers",
     "A counting filter becomes a bloom filter of a quarter of the size, to be shipped to those "
     "who only ask. A filter of another program keeps its bits and changes its container: out of "
     "a Parquet file (--column, --row-group), between the two forms of RedisBloom, out of gzip. "
     "To change the hash, build the filter again from the keys: tamis build --to.",
     "tamis convert --to bloom -o users.bloom users.tamis", "to from column row-group output force",
     1, run_convert},
    {"pack", "-o OUT FILTER", "a smaller file of a filter, for the wire",
     "The fewer of its bits are set, the smaller the file: a filter built --for-transfer takes "
     "1.22 times the lower bound at 1%, where a plain bloom filter takes 1.44. Filters that are "
     "half full, and ribbons, do not shrink. A secret key is not needed.",
     "tamis pack -o bad.packed bad.tamis", "output force quiet", 1, run_pack},
    {"unpack", "-o OUT FILE", "the filter that was packed",
     "The very filter, bit for bit, to be asked, added to and merged like any other. It may take "
     "thousands of times the room of the packed file, when that is almost empty: unpack what "
     "strangers send under a limit of memory (ulimit -v).",
     "tamis unpack -o arrived.tamis arrived.packed", "output force", 1, run_unpack},
    {"release", "--epsilon E -o OUT FILTER", "a filter to publish, that betrays nobody in it",
     "Flips each bit of a bloom filter with k = 1 by the system's random numbers: an "
     "epsilon-differentially private release. Whatever is published is at most e^E times as "
     "likely with any one line as without it; to exchange a line costs 2 E. The release may miss "
     "a line that is in, with a chance of 1 in 1 + e^E, and can neither be added to nor merged; "
     "'tamis check' prints how likely each line is in it, and has no verdicts. "
     "What was released is noted in FILTER.releases, which stays with the filter and is not to "
     "be published: the same release again is the same file again, as noise that is drawn anew "
     "averages out; --again draws it all the same. Symbolic links lead to that book; copies and "
     "hard links are not followed: each begins a book of its own, and what all release adds up. "
     "The number of bits is published as it is: plan it by a round --items, not by the lines "
     "counted.",
     "tamis build --kind bloom --k 1 --items 100k --fpr 10% \\\n"
     "  -o urls.tamis access-urls.txt &&\n"
     "tamis release --epsilon 2 -o urls.private urls.tamis",
     "epsilon again output force quiet", 1, run_release},
    {"info", "FILTER...", "what is in a filter, and how wrong it is now",
     "Items and the false-positive rate are computed from the bits as they are now. A secret key "
     "is not needed. Takes filters of other programs as well, as check does; of a Parquet file "
     "it lists those of all columns.",
     "tamis info bad.tamis", "plot json from each timeout", 1, run_info},
    {"verify", "FILTER...", "check every sum and measure the rate",
     "Reads the whole file against its sums, then asks for random keys and compares the share of "
     "wrong answers with the rate that the bits predict. Exit status 0 when all is well, 1 when "
     "the measured rate is not the predicted one, 2 when the file is damaged.",
     "tamis verify bad.tamis", "keys json key-file", 1, run_verify},
    {"explain", "WORD...", "draw how a small filter works, bit by bit",
     "Adds the words to a partitioned filter of --k rows of --m bits and draws each step; --ask "
     "draws a question.",
     "tamis explain --k 3 --m 5 apple pear --ask plum", "m k seed ask", 1, run_explain},
    {"explain cost", "[FILTER]", "what a filter saves: the time with it and without",
     "The lectures' example unless told otherwise: 102,000 pages a year, of which 2,000 are bad, "
     "a list of 5,000,000 URLs in a database, and a filter of 30 rows of 2,500,000 bits. --fpr "
     "sets another rate; a filter that is named brings its own, as it is now, and its size. (To "
     "add the word cost to a drawing: tamis explain -- cost.)",
     "tamis explain cost --visits 1M --bad 1% --confirm 20ms --fpr 0.1%",
     "visits bad lookup confirm items item-bytes fpr json", 0, run_explain_cost},
    {"key new", "FILE", "make a secret key",
     "Draws 16 bytes from the system's generator and writes them as 32 hex digits, for "
     "--key-file, to a file that only its owner can read (mode 0600). A file that exists is "
     "never replaced: a filter whose key is lost answers no more. Prints the key's id, as 'tamis "
     "key id' does.",
     "tamis key new guests.key", "quiet", 1, run_key_new},
    {"key id", "FILE...", "which key is which",
     "Prints the id of each key, which 'tamis info' shows of the filters made with it: 128 bits "
     "computed from the key, that say nothing about it. A file of ours that others may read is "
     "refused, as everywhere.",
     "tamis key id secret.key", "", 1, run_key_id},
#ifdef WITH_GUARD
    {"guard build", "DIR LIST...", "publish lists of bad URLs in a directory",
     "A list has a URL, a host, a line of a hosts file or ||host^ on each line, and comments. It "
     "may be compressed. LABEL=FILE gives it a name, which a verdict tells; without it the name "
     "is that of the file. Lines that are none of these are reported with their numbers and left "
     "out. A list without an entry, or with more lines left out than taken, is an error: the "
     "version before stays (--lenient takes it). URLs of --never lists are never taken for bad "
     "ones. A directory that has a version gets the next: small when little has changed, and "
     "published whole or not at all.",
     "tamis guard build guard malware=bad-urls.txt --never popular.txt",
     "max-bytes never lenient quiet", 2, run_guard_build},
    {"guard check", "DIR [URL...]", "say which URLs are listed",
     "URLs, or with - or none the lines of standard input. Prints a verdict for each: clean, "
     "listed (with the labels), or unconfirmed, and the way it took. Exit status 0 when one was "
     "listed, 1 when all were clean, 2 on an error or a doubt.",
     "tamis guard check guard http://evil.example/login", "quiet json", 1, run_guard_check},
    {"guard explain", "URL [DIR]", "the canonical form of a URL and its expressions",
     "With a directory also their hashes, and what its filter and its store say of them.",
     "tamis guard explain 'HTTP://A.B.C:80/x/../1/%32.html?p=1#top'", "json", 1, run_guard_explain},
    {"guard serve", "DIR", "serve a directory over HTTP",
     "The filter for clients to ask first (/filter), the confirmation of what it cannot exclude, "
     "by four bytes of a hash (/v1/confirm), updates (/v1/update), figures (/metrics), and a "
     "page for people (/). A new version of the directory is served as soon as it is published. "
     "Stops on SIGTERM.",
     "tamis guard serve guard --port 8080",
     "port address threads rate-limit connections per-address timeout cache quiet", 1,
     run_guard_serve},
#endif
    {"help", "[COMMAND | TOPIC]", "help about a command or a topic", "", "tamis help exit-status",
     "man completions", 0, run_help},
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
