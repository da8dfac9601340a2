/* The options that single commands redefine, and the spellings that they refuse. */
#include "options.h"

/* What -q hides of the input. */
#define HIDDEN                                                                                     \
    " Skipped lines, carriage returns and UTF-16 are not reported; --strict-input makes them "     \
    "errors"

const struct own_option own_options[] = {
    {"plan",
     {0, "kind", "KIND", TEXT, FILTER, AT(plan.kind),
      "only this kind (default: all kinds of filters). It is one of bloom, partitioned, "
      "blocked, counting, pair, growing, window, cuckoo, fuse, ribbon, exact, map and distinct; "
      "auto chooses blocked or bloom"}},
    {"plan",
     {0, "plot", NULL, FLAG, OUTPUT, AT(picture.plot), "also draw the bits per item of each kind"}},
    {"plan",
     {'f', "force", NULL, FLAG, OUTPUT, AT(output.force),
      "replace the file of --svg if it exists"}},
    {"uniq",
     {0, "kind", "KIND", TEXT, FILTER, AT(plan.kind),
      "kind of filter (default: growing; with --bytes auto). It is growing, blocked, bloom or "
      "partitioned; auto chooses blocked or bloom"}},
    {"count",
     {0, "kind", "KIND", TEXT, FILTER, AT(plan.kind),
      "kind of sketch (default: tally; with --error count-min). It is tally, signed-tally "
      "(weights of either sign), count-min, count-sketch, top (keeps the most frequent lines), "
      "or window (forgets old lines). 'tamis help kinds' compares them"}},
    {"count",
     {0, "inner", "KIND", TEXT, DETAILS, AT(plan.inner),
      "kind of each generation of a window (default tally)"}},
    {"count",
     {0, "counter-bits", "N", COUNT, DETAILS, AT(plan.counter_bits),
      "bits of each counter of count-min or count-sketch: 32 (default) or 64"}},
    {"count",
     {0, "m", "M", COUNT, DETAILS, AT(plan.m),
      "number of counters: in each row (count-min, count-sketch), or in all, a multiple of 56 "
      "(other kinds)"}},
    {"count",
     {0, "k", "K", COUNT, DETAILS, AT(plan.k),
      "number of rows of counters (count-min: default 4; "
      "count-sketch: default 5)"}},
    {"distinct",
     {'n', "number", "N", COUNT, OUTPUT, AT(top.most),
      "with --by: how many groups to print (default: all)"}},
    {"plan,build,distinct",
     {0, "error", "E", RATE, FILTER, AT(plan.error),
      "distinct: relative standard error of the number, at most 30% (1%, 0.5%). Two thirds of all "
      "numbers are off by less, and 99 % by less than 2.6 times as much"}},
    {"distinct",
     {'b', "bytes", "B", COUNT, FILTER, AT(plan.bytes),
      "largest size of the file in bytes, of all generations together (default: 65792 for each "
      "sketch; with --by 16640); sizes double, from 320 on"}},
    {"distinct",
     {0, "field", "N", COLUMN, INPUT, AT(lines.field),
      "count the distinct values of field N (the first is 1; an index of an array in JSON lines "
      "counts from 0). Lines with fewer fields are skipped; their number is printed on standard "
      "error"}},
    {"distinct",
     {0, "generations", "N", COUNT, FILTER, AT(plan.generations),
      "with -o: make a window of so many generations, each of which is a sketch"}},
    {"distinct",
     {0, "memory", "SIZE", COUNT, WORK, AT(work.memory),
      "with --by: memory for the groups and their sketches (default 256MiB)"}},
    {"distinct",
     {0, "threads", "N", COUNT, WORK, AT(work.threads),
      "number of threads (default: two, or one if there is only one processor)"}},
    {"explain", {0, "m", "M", COUNT, DETAILS, AT(plan.m), "bits in each row (default 16)"}},
    {"explain", {0, "k", "K", COUNT, DETAILS, AT(plan.k), "number of rows (default 3)"}},
    {"count,top",
     {'b', "bytes", "B", COUNT, FILTER, AT(plan.bytes),
      "size of the sketch in bytes (2000000, 2MB; default 1MiB)"}},
    {"uniq",
     {'b', "bytes", "B", COUNT, FILTER, AT(plan.bytes),
      "size of the filter in bytes; it then does not grow (2000000, 2MB, 2MiB)"}},
    {"check", /* grep's -b is another option */
     {0, "bytes", "B", COUNT, FILTER, AT(plan.bytes),
      "with -f: keep the list in memory only as a filter "
      "of this size"}},
    {"check",
     {'p', "fpr", "RATE", RATE, FILTER, AT(plan.fpr),
      "with -f: keep the list in memory only as a filter with this false-positive rate"}},
    {"build",
     {'p', "fpr", "RATE", RATE, FILTER, AT(plan.fpr),
      "false-positive rate (0.01, 1%, 1/100; default 1%). With --bytes, the default is the "
      "rate that the size allows"}},
    {"uniq",
     {'p', "fpr", "RATE", RATE, FILTER, AT(plan.fpr),
      "rate at which new lines are dropped (default 0.0001%)"}},
    {"explain cost",
     {'p', "fpr", "RATE", RATE, FILTER, AT(plan.fpr),
      "false-positive rate of the filter (default: that of FILTER, or of the lectures' filter)"}},
    {"explain cost",
     {'n', "items", "N", COUNT, FILTER, AT(plan.items),
      "number of items in the set (default: that of FILTER, or 5000000)"}},
    {"explain cost",
     {0, "confirm", "TIME", SECONDS, LOOKUPS, AT(cost.confirm_time),
      "time of one lookup in the whole set (default 500ms)"}},
    {"uniq",
     {'v', "invert", NULL, FLAG, OUTPUT, AT(select.invert),
      "print the repeated lines instead. These are all occurrences of a line except the first"}},
    {"check", /* so is grep's -h */
     {0, "short-help", NULL, FLAG, OTHER, AT(short_help),
      "print one screen of help: examples and the most used options"}},
    {"check",
     {0, "memory", "SIZE", COUNT, WORK, AT(work.memory),
      "with --confirm and a file of lines: memory for the maybes that have not been looked up yet "
      "(default 256MiB). The file is read each time that this memory is full"}},
    {"diff",
     {'c', "count", NULL, FLAG, OUTPUT, AT(select.count),
      "print only the number of lines in each column, separated by tabs"}},
    {"diff",
     {0, "header", NULL, FLAG, INPUT, AT(lines.header),
      "the first line of each file names its columns. It is not an item; --field accepts its "
      "names. If only one column is printed (-12, -13 or -23), it is a table: first the header of "
      "the file from which its lines come, which is A except with -13"}},
    {"diff",
     {0, "memory", "SIZE", COUNT, WORK, AT(work.memory),
      "memory for the hashes of lines: 64KiB or more (default 256MiB)"}},
    {"diff",
     {0, "field", "N", COLUMN, INPUT, AT(lines.field),
      "compare field N of each line (the first is 1; an index of an array in JSON lines counts "
      "from 0). Lines with fewer fields are skipped; their number is printed on standard error"}},
    {"build",
     {0, "to", "FORMAT", TEXT, FOREIGN, AT(foreign.to),
      "make a filter for another program: parquet, dcso, redisbloom (the data of SCANDUMP's "
      "chunks, concatenated), redisbloom-dump (for RESTORE), guava"}},
    {"add",
     {0, "from", "FILE", TEXTS, FILTER, AT(plan.list),
      "with --grow: all lines that the filter has. They have the same format as the new ones. If "
      "the filter has lines that are missing here, nothing changes; lines that it does not have "
      "are left out. For counting and cuckoo filters, each line stands for one copy. May be "
      "repeated"}},
    {"guard build",
     {0, "never", "FILE", TEXTS, FILTER, AT(plan.never),
      "a list of good URLs, which are never reported as bad. May be repeated"}},
    {"key new",
     {0, "sign", NULL, FLAG, TRUST, AT(sign.pair),
      "make a pair of keys for signatures instead: FILE is the secret key, and FILE.pub the public "
      "one"}},
    {"verify",
     {0, "pubkey", "KEY", TEXTS, TRUST, AT(sign.pubkeys),
      "also check the signature in FILTER.sig; KEY is the file of the public key. May be repeated: "
      "one of the keys must have signed"}},
    {"guard check,guard serve",
     {0, "state", "FILE", TEXT, TRUST, AT(sign.state),
      "remember the last accepted version in FILE; needs --pubkey. Without it, a command that is "
      "started anew knows no earlier version. Remove FILE to forget it on purpose"}},
    {"guard fetch",
     {0, "cacert", "FILE", TEXT, INPUT, AT(guard.cacert),
      "file of certificates (PEM) that may sign those of the servers (default: the system's)"}},
    {"guard fetch",
     {0, "max-bytes", "B", COUNT, WORK, AT(guard.max_bytes),
      "largest size of a list in bytes, both as it is sent and unpacked (default 256MiB)"}},
    {"guard fetch",
     {0, "timeout", "TIME", SECONDS, WORK, AT(guard.timeout),
      "how long the download of one list may take (default 10m). It also ends if it is slower than "
      "1000 bytes per second for a twentieth of this time, or for 30s"}},
    {"guard fetch",
     {0, "lenient", NULL, FLAG, FILTER, AT(guard.lenient),
      "also accept a list that has no entry, more lines left out than taken, fewer than half the "
      "entries of the old list, or a length that the server did not state"}},
    {"guard serve",
     {0, "timeout", "TIME", SECONDS, SERVER, AT(guard.timeout),
      "how long a client may be silent (default 10s)"}},
    {"merge",
     {'q', "quiet", NULL, FLAG, OUTPUT, AT(quiet),
      "print no results and no progress. Errors are still printed, and so is a warning if the "
      "filter is overfull or its hashes are not uniform"}},
    {"build,add,compact,check",
     {'q', "quiet", NULL, FLAG, OUTPUT, AT(quiet),
      "print no results and no progress. Errors are still printed, and so is a warning if the "
      "filter is overfull or its hashes are not uniform." HIDDEN}},
    {"count",
     {'q', "quiet", NULL, FLAG, OUTPUT, AT(quiet),
      "print no results and no progress. Errors are still printed, and so is a warning if the "
      "hashes are not uniform." HIDDEN}},
    {"remove,uniq,freq,top,distinct,diff",
     {'q', "quiet", NULL, FLAG, OUTPUT, AT(quiet),
      "print no results and no progress. Errors are still printed, and the exit status shows the "
      "result." HIDDEN}},
    {"rotate",
     {0, "to", "EPOCH", COUNT, FILTER, AT(rotate.to),
      "like --every, with an epoch of your own: a number that grows by 1 whenever a generation is "
      "due"}},
    {"remove,rotate,merge,migrate",
     {0, "wait", "N", COUNT, REDIS, AT(redis.replicas),
      "redis://: finish when N replicas have confirmed the change"}},
};
const size_t n_own_options = sizeof own_options / sizeof *own_options;

const struct refused_option refused_options[] = {
    {"build,add,remove,compact,check,count,freq,top", "-d", "is no longer the delimiter: use -t"},
    {"uniq", "-d", "is no longer the delimiter: use -t; -v prints the repeated lines"},
    {"top", "-k", "is no longer the number of lines: use -n"},
    {"plan,build", "-k", "is no longer the kind: use --kind; --k is the number of probes"},
    {"uniq,count", "-k", "is no longer the kind: use --kind"},
    {"check", "-b", "is no longer the size: use --bytes"},
    {"check", "-h",
     "is another option in grep: use --help, or 'tamis check -h' alone; file names are printed "
     "only "
     "with -H"},
    {"uniq", "-c",
     "no longer prints the number of lines: use --total; 'tamis top' counts each line"},
    {"uniq", "--count",
     "no longer prints the number of lines: use --total; 'tamis top' counts each line"},
    {"uniq", "-D", "no longer prints the repeated lines: use -v"},
    {"uniq", "--repeated", "no longer prints the repeated lines: use --invert"},
};
const size_t n_refused_options = sizeof refused_options / sizeof *refused_options;
