/* What belongs to no command: for 'tamis help TOPIC' and the manual page. Tables, which are
 * indented, have lines of up to 80 characters; the rest flows. */
#include "options.h"

const struct topic topics[] = {
    {"kinds", "the structures, and which to take",
     "Bits per item are for 1 % false positives; no structure needs fewer than 6.64.\n"
     "\n"
     "  blocked      10.1  one cache line for each key: the fastest (default)\n"
     "  bloom         9.6  the classic: k bits anywhere in m\n"
     "  partitioned   9.6  k rows of m bits, one bit in each row\n"
     "  cuckoo        9.5  fingerprints; keys can be removed\n"
     "  counting       38  counters instead of bits; keys can be removed\n"
     "  pair           20  added and removed filters; keys can be removed; can miss\n"
     "  growing     13-26  for a set of unknown size\n"
     "  window         13  generations of filters: forgets the oldest\n"
     "  ribbon        6.8  sealed for ever: the smallest\n"
     "  fuse          7.9  sealed for ever: fast without SIMD\n"
     "  exact         6.8  sealed for ever: never wrong about keys you list (--never)\n"
     "  private            flipped bits, to be published (tamis release); can miss\n"
     "\n"
     "How often, not whether:\n"
     "\n"
     "  count-min          rows of counters, a key's least one; never too few\n"
     "  count-sketch       rows of signed counters, the median\n"
     "  tally              counters of a byte that grow where they must; never too few\n"
     "  signed-tally       the same for weights of either sign; wrong on either side\n"
     "  top                a tally that keeps the most frequent items: see 'tamis top'\n"
     "\n"
     "'tamis plan' computes the sizes of filters for your numbers. Of sketches you say the size, "
     "'tamis count --bytes', or of count-min and count-sketch the error (--error, --delta); "
     "'tamis info' tells how wrong one is.",
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
    {"keys", "what a key is, and secret keys",
     "A key is a line: any bytes, any length, without its newline. With -z lines end with a NUL "
     "byte instead, as find -print0 and git ls-files -z write them. A carriage return before the "
     "newline belongs to the key. An empty line is a key.\n"
     "\n"
     "Keys are hashed by XXH3-128, which is fast and public. Where strangers choose what is "
     "added or asked, they could aim at the filter: --key-file takes 16 secret bytes, or 32 "
     "hexadecimal digits, and hashes by SipHash-2-4. 'tamis key new' makes such a file. The "
     "filter holds an id of the secret, never the secret; 'tamis key id' and 'tamis info' show "
     "it. As with ssh, a key of yours that others may read is refused: chmod 600 it. In core "
     "dumps, in messages and in --json there is no key.",
     "tamis key new my.key &&\n"
     "tamis build --key-file my.key -o guests.tamis users.txt"},
    {"input", "files, standard input, compressed input, names that begin with -",
     "Commands read the files that are named, one after the other, or standard input where none "
     "is; - stands for standard input. Input that begins like gzip, zstd, bzip2 or xz is "
     "unpacked on the way; --raw takes it as it is. The last line may lack its newline.\n"
     "\n"
     "Options may stand anywhere: -o FILE, -oFILE, --output FILE, --output=FILE; short ones may "
     "be joined, -vc. After -- everything is a word, also what begins with -.\n"
     "\n"
     "A filter may be - as well, or a pipe, where it is only read: info, check, freq, top, verify, "
     "compare, merge, convert, pack. It is kept in memory then; standard input can be either the "
     "filter or the lines. A file named - is ./-.\n"
     "\n"
     "With --field a column of each line is the key. Columns are split at every --delimiter, or at "
     "blanks as awk does; quotes, as in CSV, are bytes like others. Lines with fewer columns, or "
     "with a --weight-field that is neither a whole number nor -, are skipped and counted on "
     "standard error; the exit status stays what it is.",
     "tamis check -vc bad.tamis access-urls.txt"},
    {"formats", "the files that are read and written",
     "A filter is one file, little-endian, versioned and summed: the same bytes on every machine "
     "(docs/FORMAT.md). Files are replaced whole or not at all, also when the command is "
     "interrupted, the disk is full or the power fails; commands that change one filter at the "
     "same time wait for each other. 'tamis pack' makes a smaller file for the wire.\n"
     "\n"
     "--json prints an object on a line of its own: one in all, or one for each file, item or "
     "URL where several are asked about; 'tamis plan' a list of one for each kind. An item that is "
     "not UTF-8 has its bytes in item_hex, too, since in item each byte that is not is the "
     "character of that number (url and url_hex of 'guard check' are the same).",
     "tamis info --json bad.tamis"},
    {"exit-status", "what 0, 1 and 2 mean",
     "  0  a line was selected, or the work was done\n"
     "  1  no line was selected, none was in, or a measured rate is off\n"
     "     (check of a private filter: 0 says that there were lines, 1 that there were\n"
     "     none, and neither what is in it)\n"
     "  2  an error, with one line on standard error that names the file and the\n"
     "     reason: no filter was written or changed; of several, 'rotate' tries all\n"
     "     before it changes the first, and those before one that cannot be saved are\n"
     "     rotated\n"
     "     (build, add, compact and merge: also when the filter would be overfull, at\n"
     "     more than twice its planned rate; --overfill allows it)\n"
     "     (uniq: also when new lines were dropped at more than twice the rate asked\n"
     "     for; what it kept is printed, and its state is saved)\n"
     "\n"
     "When the reader of the output goes away (tamis check ... | head), the command ends quietly "
     "by SIGPIPE. SIGINT (Ctrl-C), SIGTERM and SIGHUP end it and leave no file half written; one "
     "that comes while a file is being saved takes effect when it is there. 'uniq --state' saves "
     "what it has read before it ends so.",
     "tamis check -q bad.tamis bad-urls.txt && echo some of them are listed"},
    {"redis", "sets at redis:// addresses: over the servers of a cluster",
     "Where a filter is named, redis://[[USER:]PASSWORD@]HOST[:PORT]/NAME is a set, or a sketch, "
     "at a Redis server with the module tamis-redis.so, or over all masters of a Redis Cluster, "
     "of which HOST is any node (docs/REDIS.md). 'build' and 'count' make one with -o; add, "
     "check, freq, top, remove, rotate, merge and info take it. Every line belongs to one of its "
     "--shards. A stream needs --items: it goes to the servers as it comes.\n"
     "\n"
     "  --wait N        a line counts as added when N replicas have it, too; without\n"
     "                  it, when its master has it, which may be lost when that one\n"
     "                  fails at this moment\n"
     "  --ack           prints how many lines are added, from the first one on\n"
     "  --timeout TIME  servers that fail, or change their roles, are waited for so\n"
     "                  long (default 60s)\n"
     "\n"
     "Unlike a file, a set changes while lines are added: after an error the first lines, as "
     "many as it says, are in. To add them again does no harm; counts may be too high then. A "
     "password in an address is seen by all who list processes: better set REDISCLI_AUTH. There "
     "is no TLS: use stunnel. To make a set takes the permission for EVAL.",
     "tamis build --items 1M -o redis://localhost:7001/bad bad-urls.txt"},
    {"environment", "variables that are read",
     "  NO_COLOR                 when set, no colour unless --color says so\n"
     "  TERM                     'dumb', or not set: no colour\n"
     "  COLUMNS                  width for pictures and progress, and for help on a\n"
     "                           terminal; else the terminal's, or 80\n"
     "  LC_ALL, LC_CTYPE, LANG   the first that is set: pictures in Unicode when it\n"
     "                           names UTF-8, in ASCII when not\n"
     "  TMPDIR                   where keys beyond --memory wait, without --temp;\n"
     "                           else /tmp\n"
     "  REDISCLI_AUTH            the password for redis:// addresses that have none",
     "COLUMNS=100 tamis plan --items 1M --fpr 1% --plot"},
    {NULL, NULL, NULL, NULL},
};
