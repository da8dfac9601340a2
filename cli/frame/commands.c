/* The table of commands. option_table.c has the options, and own_options.c the exceptions of
 * commands. Parsing (options.c), --help (manual.c), the manual page and the completions all come
 * from these tables. */
#include "options.h"

/* How lines become keys, beside --field, --csv and --jsonl: of every command that reads lines. */
#define FORMATS "delimiter tsv header crlf strict-input "
/* How sets at redis:// addresses are reached: of every command that accepts them. */
#define SERVERS "timeout password-file cacert cert key sni"

const struct command commands[] = {
    {"plan", MAKE, "[ITEMS [RATE]]", "compute sizes and false-positive rates before building",
     "Give two of --items, --fpr and --bytes; ITEMS and RATE are short for --items and --fpr. plan "
     "computes the third for every kind of filter and "
     "prints one line for each kind. Nothing is built. --m, alone or with --k, can be given "
     "instead of --bytes. If all three are given, plan lists the kinds that fit, and what the "
     "others need.\n"
     "\n"
     "Beside the bits per item (bits), plan prints the lower bound of such kinds at that rate "
     "(bound), and the ratio of the two. The bound of sealed kinds is log2(1/rate); no structure "
     "needs less. Kinds that take keys one by one need 1.44 bits more, except for terms that "
     "vanish as the rate falls; above 10 % they are compared with the bound of sealed kinds. The "
     "bound of exact follows from the lists. There is none for growing. k is the number of probes "
     "per key, and m the number of bits, counters or slots.\n"
     "\n"
     "--kind distinct plans a sketch of distinct lines by --error, --bytes or both. plan knows no "
     "other sketches, because you choose their size: see 'tamis help kinds'.",
     "# How big is a filter of a million lines with a false-positive rate of 1 %?\n"
     "tamis plan 1M 1%\n"
     "# How low is the rate if the filter may have two megabytes?\n"
     "tamis plan --items 1000000 --bytes 2000000\n"
     "# How many lines fit into two megabytes?\n"
     "tamis plan --fpr 1% --bytes 2MB",
     "items fpr bytes kind plot | error never-items inner counter-bits value-bits generations "
     "turning removable compact for-transfer m k svg force json",
     0, run_plan},
    {"build", SEEN, "-o OUT [FILE...]", "build a filter from lines",
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
     "With --kind map, each line has a key and a value: see 'tamis get --help'.\n"
     "\n"
     "With --to, the output is a filter for another program. Input from a pipe then requires "
     "--items, because it can be read only once. With -o redis://HOST:PORT/NAME, the output is a "
     "set at a Redis server, or spread over the masters of a Redis Cluster: see 'tamis help "
     "redis'.",
     "# Make a filter of a list, with a false-positive rate of 0.1 %:\n"
     "tamis build --fpr 0.1% -o bad.tamis bad-urls.txt\n"
     "# Make one with room for a million lines, which 'tamis add' adds later:\n"
     "tamis build --items 1M -o known.tamis bad-urls.txt\n"
     "# Make the smallest one, which never changes:\n"
     "tamis build --static -o sealed.tamis bad-urls.txt",
     "output force items fpr kind headroom field csv jsonl | static value-field " FORMATS
     "bytes error never inner counter-bits value-bits generations turning removable compact "
     "for-transfer m k seed encoding key-file strict overfill to type null raw threads memory temp "
     "shards wait ack " SERVERS " quiet",
     0, run_build},
    {"add", MAKE, "FILTER [FILE...]", "add lines to a filter or a sketch",
     "Reads the files, or standard input, and adds their lines to FILTER. The file is replaced "
     "when all lines have been read; after an error it stays as it was. Several adds to one filter "
     "at the same time wait for each other, so no line is lost.\n"
     "\n"
     "A filter that holds more than it was planned for is overfull: its false-positive rate is "
     "above the planned one. Up to twice the planned rate, add saves the filter and prints a "
     "warning, even with -q. Above that, add fails with exit status 2 and leaves the file "
     "unchanged, unless --overfill is given. To avoid this, build the filter with --items for all "
     "lines to come, with --headroom, or with --kind growing; or use --grow.",
     "# Make a filter with room for more lines, and add some:\n"
     "tamis build --items 1M -o known.tamis bad-urls.txt &&\n"
     "tamis add known.tamis more-urls.txt\n"
     "# Count further lines in a sketch:\n"
     "tamis add counts.tamis more-urls.txt\n"
     "# Add a single line:\n"
     "echo 'http://a.example/' | tamis add counts.tamis",
     "field csv jsonl weight-field grow from quiet | overfill key-file " FORMATS
     "null raw threads wait ack " SERVERS,
     1, run_add},
    {"remove", MAKE, "FILTER [FILE...]", "remove lines from a filter or a sketch",
     "Reads the files, or standard input, and removes their lines from FILTER. This works with "
     "counting, cuckoo and pair filters, growing ones made with --removable, signed-tally, "
     "count-min (unless it is --conservative) and count-sketch. After an error the file stays as "
     "it was. A line that was in a growing filter 7 times stays (counting: 15 times).\n"
     "\n"
     "Remove only lines that were added. Removing a line that was never added but appears present "
     "damages other lines. Lines that are certainly absent change nothing; their number is "
     "printed on standard error. Exit status 0 when a line was removed, 1 when none was present, "
     "2 on an error.",
     "# Remove the lines of a file:\n"
     "tamis remove users.tamis gone.txt\n"
     "# Make filters from which lines can be removed; the second one grows:\n"
     "tamis build --kind counting -o members.tamis users.txt &&\n"
     "tamis build --kind growing --removable -o all.tamis users.txt",
     "field csv jsonl key-file quiet | " FORMATS "null raw threads wait " SERVERS, 1, run_remove},
    {"rotate", MAKE, "FILTER...", "start a new generation of a window and drop the oldest",
     "Run it at regular intervals, for example from cron. For a window of the last day, build it "
     "with 25 generations and rotate it every hour. If several filters are named, all of them are "
     "tried before the first is changed. No secret key is needed.\n"
     "\n"
     "With --every the number of runs does not matter: 'tamis rotate --every 1h' rotates once for "
     "each full hour of the clock since the last rotation, and not at all within the same hour. "
     "The file records the hour as its epoch, which 'tamis info' prints. If the epoch is in the "
     "past, because the clock was set back or TIME was shorter before, nothing is rotated and the "
     "exit status is 2.",
     "# Forget the oldest generation now:\n"
     "tamis rotate seen-today.tamis\n"
     "# Forget it when the next hour has begun, however often this runs:\n"
     "tamis rotate --every 1h seen-today.tamis\n"
     "# Make a window of the last day, to be rotated every hour:\n"
     "tamis build --kind window --generations 25 --items 1M \\\n"
     "  -o day.tamis users.txt",
     "every quiet | to wait " SERVERS, 1, run_rotate},
    {"compact", MAKE, "FILTER [FILE...]", "rebuild a filter from the lines that remain",
     "Reads the files, or standard input, which must contain every line that is to stay in "
     "FILTER, and builds the filter again from them. It keeps its plan (a growing filter keeps "
     "its current size) and loses everything else: the traces of removed lines, and items beyond "
     "the plan. Use it when a pair is worn by removals, or when a filter is overfull.\n"
     "\n"
     "The file is replaced when all lines have been read. After an error it stays as it was, also "
     "if the new filter would be overfull: see 'tamis add --help'.",
     "# Build a filter again from the lines that remain:\n"
     "tamis compact users.tamis users.txt",
     "field csv jsonl key-file overfill quiet | " FORMATS "null raw threads", 1, run_compact},
    {"check", SEEN, "{FILTER | -f PATTERNS} [FILE...]", "print the lines that may be in a filter",
     "Reads the files, or standard input, and prints every line that may be in FILTER (a "
     "\"maybe\"), as grep prints the lines that match. Some of the printed lines may be false "
     "positives. Lines that are not printed are certainly absent. -v prints the absent lines "
     "instead. Exit status 0 when a line was selected, 1 when none was, 2 on an error. If the "
     "filter is overfull, a warning with its current rate is printed once on standard error.\n"
     "\n"
     "Two options make the answer exact, and -v then prints the exact complement. -f compares the "
     "lines with a list instead of a filter. --confirm looks up every maybe in the list from which "
     "the filter was built.\n"
     "\n"
     "--field looks up one field of each line and prints the whole line; --csv and --jsonl read "
     "such records ('tamis help input'). --json prints the totals as one object instead of the "
     "lines.\n"
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
     "Two kinds of filters can miss members. Those of kind pair do so after removals, so that a "
     "line that is not printed may have been added; 'tamis info' prints how likely that is. A "
     "private filter ('tamis release') gives no verdicts. check prints for every line the "
     "probability that it is a member, a tab and the line. The probability depends on --prior. "
     "--json reports how many lines have which probability, with its 99 % confidence interval. "
     "Options that need a verdict are refused: -c, -l, -m, -q, -v and --confirm. Exit status 0 "
     "means that there were lines, 1 that there were none.",
     "# Print the lines that may be on the list:\n"
     "tamis check bad.tamis access-urls.txt\n"
     "# Print the lines that are not on it:\n"
     "tamis check -v bad.tamis access-urls.txt\n"
     "# Compare with the list itself, which is exact:\n"
     "tamis check -f bad-urls.txt access-urls.txt\n"
     "# Look up every maybe in the list, which is exact as well:\n"
     "tamis check --confirm bad-urls.txt bad.tamis access-urls.txt",
     "patterns confirm invert count line-number quiet field csv jsonl | " FORMATS
     "list-field with-filename "
     "files-with-matches max-count null raw threads memory fpr bytes json key-file from type "
     "column row-group prior " SERVERS,
     0, run_check},
    {"uniq", SEEN, "[FILE...]", "drop repeated lines and keep the order",
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
     "# Print each line the first time that it occurs:\n"
     "tamis uniq access-urls.txt\n"
     "# Print the first line with each value of field 1:\n"
     "tamis uniq --field 1 -t ' ' access-urls.txt\n"
     "# Continue where the last run stopped:\n"
     "tamis uniq --state seen.state access-urls.txt",
     "field csv jsonl invert total state window fpr bytes | " FORMATS
     "items kind exact-until json seed "
     "key-file null raw threads quiet",
     0, run_uniq},
    {"count", OFTEN, "-o OUT [FILE...]", "make a sketch of how often lines occur",
     "Reads the files, or standard input, and writes a sketch of their lines to the file given "
     "with -o. A sketch estimates how often any line occurred, in memory that does not grow: 1 "
     "MiB, unless --bytes, --error or --m sets another size.\n"
     "\n"
     "'tamis freq' looks up counts, 'tamis add' counts further lines, 'tamis merge' adds sketches "
     "up, and 'tamis info' reports how accurate a sketch is. A window counts recent lines only: "
     "'tamis rotate' drops its oldest generation.",
     "# Make a sketch, and look up a line in it:\n"
     "tamis count -o seen.tamis access-urls.txt &&\n"
     "tamis freq seen.tamis http://a.example/\n"
     "# Make a smaller one:\n"
     "tamis count --bytes 256KiB -o small.tamis access-urls.txt",
     "output force bytes kind field csv jsonl weight-field | " FORMATS
     "inner generations error delta "
     "conservative m k counter-bits seed encoding key-file null raw threads shards wait "
     "ack " SERVERS " quiet",
     0, run_count},
    {"freq", OFTEN, "SKETCH [ITEM... | -]", "estimate how often items occurred",
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
     "# How often did a line occur?\n"
     "tamis freq counts.tamis http://a.example/\n"
     "# How often did each line of a list occur?\n"
     "tamis freq counts.tamis - < bad-urls.txt",
     "field csv jsonl json key-file quiet | " FORMATS "null raw " SERVERS, 1, run_freq},
    {"get", SEEN, "MAP [ITEM... | -]", "look up the values of items in a map",
     "Looks up the items, or the lines of standard input if none or - is given, and prints each "
     "item that is found, a tab, and its value. Nothing is printed for an item that is certainly "
     "not in the map. Exit status 0 when an item was found, 1 when none was, 2 on an error.\n"
     "\n"
     "A map is a sealed filter that keeps a value for each key, a whole number of up to 32 bits. "
     "'tamis build --kind map --value-field N' makes it of lines with a key (--field, 1 by "
     "default) "
     "and a value. A key may be repeated with the same value; two values for one key are an "
     "error.\n"
     "\n"
     "A key of the map gets its value, always. Any other item is found by mistake at the "
     "false-positive rate (--fpr), and then gets an arbitrary value. With --fpr 100%, a map takes "
     "little more than the bits of its values, but every item that is not in it gets an arbitrary "
     "value.",
     "# Make a map of lines with a URL, a tab and the number of a category:\n"
     "tamis build --kind map --value-field 2 -o kinds.tamis categories.txt\n"
     "# Look up two URLs:\n"
     "tamis get kinds.tamis http://a.example/ http://b.example/\n"
     "# Look up the lines of a file:\n"
     "tamis get kinds.tamis < bad-urls.txt",
     "field csv jsonl json key-file quiet | " FORMATS "null raw", 1, run_get},
    {"top", OFTEN, "[FILE... | SKETCH]", "list the most frequent lines with their counts",
     "Reads the files, or standard input, and does what sort | uniq -c | sort -rn | head does, in "
     "one pass and with a sketch of 1 MiB. --bytes sets another size; without it, the sketch is "
     "bigger for a large -n or a small --min. Prints for each line its count, an interval for the "
     "true count, and the line. If the count is exact, both ends of the interval are equal. ? "
     "marks a poisoned count: see 'tamis freq --help'. Exit status 0 when a line was listed, 1 "
     "when there was none, 2 on an error.\n"
     "\n"
     "-o also saves the sketch. 'tamis top SKETCH' lists a saved sketch again, 'tamis freq' looks "
     "up its counts, 'tamis add' adds lines to it, and 'tamis merge' adds sketches up.",
     "# List the 20 most frequent lines:\n"
     "tamis top -n 20 access-urls.txt\n"
     "# List the most frequent values of field 1:\n"
     "tamis top --field 1 -t blanks access-urls.txt\n"
     "# Save the sketch as well, and list it again:\n"
     "tamis top -o top.tamis access-urls.txt && tamis top top.tamis",
     "number field csv jsonl weight-field min live output json | " FORMATS
     "bytes force seed key-file null "
     "raw threads " SERVERS " quiet",
     0, run_top},
    {"distinct", HOW_MANY, "[FILE... | SKETCH...]", "count distinct lines",
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
     "# How many distinct lines are there?\n"
     "tamis distinct access-urls.txt\n"
     "# How many are there for each value of field 1?\n"
     "tamis distinct --by 1 -t ' ' access-urls.txt\n"
     "# How many are there in all sketches together?\n"
     "tamis distinct monday.tamis tuesday.tamis\n"
     "# How many values does field 1 have?\n"
     "tamis distinct --field 1 -t ' ' access-urls.txt",
     "by number field csv jsonl interval output json | " FORMATS
     "error bytes generations force seed "
     "encoding key-file null raw threads memory shards wait " SERVERS " quiet",
     0, run_distinct},
    {"merge", MAKE, "-o OUT FILTER...", "make the union of filters, or the sum of sketches",
     "Filters of the same kind, shape and hash become one filter of all their items, bit for bit "
     "the same as if it had been built from them. Sketches become one sketch of all their lines; "
     "distinct sketches may differ in size, and the result has the smallest. The result is written "
     "to the file given with -o. No secret key is needed.\n"
     "\n"
     "Plan each filter for the items of all of them together (tamis build --items), because the "
     "union must not be overfull. Up to twice the planned rate, merge prints a warning. Above "
     "that it fails and writes nothing, unless --overfill is given.",
     "# Plan each filter for the items of both, and make their union:\n"
     "tamis build --items 10k -o a.tamis bad-urls.txt &&\n"
     "tamis build --items 10k -o b.tamis more-urls.txt &&\n"
     "tamis merge -o all.tamis a.tamis b.tamis",
     "output force overfill quiet | wait " SERVERS, 1, run_merge},
    {"compare", LOOK, "FILTER FILTER", "estimate how many items two filters have in common",
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
     "in size. Without --items, build counts the lines, so that two filters differ in shape: give "
     "both the same --items, a number that fits both. No secret key is needed. The bigger the "
     "filters are for their items, the narrower the intervals.",
     "# How many items do two filters have in common?\n"
     "tamis build --items 1M -o may.tamis bad-urls.txt &&\n"
     "tamis build --items 1M -o june.tamis more-urls.txt &&\n"
     "tamis compare may.tamis june.tamis",
     "json", 2, run_compare},
    {"diff", LOOK, "A B", "print how two sets of lines or two filters differ",
     "  tamis diff A.txt B.txt        lines only in A, only in B, in both\n"
     "  tamis diff -23 A.txt B.txt    lines only in A\n"
     "  tamis diff -12 A.txt B.txt    lines in both\n"
     "  tamis diff A.tamis B.tamis    how many, estimated from filters\n"
     "\n"
     "Prints three columns, as comm does: lines only in A, lines only in B after one tab, and "
     "lines "
     "in both after two tabs. -1, -2 and -3 suppress columns. Unlike comm, diff needs no sorted "
     "files, and it compares sets: a line that occurs several times in a file counts once. First "
     "come the lines of A, in the order in which they first occur there, and then the lines only "
     "in B, in theirs. With --field, lines are equal if the field is, and the first line with each "
     "value is printed. One of the two may be - for standard input. Exit status 0 when the sets "
     "are equal, 1 when they differ, 2 on an error.\n"
     "\n"
     "The memory is bounded by --memory. Only a hash of each distinct line is kept, about 22 to 43 "
     "bytes. If the hashes do not fit, diff reads the files several times, each time for a part of "
     "the hashes, and keeps one byte for each line in a temporary file, so that the output is the "
     "same. Pipes and standard input are first copied to a temporary file. A file that changes "
     "meanwhile is an error. The result is exact: hashes have 125 bits and a secret key that is "
     "drawn for each run, so that among a billion lines, even if an enemy has chosen them, two "
     "have the same hash with a probability below 1 in 10^19.\n"
     "\n"
     "Filters and sketches are recognised by their content. For two of them, diff estimates how "
     "many items are only in A, only in B and in both, with 99 % confidence intervals that hold "
     "together, as 'tamis compare' does, and for the same kinds. Build both filters with the same "
     "--items, a number that fits both. Exit status 1 then means that the "
     "sets certainly differ, or do with 99 % certainty if sketches differ in size; 0 means that "
     "the filters show no difference, although their sets may have one.\n"
     "\n"
     "--json prints the members first and second (the names), first_only, second_only and common. "
     "For lines, these are exact numbers of distinct lines; first_lines and second_lines count all "
     "lines, and passes counts how often the files were read. For filters, they are estimates, "
     "each with a lower and an upper bound (_low, _high).",
     "# Compare two lists: lines only in the first, only in the second, and in both:\n"
     "tamis diff bad-urls.txt other.txt\n"
     "# Print the lines that only one of two lists has:\n"
     "tamis diff -3 bad-urls.txt other.txt && echo the same lines",
     "no-first no-second no-common count json field csv jsonl quiet | " FORMATS "null raw memory "
     "temp threads",
     2, run_diff},
    {"convert", EXCHANGE, "--to KIND -o OUT FILTER",
     "change the kind or format of a filter, not its "
     "answers",
     "A counting filter becomes a bloom filter of a quarter of the size, for users who only look "
     "up keys. A filter of another program keeps its bits and changes its container: it is taken "
     "out of a Parquet file (--column, --row-group) or out of gzip, or changed between the two "
     "forms of RedisBloom. To change the hash, build the filter again from the keys, with 'tamis "
     "build --to'.",
     "# Make a bloom filter of a counting filter:\n"
     "tamis convert --to bloom -o users.bloom users.tamis",
     "to output force from column | row-group", 1, run_convert},
    {"pack", EXCHANGE, "-o OUT FILTER", "make a smaller file of a filter, for transfer",
     "The fewer bits are set, the smaller the packed file. A filter built with --for-transfer "
     "takes 1.22 times the lower bound of files that never change at a rate of 1%; a plain bloom "
     "filter takes 1.44 times. "
     "Filters that are half full, and ribbons, do not shrink. 'tamis unpack' restores the filter. "
     "No secret key is needed.",
     "# Make a smaller file, and restore the filter elsewhere:\n"
     "tamis pack -o bad.packed bad.tamis &&\n"
     "tamis unpack -o there.tamis bad.packed",
     "output force quiet", 1, run_pack},
    {"unpack", EXCHANGE, "-o OUT FILE", "restore a filter from a packed file",
     "The result is the packed filter, bit for bit. It can be checked, added to and merged like "
     "any other. An almost empty filter may take thousands of times the space of its packed file, "
     "so unpack files from strangers under a memory limit (ulimit -v).",
     "# Restore a filter that has arrived:\n"
     "tamis unpack -o arrived.tamis arrived.packed",
     "output force", 1, run_unpack},
    {"migrate", EXCHANGE, "SOURCE TARGET", "copy filters from one Redis server to another",
     "Copies the keys of RedisBloom's types (BF, CF, CMS, TOPK, TDIGEST) and of TAMIS.* from the "
     "server SOURCE to the server TARGET. Each is redis://HOST:PORT, a single server or any node "
     "of a cluster, or an address with rediss:// or unix:// (tamis help redis) without a name. "
     "TARGET needs the module tamis-redis.so, or another module that has these "
     "types. SOURCE may have RedisBloom. Keys of other types that match are counted and not "
     "copied. One database of each server is used: 0, or N if its address ends with ?db=N.\n"
     "\n"
     "Every key keeps its time to live and is verified: after it was written, both servers are "
     "read again, and the values must be equal. A key that has changed at the source meanwhile is "
     "copied again, up to five times. Nothing is deleted at the source. At the target, a key "
     "appears with its complete value or not at all. While migrate runs, nobody else may write to "
     "these keys at the target.\n"
     "\n"
     "To resume after an interruption or an error, run the same command again: keys that are "
     "equal on both servers are skipped. A key that exists at the target and differs is left "
     "alone and reported, unless --replace is given. Before anything is copied, migrate checks "
     "that every server of the target has all the types.\n"
     "\n"
     "Filters above 64 MiB are copied in chunks (SCANDUMP and LOADCHUNK) to a temporary key named "
     "tamis-migrate:..., which is renamed at the end and expires after an hour if migrate is "
     "killed. All other values are copied by DUMP and RESTORE. If the target has an older version "
     "of Redis than the source, it refuses the version number of such a payload; migrate then "
     "writes an older number, because values of modules have the same form in both.\n"
     "\n"
     "Exit status 0 when every matching key is at the target and verified, 2 on an error or if "
     "any key is not. An address may contain a password, or REDISCLI_AUTH is used for both.",
     "# What would be copied?\n"
     "tamis migrate --dry-run redis://old:6379 redis://new:6379\n"
     "# Copy the keys whose names begin with x:\n"
     "tamis migrate --match 'x:*' redis://old:6379 redis://new:6379",
     "match dry-run replace json quiet | wait " SERVERS, 2, run_migrate},
    {"release", SECRETS, "--epsilon E -o OUT FILTER",
     "make a private copy of a filter, to be published",
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
     "# Make a filter of one probe, and publish a private copy of it:\n"
     "tamis build --kind bloom --k 1 --items 100k --fpr 10% \\\n"
     "  -o urls.tamis access-urls.txt &&\n"
     "tamis release --epsilon 2 -o urls.private urls.tamis",
     "epsilon output force again quiet", 1, run_release},
    {"info", LOOK, "FILTER...", "describe a filter or a sketch, and how accurate it is now",
     "Prints the kind and size of a filter, how many items it holds and its false-positive rate, "
     "both computed from the bits as they are now. For a sketch, prints how accurate its counts "
     "are. No secret key is needed. Filters of other programs are accepted as by 'tamis check'; "
     "for a Parquet file, info lists the filters of all columns.",
     "# What is in this file, and how accurate is it?\n"
     "tamis info bad.tamis\n"
     "# Draw how full it is:\n"
     "tamis info --plot bad.tamis",
     "plot json from each | " SERVERS, 1, run_info},
    {"verify", LOOK, "FILTER...", "check every checksum and measure the false-positive rate",
     "Reads the whole file and compares its checksums. Then looks up random keys and compares the "
     "share of maybes with the rate that the bits predict. Exit status 0 when all is well, 1 when "
     "the measured rate is not the predicted one, 2 when the file is damaged or on another error.\n"
     "\n"
     "With --pubkey, the file must also have been signed by that key ('tamis sign'). The signature "
     "is checked first. If it is missing or wrong, the exit status is 2, and nothing else is read "
     "from the file. Checksums find accidents; only a signature finds a file that somebody has "
     "changed.",
     "# Is the file intact, and does it keep its rate?\n"
     "tamis verify bad.tamis",
     "keys json key-file pubkey", 1, run_verify},
#ifdef WITH_GUARD
    {"sign", SECRETS, "--seckey KEY FILE...", "sign files, so that others can check them",
     "Writes a signature of each FILE to FILE.sig. FILE can be a filter or any other file. Those "
     "who have the public key check it with 'tamis verify --pubkey', or with signify, whose "
     "formats the keys and the signatures have. A signature is of exactly these bytes: sign a "
     "filter again after it has changed. An existing FILE.sig is replaced only with -f. Exit "
     "status 0 when all were signed, 2 on an error.",
     "# Make a pair of keys, sign a filter, and check the signature:\n"
     "tamis key new --sign release.sec &&\n"
     "tamis sign --seckey release.sec bad.tamis &&\n"
     "tamis verify --pubkey release.sec.pub bad.tamis",
     "seckey force", 1, run_sign},
#endif
    {"explain", LOOK, "WORD...", "draw how a small filter works, bit by bit",
     "Adds the words to a partitioned filter of --k rows of --m bits, and draws each step. --ask "
     "draws a lookup.",
     "# Draw how two words are added and a third is looked up:\n"
     "tamis explain --k 3 --m 5 apple pear --ask plum",
     "ask k m seed", 1, run_explain},
    {"explain cost", LOOK, "[FILTER]", "compute how much time a filter saves",
     "Compares the time of all lookups with a filter and without one. The default numbers are an "
     "example from lectures: 102,000 pages a year, of which 2,000 are bad, a list of 5,000,000 "
     "URLs in a database, and a filter of 30 rows of 2,500,000 bits. --fpr sets another rate. If "
     "FILTER is given, its current rate and its size are used. (To add the word cost to a "
     "drawing, write: tamis explain -- cost.)",
     "# What does a filter save if a lookup in the database takes 20 ms?\n"
     "tamis explain cost --visits 1M --bad 1% --confirm 20ms --fpr 0.1%\n"
     "# What does this filter save?\n"
     "tamis explain cost bad.tamis",
     "visits bad lookup confirm items fpr json", 0, run_explain_cost},
    {"key new", SECRETS, "FILE", "make a secret key",
     "Draws 16 bytes from the system's random generator and writes them as 32 hex digits to FILE, "
     "which only its owner can read (mode 0600). Pass the file to other commands with --key-file. "
     "An existing file is never replaced, because without its key a filter can no longer be "
     "checked or added to. Prints the key's id, as 'tamis key id' does.\n"
     "\n"
     "With --sign, makes a pair of keys for signatures (Ed25519) instead: FILE is the secret key "
     "(mode 0600), and FILE.pub the public key, which you give to others. Both have the formats of "
     "signify and no passphrase. 'tamis sign' and 'tamis guard build --sign' use the secret key, "
     "and --pubkey of other commands the public one.",
     "# Make a secret key, and a filter with it:\n"
     "tamis key new guests.key &&\n"
     "tamis build --key-file guests.key -o guests.tamis users.txt",
     "sign quiet", 1, run_key_new},
    {"key id", SECRETS, "FILE...", "print the ids of keys",
     "The id identifies a key: it is 128 bits computed from the key, which reveal nothing about "
     "it. 'tamis info' prints the same id for a filter that was made with the key. A key file of "
     "yours that others may read is refused, as everywhere. The id of a key for signatures, secret "
     "or public, is its key number, 64 random bits that both keys of a pair have.",
     "# Which key is this?\n"
     "tamis key id secret.key",
     "", 1, run_key_id},
#ifdef WITH_GUARD
    {"guard fetch", GUARD, "DIR [LABEL=URL...]", "download lists of bad URLs",
     "Downloads each list over HTTP or HTTPS to DIR/LABEL.txt, from which 'tamis guard build' "
     "takes it. A list that the server has not changed since is not downloaded again. --sources "
     "names the lists in a file, which also keeps passwords in URLs out of the list of processes. "
     "URLs are never printed.\n"
     "\n"
     "A list is replaced completely or not at all, and only by what is probably a list. Without "
     "--lenient, the old list stays if the new one has no entry, more lines left out than taken, "
     "or fewer than half as many entries. Certificates are checked, and a redirect must not lead "
     "from HTTPS to HTTP. Proxies are taken from the environment (https_proxy, no_proxy), as in "
     "curl. If a list fails, the others are still downloaded. Exit status 0 when all lists are up "
     "to date, 2 when one failed.",
     "# Download a list, and publish it under the label malware:\n"
     "tamis guard fetch lists malware=https://lists.example/bad.txt &&\n"
     "tamis guard build guard lists\n"
     "# Download all lists that a file names:\n"
     "tamis guard fetch lists --sources sources.txt",
     "sources lenient quiet json | max-bytes timeout cacert", 1, run_guard_fetch},
    {"guard build", GUARD, "DIR LIST...", "publish lists of bad URLs in a directory",
     "Reads the lists and writes to DIR a filter and an exact store of their entries, which 'tamis "
     "guard check' and 'tamis guard serve' use. Each line of a list is a URL, a host, a line of a "
     "hosts file, ||host^ or a comment. Any other line is reported with its number and left out. "
     "Entries that are too deep to cover what is below them are counted and reported. A list may "
     "be compressed.\n"
     "\n"
     "Each LIST is a file, or LABEL=FILE. Verdicts name the labels of the lists that contain the "
     "URL. The default label is the name of the file, without its folder and its ending. If LIST "
     "is a directory, its files with the ending .txt are the lists, as 'tamis guard fetch' makes "
     "them. URLs in --never lists are never reported as bad.\n"
     "\n"
     "A list without any entry, or with more lines left out than taken, is an error, and the "
     "previous version stays published. --lenient accepts such a list. If DIR has a version "
     "already, the next one is published completely or not at all, and the update that clients "
     "download is small if little has changed. Exit status 0 when a version was published, 2 on an "
     "error.\n"
     "\n"
     "With --labels-in-filter, clients know the probable label of a URL before they ask "
     "the server, and when they cannot ask it. An expression has the label of the first LIST that "
     "contains it. A URL that is not listed gets a wrong label as rarely as the filter cannot "
     "exclude it.\n"
     "\n"
     "--sign signs the version, so that clients with the public key can fetch its files from "
     "anybody: a mirror can neither change nor exchange them. With --expires, it cannot offer an "
     "old version for longer than that, either.",
     "# Publish a list under the label malware, without popular URLs:\n"
     "tamis guard build guard malware=bad-urls.txt --never popular.txt",
     "never max-bytes labels-in-filter lenient sign expires quiet json", 2, run_guard_build},
    {"guard check", GUARD, "DIR [URL...]", "check whether URLs are listed",
     "Checks the URLs, or the lines of standard input if none or - is given. Prints a verdict for "
     "each: clean, listed (with the labels) or unconfirmed, and how it was reached. Exit status 0 "
     "when a URL was listed, 1 when all were clean, 2 on an error, or if a verdict is unconfirmed "
     "or a line is not a URL.\n"
     "\n"
     "With --pubkey, DIR may come from a mirror that nobody trusts. A version that is not signed "
     "by "
     "one of these keys, has expired, was built in the future, or is older than the last one that "
     "--state remembers is refused with the reason, and no URL is checked.",
     "# Is a URL listed?\n"
     "tamis guard check guard http://evil.example/login\n"
     "# Check the URLs of a file, one per line:\n"
     "tamis guard check guard - < evil.txt",
     "pubkey state quiet json", 1, run_guard_check},
    {"guard explain", GUARD, "URL [DIR]", "print the canonical form of a URL and its expressions",
     "Expressions are the combinations of host and path under which a URL may be listed. With "
     "DIR, their hashes are printed as well, and what the filter and the store of DIR answer for "
     "each.",
     "# Under which expressions may a URL be listed?\n"
     "tamis guard explain 'HTTP://A.B.C:80/x/../1/%32.html?p=1#top'",
     "json", 1, run_guard_explain},
    {"guard serve", GUARD, "DIR", "serve a guard directory over HTTP",
     "Serves what 'tamis guard build' has published in DIR, and prints its address when it is "
     "ready:\n"
     "\n"
     "  /filter       the filter, which clients ask first\n"
     "  /v1/confirm   exact answers where the filter cannot exclude a URL;\n"
     "                the client sends only four bytes of a hash\n"
     "  /v1/update    updates of the filter\n"
     "  /metrics      figures for monitoring; see --metrics-address\n"
     "  /             a page for people\n"
     "\n"
     "A new version of DIR is served as soon as it is published. With --pubkey it must be signed, "
     "as for 'tamis guard check'; if it is refused, the previous version stays in use. The server "
     "stops on SIGTERM or SIGINT, with exit status 0. It takes its socket from systemd if one is "
     "passed, and reports to systemd when it is ready. For the public, put a proxy in front that "
     "terminates TLS, and name it with --trust-proxy, so that limits hold for each client behind "
     "it.",
     "# Serve a directory at port 8080 of this machine:\n"
     "tamis guard serve guard --port 8080\n"
     "# Serve it behind a proxy on this machine, 20 requests a second for each client:\n"
     "tamis guard serve guard --port 8080 --trust-proxy 127.0.0.1 --rate-limit 20",
     "port address host-name threads rate-limit quiet | connections per-address timeout cache "
     "metrics-address trust-proxy access-log log-clients pubkey state",
     1, run_guard_serve},
#endif
    {"help", HELP, "[COMMAND | TOPIC]", "print help about a command or a topic", "",
     "# Print a topic:\n"
     "tamis help exit-status\n"
     "# Print all about a command:\n"
     "tamis help check\n"
     "# Write the completions for bash to a file:\n"
     "tamis help --completions bash > tamis.bash",
     "man completions", 0, run_help},
    {NULL, HELP, NULL, NULL, NULL, NULL, NULL, 0, NULL},
};

const struct group groups[] = {
    {"key",
     "A secret key protects a filter against strangers who choose what is added or looked up: see "
     "'tamis help keys'. With --sign, 'tamis key new' makes keys for signatures of files instead.",
     "# Make a key, and print its id:\n"
     "tamis key new my.key && tamis key id my.key"},
#ifdef WITH_GUARD
    {"guard",
     "The guard checks URLs against lists of bad ones. A filter answers first, and an exact store "
     "confirms.",
     "# Publish a list, and check a URL against it:\n"
     "echo evil.example > evil.txt &&\n"
     "tamis guard build evil malware=evil.txt &&\n"
     "tamis guard check evil http://evil.example/login\n"
     "# Serve it to browsers and other clients:\n"
     "tamis guard serve evil --port 8080"},
#endif
    {NULL, NULL, NULL},
};

const char overview_example[] =
    "# Make a filter of a list, and print the lines that may be on it:\n"
    "tamis build -o seen.tamis list.txt &&\n"
    "tamis check seen.tamis other.txt\n"
    "# List the most frequent lines, and count the distinct ones:\n"
    "tamis top list.txt && tamis distinct list.txt";
