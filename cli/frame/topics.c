/* The topics of 'tamis help TOPIC' and of the manual page, which belong to no single command.
 * Tables are indented, and their lines have up to 80 characters; other text is wrapped. */
#include "options.h"

const struct topic topics[] = {
    {"kinds", "the kinds of filters and sketches, and what each is for",
     "A filter holds a set. The number is the bits per item at a false-positive rate of 1 %. No "
     "structure can have fewer than 6.64.\n"
     "\n"
     "  blocked      10.1  one cache line for each key: the fastest (default)\n"
     "  bloom         9.6  the classic: k bits anywhere in m\n"
     "  partitioned   9.6  k rows of m bits, one bit in each row\n"
     "  cuckoo        9.5  fingerprints; keys can be removed\n"
     "  counting       38  counters instead of bits; keys can be removed\n"
     "  pair           20  one filter of added and one of removed keys; keys can be\n"
     "                     removed; can miss members\n"
     "  growing     13-26  grows with its keys: for a set of unknown size\n"
     "  window         13  generations of filters, of which the oldest is forgotten\n"
     "  ribbon        6.8  sealed, never changes: the smallest\n"
     "  fuse          7.9  sealed, never changes: fast without SIMD\n"
     "  exact         6.8  sealed, never changes: never wrong about any line that it\n"
     "                     was built with, member or excluded (--never)\n"
     "  private            a bloom filter with flipped bits, to be published (tamis\n"
     "                     release); can miss members\n"
     "\n"
     "A sketch estimates how often a line occurred:\n"
     "\n"
     "  count-min          rows of counters; the smallest is the count; never too low\n"
     "  count-sketch       rows of signed counters; the median is the count\n"
     "  tally              counters of one byte that grow as needed; never too low\n"
     "  signed-tally       the same for weights of either sign; too low or too high\n"
     "  top                a tally that keeps the most frequent lines: see 'tamis top'\n"
     "\n"
     "'tamis plan' computes the sizes of filters for your numbers. For a sketch, you choose the "
     "size ('tamis count --bytes'); for count-min and count-sketch you can choose the error "
     "instead (--error, --delta). 'tamis info' reports how accurate a sketch is.",
     "tamis plan --items 1M --fpr 1%"},
    {"numbers", "how numbers, sizes, rates and times are written",
     "  counts    1000000, 1e6, 1M; k, M, G, T are thousands, Ki, Mi, Gi, Ti 1024s;\n"
     "            upper and lower case mean the same: 1m is 1M\n"
     "  sizes     the same, with a B or without: 2000000, 2MB, 2mb, 2MiB\n"
     "  rates     0.01, 1e-2, 1%, 1/100: above 0 and below 1\n"
     "  times     0.5, 0.5s, 500ms, 20us, 90ns; 5m, 1h, 1d: minutes, hours, days\n"
     "            ('uniq --window' takes counts and times: there 5m is five minutes)\n"
     "  seeds     decimal, or hexadecimal after 0x; below 2^64",
     "tamis plan --fpr 1/1000 --bytes 2MiB"},
    {"keys", "what a key is, and how secret keys protect a filter",
     "A key is a line without its newline: any bytes, any length. With -z, lines end with a NUL "
     "byte instead, as find -print0 and git ls-files -z write them. A carriage return before the "
     "newline belongs to the key. An empty line is a key.\n"
     "\n"
     "Keys are hashed by XXH3-128, which is fast and public. Strangers who choose what is added or "
     "looked up could therefore choose keys that make the filter wrong more often. --key-file FILE "
     "prevents this: keys are then hashed by SipHash-2-4 with the secret in FILE, which is 16 "
     "bytes or 32 hexadecimal digits. 'tamis key new' makes such a file.\n"
     "\n"
     "The filter contains an id of the secret, never the secret itself; 'tamis key id' and 'tamis "
     "info' print the id. As with ssh, a key file of yours that others may read is refused: "
     "protect it with chmod 600. Secret keys never appear in core dumps, in messages or in "
     "--json.",
     "tamis key new my.key &&\n"
     "tamis build --key-file my.key -o guests.tamis users.txt"},
    {"input", "files, standard input, compressed input, fields, and options",
     "Commands read the named files one after the other, or standard input if none is named; - "
     "stands for standard input. Input that begins like gzip, zstd, bzip2 or xz is decompressed "
     "automatically, unless --raw is given. The last line may lack its newline.\n"
     "\n"
     "Options may stand anywhere: -o FILE, -oFILE, --output FILE, --output=FILE. Short options may "
     "be joined: -vc. After --, every word is an operand, even if it begins with -.\n"
     "\n"
     "Commands that only read a filter also accept it from a pipe, or as - from standard input: "
     "info, check, freq, top, verify, compare, merge, convert and pack. The filter is then kept in "
     "memory. Standard input can be either the filter or the lines. A file named - is written "
     "./-.\n"
     "\n"
     "With --field, one field of each line is the key. Fields are split at every --delimiter "
     "(default: a tab) or, with -t blanks, at any number of spaces and tabs, as in awk. Quotes, as "
     "in CSV, have no special meaning. Lines with fewer fields are skipped, and so are lines whose "
     "--weight-field is neither a whole number nor -. Their number is printed on standard error; "
     "the exit status does not change.",
     "tamis check -vc bad.tamis access-urls.txt"},
    {"formats", "the files that are read and written, and --json",
     "A filter is one file: little-endian, versioned and checksummed, with the same bytes on every "
     "machine (docs/FORMAT.md). A file is replaced completely or not at all, even if the command "
     "is interrupted, the disk is full or the power fails. Commands that change one filter at the "
     "same time wait for each other. 'tamis pack' makes a smaller file for transfer.\n"
     "\n"
     "--json prints one object on one line; if a command handles several files, items or URLs, it "
     "prints a line for each. 'tamis plan' prints a list with one object for each kind. If an item "
     "is not UTF-8, item_hex contains its bytes, and in item each invalid byte is replaced by the "
     "character with that byte's number. url and url_hex of 'guard check' follow the same rule.",
     "tamis info --json bad.tamis"},
    {"exit-status", "what 0, 1 and 2 mean",
     "  0  a line was selected, or the work was done\n"
     "  1  no line was selected or listed (check, freq, top, guard check), no line to\n"
     "     remove was present (remove), or the measured rate is not the predicted one\n"
     "     (verify)\n"
     "     (check of a private filter: 0 means that there were lines, 1 that\n"
     "     there were no lines; neither shows what the filter contains)\n"
     "  2  an error, with a message on standard error that names the file and the\n"
     "     reason; no filter was written or changed\n"
     "     (rotate with several filters: all are tried before the first is changed;\n"
     "     if one cannot be saved then, those before it stay rotated)\n"
     "     (build, add, compact and merge: also if the filter's rate would be more\n"
     "     than twice the planned one; --overfill allows it)\n"
     "     (uniq: also if new lines were dropped at more than twice the requested\n"
     "     rate; the lines that it kept are printed, and its state is saved)\n"
     "\n"
     "If the reader of the output goes away (tamis check ... | head), the command ends quietly by "
     "SIGPIPE. SIGINT (Ctrl-C), SIGTERM and SIGHUP end it, and no file is left half written; a "
     "signal that arrives while a file is being saved takes effect afterwards. 'uniq --state' "
     "saves what it has read before it ends.",
     "tamis check -q bad.tamis bad-urls.txt && echo some of them are listed"},
    {"redis", "sets at redis:// addresses, on one server or a cluster",
     "In place of a filter, redis://[[USER:]PASSWORD@]HOST[:PORT]/NAME names a set or a sketch at "
     "a Redis server with the module tamis-redis.so, or over all masters of a Redis Cluster; HOST "
     "is then any of its nodes (docs/REDIS.md). 'build' and 'count' make one with -o, and add, "
     "check, freq, top, remove, rotate, merge and info accept it. Every line belongs to one of its "
     "--shards. Input from a pipe requires --items, because its lines are sent to the servers as "
     "they arrive.\n"
     "\n"
     "  --wait N        a line counts as added when N replicas have confirmed it;\n"
     "                  without this option, when its master has it; the line may be\n"
     "                  lost if that master fails at this moment\n"
     "  --ack           print how many lines are added, counted from the first\n"
     "  --timeout TIME  how long to wait for servers that fail or change their roles\n"
     "                  (default 60s)\n"
     "\n"
     "Unlike a file, a set changes while lines are added. An error message states how many lines, "
     "counted from the first, were added. Adding them again does no harm, except that counts may "
     "then be too high.\n"
     "\n"
     "Everybody who can list processes sees a password in an address; REDISCLI_AUTH is safer. "
     "There is no TLS: use stunnel. Making a set requires the permission for EVAL.",
     "tamis build --items 1M -o redis://localhost:7001/bad bad-urls.txt"},
    {"environment", "the environment variables that are read",
     "  NO_COLOR                 if set, no colours unless --color is given\n"
     "  TERM                     'dumb', or not set: no colours\n"
     "  COLUMNS                  width of pictures and progress, and of help on a\n"
     "                           terminal (default: the terminal's width, or 80)\n"
     "  LC_ALL, LC_CTYPE, LANG   the first that is set decides: pictures use Unicode\n"
     "                           if it names UTF-8, and otherwise ASCII\n"
     "  TMPDIR                   directory for the temporary file of 'build --memory',\n"
     "                           unless --temp is given (default /tmp)\n"
     "  REDISCLI_AUTH            password for redis:// addresses that have none",
     "COLUMNS=100 tamis plan --items 1M --fpr 1% --plot"},
    {NULL, NULL, NULL, NULL},
};
