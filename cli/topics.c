/* What belongs to no command: for 'tamis help TOPIC' and the manual page. Lines of up to 84 characters, shown as
 * they are. */
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
     "  exact         6.8  sealed for ever: never wrong about the keys you list (--never)\n"
     "  private            flipped bits, to be published (tamis release); can miss\n"
     "\n"
     "How often, not whether:\n"
     "\n"
     "  count-min          rows of counters, the least of a key's counts; never too few\n"
     "  count-sketch       rows of signed counters, the median\n"
     "  tally              counters of a byte that grow where they must; never too few\n"
     "  signed-tally       the same for weights of either sign; wrong on either side\n"
     "  top                a tally that keeps the most frequent items: see 'tamis top'\n"
     "\n"
     "'tamis plan' computes their sizes for your numbers.",
     "tamis plan --items 1M --fpr 1%"},
    {"numbers", "how numbers, sizes, rates and times are written",
     "  counts    1000000, 1e6, 1M; k, M, G and T are thousands, Ki, Mi, Gi and Ti 1024s\n"
     "  sizes     the same, with a B or without: 2000000, 2MB, 2MiB\n"
     "  rates     0.01, 1e-2, 1%, 1/100: above 0 and below 1\n"
     "  times     0.5, 0.5s, 500ms, 20us, 90ns\n"
     "  seeds     decimal, or hexadecimal after 0x; below 2^64",
     "tamis plan --fpr 1/1000 --bytes 2MiB"},
    {"keys", "what a key is, and secret keys",
     "A key is a line: any bytes, any length, without its newline. With -z lines end with a\n"
     "NUL byte instead, as find -print0 and git ls-files -z write them. A carriage return\n"
     "before the newline belongs to the key. An empty line is a key.\n"
     "\n"
     "Keys are hashed by XXH3-128, which is fast and public. Where strangers choose what is\n"
     "added or asked, they could aim at the filter: --key-file takes 16 secret bytes, or 32\n"
     "hexadecimal digits, and hashes by SipHash-2-4. 'tamis key new' makes such a file. The\n"
     "filter holds an id of the secret, never the secret; 'tamis key id' and 'tamis info' show\n"
     "it. As with ssh, a key of yours that others may read is refused: chmod 600 it. In core\n"
     "dumps, in messages and in --json there is no key.",
     "tamis key new my.key && tamis build --key-file my.key -o guests.tamis users.txt"},
    {"input", "files, standard input, compressed input, names that begin with -",
     "Commands read the files that are named, one after the other, or standard input where\n"
     "none is; - stands for standard input. Input that begins like gzip, zstd, bzip2 or xz is\n"
     "unpacked on the way; --raw takes it as it is. The last line may lack its newline.\n"
     "\n"
     "Options may stand anywhere: -o FILE, -oFILE, --output FILE, --output=FILE; short ones\n"
     "may be joined, -vc. After -- everything is a word, also what begins with -.",
     "tamis check -vc bad.tamis access-urls.txt"},
    {"formats", "the files that are read and written",
     "A filter is one file, little-endian, versioned and summed: the same bytes on every\n"
     "machine (docs/FORMAT.md). Files are replaced whole or not at all, also when the command\n"
     "is interrupted, the disk is full or the power fails; commands that change one filter at\n"
     "the same time wait for each other. 'tamis pack' makes a smaller file for the wire.\n"
     "--json prints one object, or one for each file on a line of its own.",
     "tamis info --json bad.tamis"},
    {"exit-status", "what 0, 1 and 2 mean",
     "  0  a line was selected, or the work was done\n"
     "  1  no line was selected, none was in, or a measured rate is off\n"
     "  2  an error, with one line on standard error that names the file and the reason:\n"
     "     no filter was written or changed\n"
     "     (uniq: also when new lines were dropped at more than twice the rate asked for; what\n"
     "     it kept is printed, and its state is saved)\n"
     "\n"
     "When the reader of the output goes away (tamis check ... | head), the command ends\n"
     "quietly by SIGPIPE. SIGINT (Ctrl-C), SIGTERM and SIGHUP end it and leave no file half\n"
     "written; one that comes while a file is being saved takes effect when it is there.\n"
     "'uniq --state' saves what it has read before it ends so.",
     "tamis check -q bad.tamis bad-urls.txt && echo some of them are listed"},
    {"redis", "sets at redis:// addresses: over the servers of a cluster",
     "Where a filter is named, redis://[[USER:]PASSWORD@]HOST[:PORT]/NAME is a set, or a\n"
     "sketch, at a Redis server with the module tamis-redis.so, or over all masters of a Redis\n"
     "Cluster, of which HOST is any node (docs/REDIS.md). 'build' and 'count' make one with -o;\n"
     "add, check, freq, top, remove, rotate, merge and info take it. Every line belongs to one\n"
     "of its --shards. A stream needs --items: it goes to the servers as it comes.\n"
     "\n"
     "  --wait N     a line counts as added when N replicas have it, too; without it, when its\n"
     "               master has it, which may be lost when that one fails at this moment\n"
     "  --ack        prints how many lines are added, from the first one on\n"
     "  --timeout S  servers that fail, or change their roles, are waited for so long\n"
     "\n"
     "Unlike a file, a set changes while lines are added: after an error the first lines, as\n"
     "many as it says, are in. To add them again does no harm; counts may be too high then.\n"
     "A password in an address is seen by all who list processes: better set REDISCLI_AUTH.\n"
     "There is no TLS: use stunnel. To make a set takes the permission for EVAL.",
     "tamis build --items 1M -o redis://localhost:7001/bad bad-urls.txt"},
    {"environment", "variables that are read",
     "  NO_COLOR                 when set, no colour unless --color says so\n"
     "  TERM                     'dumb', or not set: no colour\n"
     "  COLUMNS                  width for pictures and progress; else the terminal's, or 80\n"
     "  LC_ALL, LC_CTYPE, LANG   the first that is set: pictures in Unicode when it names UTF-8,\n"
     "                           in ASCII when not\n"
     "  TMPDIR                   where keys beyond --memory wait, without --temp; else /tmp\n"
     "  REDISCLI_AUTH            the password for redis:// addresses that have none",
     "COLUMNS=100 tamis plan --items 1M --fpr 1% --plot"},
    {NULL, NULL, NULL, NULL},
};
