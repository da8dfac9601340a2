#!/bin/sh
# Checks the rules of docs/DESIGN.md and CONTRIBUTING.md: who may include whom, who may call what,
# how long and how wide things are, which words are used, what every kind must have. Each violation
# is printed as file:line: reason.
#
# The test first tests itself: a small tree with every fault must yield exactly the expected
# reports, so that every rule works and none reports what is allowed. TAMIS_SOURCE is the tree
# (default: the one of this script).
#
# shellcheck disable=SC2016 # the dollars are those of awk
set -u
export LC_ALL=C

source=${TAMIS_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
trap 'exit 1' HUP INT TERM

# files PATTERN...: the files of the tree, without those that are built or fetched.
files() {
    for pattern in "$@"; do
        find . -name '.?*' -prune -o -type d \( -name 'build*' -o -name node_modules \) -prune -o \
            -type f -name "$pattern" -print
    done | sed 's|^\./||' | sort
}

# over PROGRAM [-v NAME=VALUE]...: runs awk over the files named on standard input.
over() {
    tr '\n' '\0' | xargs -0 -r awk "$@"
}

# code(line) returns a line of C without comments and the contents of strings. It must be called for
# every line of a file, in order.
awk_code='
function code(line,    out, c, two, quote) {
    if (FNR == 1) in_comment = 0
    out = ""
    while (line != "") {
        two = substr(line, 1, 2)
        c = substr(line, 1, 1)
        if (in_comment) {
            if (two == "*/") in_comment = 0
            line = substr(line, two == "*/" ? 3 : 2)
        } else if (quote != "") {
            if (c == quote) { out = out c; quote = "" }
            line = substr(line, c == "\\" ? 3 : 2)
        } else if (two == "/*") {
            in_comment = 1
            line = substr(line, 3)
        } else if (two == "//") {
            line = ""
        } else {
            if (c == "\"" || c == "\047") quote = c
            out = out c
            line = substr(line, 2)
        }
    }
    return out
}
function report(reason) { print FILENAME ":" FNR ": " reason }
'

# texts: files that people read.
texts() {
    files '*.[ch]' '*.cu' '*.cc' '*.h[hp]*' '*.sh' '*.py' '*.pyi' '*.toml' '*.js' '*.mjs' '*.ts' \
        '*.css' '*.html' '*.md' '*.cmake' CMakeLists.txt CMakePresets.json '*.in' '*.t' run
}

# No line of more than 100 characters, except:
#   - a line that is short without its address, because an address cannot be broken;
#   - Markdown between fences, which is shown as it was printed, and rows of tables, which must be
#     one line;
#   - commands and expected output of transcripts, which are what the shell and the command print;
#   - docs/BENCHMARKS.md, CALLS.md and FREQUENCY.md, which programs write.
check_widths() {
    texts | grep -vE '^docs/(BENCHMARKS|CALLS|FREQUENCY)\.md$' | over '
        FNR == 1 { quoted = 0; page = FILENAME ~ /\.md$/; transcript = FILENAME ~ /\.t$/ }
        page && /^ *```/ { quoted = !quoted }
        quoted || (page && /^ *\|/) || (transcript && !/^#/) { next }
        {
            line = $0
            gsub(/[\200-\277]/, "", line) # the bytes of a character after its first
            if (length(line) <= 100) next
            gsub(/https?:\/\/[^ )>"]*/, "", line)
            if (length(line) > 100) print FILENAME ":" FNR ": a line of more than 100 columns"
        }'
}

# Phrases of the dialect that this project once wrote. They are found across line ends, and without
# regard to case. The pattern is written in halves, or this file would break its own rule.
check_phrases() {
    phrases='te''lls? of|(is|are|was|were) to''ld|to''ld of|tha''t tells? how often'
    phrases="$phrases|kinds tha""t weigh|bu""t for|comes? to th""e same"
    phrases="$phrases|(is|are|was|were) n""o [a-z]+|(is|are|was|were) no""ne"
    phrases="$phrases|lower e""nds?|at the""ir ends?|at i""ts end"
    phrases="$phrases|over[-_]fu""ll"
    allowed='there (is|are|was|were) no(ne)?'
    allowed="$allowed|(is|are|was|were) no (longer|more|less|fewer|greater|smaller|larger|bigger"
    allowed="$allowed|longer|shorter|higher|lower|older|newer|later|earlier|better|worse|faster"
    allowed="$allowed|slower|wider|further)"
    texts | over -v of="O""f" -v phrases="(^|[^a-z0-9_])($phrases)([^a-z0-9_]|\$)" \
        -v allowed="(^|[^a-z])($allowed)([^a-z]|\$)" '
        FNR == 1 { tail = ""; transcript = FILENAME ~ /\.t$/ }
        # What the command prints is checked where the command has it.
        transcript && !/^#/ { tail = ""; next }
        {
            text = $0
            gsub(/ is None/, "", text) # Python
            if (FILENAME ~ /\.md$/) gsub(/`[^`]*`/, "``", text) # names, also those of the past
            sub(/^[ \t]*(\/\*+|\*+|#+|\/\/+|>)?[ \t]*/, "", text)
            if (text ~ "(^|[.:;!?] |/[*] ?|[#\"] |// |\"\"\")" of " [a-z0-9]")
                print FILENAME ":" FNR ": a sentence that begins with \"" of "\""
            joined = tail == "" ? tolower(text) : tail " " tolower(text)
            while (match(joined, allowed))
                joined = substr(joined, 1, RSTART) "-" substr(joined, RSTART + RLENGTH - 1)
            while (match(joined, phrases)) {
                found = substr(joined, RSTART, RLENGTH)
                gsub(/^[^a-z]+|[^a-z]+$/, "", found)
                print FILENAME ":" FNR ": \"" found "\": write plain English"
                joined = substr(joined, RSTART + RLENGTH - 1)
            }
            n = split(tolower(text), word, /[ \t]+/)
            tail = word[n]
            for (i = n - 1; i >= 1 && i > n - 3; i--) tail = word[i] " " tail
            if (tail ~ phrases) tail = "" # was reported
        }'
}

check_text() {
    # In halves, or this file would break its own rule.
    marks='TO''DO|FIX''ME|XX''X'
    files '*.[ch]' '*.cc' '*.h[hp]*' '*.sh' '*.py' '*.pyi' '*.js' '*.mjs' '*.cmake' \
        CMakeLists.txt run |
        over -v marks="(^|[^A-Za-z0-9_])($marks)([^A-Za-z0-9_]|\$)" \
            '$0 ~ marks { print FILENAME ":" FNR ": a mark left behind: finish it or drop it" }
             FNR == 701 { print FILENAME ":" FNR ": more than 700 lines" }
             FNR == 351 && FILENAME == "include/tamis/tamis.h" {
                 print FILENAME ":" FNR ": more than 350 lines"
             }'
    # Text between fences is quoted as it was printed.
    files '*.[ch]' '*.cc' '*.h[hp]*' '*.sh' '*.py' '*.pyi' '*.js' '*.mjs' '*.cmake' \
        CMakeLists.txt run '*.md' '*.in' '*.toml' '*.json' '*.html' '*.css' |
        over 'FNR == 1 { quoted = 0 }
              FILENAME ~ /\.md$/ && /^ *```/ { quoted = !quoted }
              !quoted && /[ \t\r]$/ {
                  print FILENAME ":" FNR ": white space at the end of the line"
              }'
    files '*.[ch]' '*.cc' '*.h[hp]*' | over '/\t/ { print FILENAME ":" FNR ": a tab" }'
    # A lock file states sums and leaves the place of each package to the machine that fetches it.
    files 'package-lock.json' |
        over '/"resolved"/ { print FILENAME ":" FNR ": names a place to fetch from" }'
}

# A body begins at a brace in the first column, or at the end of the head of a function, and ends at
# a brace in the first column. The lines of both braces count.
check_functions() {
    files '*.[ch]' | over '
        FNR == 1 { start = 0; limit = FILENAME ~ /^tests\// ? 100 : 70 }
        /^\{$/ || /^[A-Za-z_].*\) *\{$/ { start = FNR }
        /^\}/ && start {
            if (FNR - start + 1 > limit)
                print FILENAME ":" start ": a function of " FNR - start + 1 " lines"
            start = 0
        }'
}

check_includes() {
    files '*.[ch]' >"$room/all"
    grep -v '^tests/' "$room/all" | over -v all="$room/all" "$awk_code"'
function top(path) { sub(/\/.*/, "", path); return path }
function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
function normal(path,    part, n, i, out, depth) {
    n = split(path, part, "/")
    depth = 0
    for (i = 1; i <= n; i++) {
        if (part[i] == "..") depth--
        else if (part[i] != ".") out[++depth] = part[i]
    }
    path = out[1]
    for (i = 2; i <= depth; i++) path = path "/" out[i]
    return path
}
function on_disk(path,    line, got) { got = (getline line < path) >= 0; close(path); return got }
# The file of the tree that an include leads to with any -I; "" for a file of the system.
function target(name,    path) {
    path = normal(folder(FILENAME) "/" name)
    if (path in ours) return path
    if ((top(FILENAME) "/" name) in ours) return top(FILENAME) "/" name
    for (path in ours)
        if (substr(path, length(path) - length(name)) == "/" name) return path
    return ""
}
# Who may include whom within the library; a folder stands for its headers.
function library(from) {
    if (from == "src/core")
        return "core kernels image sealed/collect.h frequency/noise.h distinct/distinct.h"
    if (from == "src/image") return "image core sealed/collect.h sealed/hash_sort.h"
    if (from == "src/kernels")
        return "kernels core/bits.h core/single.h core/spin.h sealed/fuse.h" \
            " sealed/ribbon/ribbon.h sealed/ribbon/sections.h distinct/registers.h" \
            " membership/growing_find.h"
    if (from == "src/membership") return "membership core image"
    if (from ~ /^src\/sealed(\/ribbon)?$/) return "sealed sealed/ribbon core image kernels"
    if (from == "src/frequency") return "frequency core image kernels"
    if (from == "src/distinct") return "distinct core image kernels"
    if (from == "src/private") return "private core image"
    if (from == "src/foreign") return "foreign core image"
    return ""
}
function allowed(to,    from, list, n, i) {
    from = folder(FILENAME)
    if (to ~ /^include\/tamis\//) return 1
    if (from ~ /^src/) {
        n = split(library(from), list, " ")
        for (i = 1; i <= n; i++)
            if (to == "src/" list[i] || (to ~ /\.h$/ && folder(to) == "src/" list[i])) return 1
        return 0
    }
    from = top(from)
    return top(to) == from ||
        (from == "cli" && (top(to) == "guard" || to == "cluster/cluster.h")) ||
        (from == "cluster" && (to == "redis/words.h" || to == "src/foreign/redis_rdb.h")) ||
        (from == "redis" && to == "src/foreign/redisbloom.h") ||
        (from == "bench" && to == "cuda/tuning.h") ||
        (from == "web" && to ~ /^guard\/url\/(hash|url)\.h$/)
}
BEGIN { while ((getline line < all) > 0) ours[line] = 1 }
{ text = code($0) }
text ~ /^[ \t]*#[ \t]*include[ \t]*["<]/ {
    name = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*["<]/, "", name)
    sub(/[">].*/, "", name)
    angle = text ~ /include[ \t]*</
    if (name ~ /(^|\/)xxh(ash|3)\.h$/ && FILENAME != "src/core/hash.c")
        report("only src/core/hash.c includes " name)
    if ((name == "cpuid.h" || name == "sys/auxv.h") && FILENAME != "src/core/cpu.c")
        report("only src/core/cpu.c includes " name)
    # The browser has only these.
    if (FILENAME ~ /^guard\/url\// && angle &&
        name !~ /^(stdbool|stddef|stdint|string)\.h$/)
        report("goes to the browser, which has no " name)
    if (angle && name ~ /^tamis\// && !(("include/" name) in ours) &&
        !(("cuda/include/" name) in ours))
        report("there is no public header " name)
    else if (!angle || (name !~ /^tamis\// && !on_disk("/usr/include/" name))) {
        to = target(name)
        if (to != "" && !allowed(to)) report("may not include " to)
    }
}'
}

# Calls that belong to one file, and kinds that refer to each other without the kind table.
check_calls() {
    # "FILE TABLE" for each kind.
    kinds=$(files '*.c' | grep '^src/' | tr '\n' '\0' |
        xargs -0 -r grep -HoE '^const struct kind tamis__[a-z0-9_]*' |
        sed 's/:const struct kind / /' | tr '\n' ' ')
    files '*.[ch]' | grep -v '^tests/' | over -v kinds="$kinds" "$awk_code"'
BEGIN {
    n = split("open open64 openat openat64 creat fopen fdopen freopen tmpfile mkstemp mkostemp " \
              "mmap mmap64 munmap memfd_create shm_open opendir read pread readv write pwrite " \
              "writev rename renameat renameat2 link linkat symlink unlink unlinkat remove fsync " \
              "fdatasync truncate ftruncate flock lockf fcntl CreateFileW CreateFileA ReadFile " \
              "WriteFile MoveFileExW MoveFileExA DeleteFileW DeleteFileA CreateFileMappingW " \
              "MapViewOfFile", list, " ")
    for (i = 1; i <= n; i++) file_call[list[i]] = 1
    n = split("__builtin_cpu_init __builtin_cpu_supports __builtin_cpu_is __cpuid __cpuid_count " \
              "__cpuidex __get_cpuid __get_cpuid_count __get_cpuid_max _xgetbv getauxval", list,
              " ")
    for (i = 1; i <= n; i++) cpu_call[list[i]] = 1
    n = split("pthread_create thrd_create fork vfork", list, " ")
    for (i = 1; i <= n; i++) thread_call[list[i]] = 1
    n = split(kinds, list, " ")
    for (i = 1; i < n; i += 2) home[list[i + 1]] = list[i]
}
function word_of(name, before, after) {
    if (name in cpu_call && FILENAME != "src/core/cpu.c") report("only src/core/cpu.c uses " name)
    if (FILENAME !~ /^src\//) return
    # A function pointer in a struct may have any name.
    # src/core/memory.c maps pages without a file.
    if (name in file_call && after ~ /^ *\(/ && before !~ /(\.|->) *$/ &&
        FILENAME !~ /^src\/image\/(descriptor|durable|windows)\.c$/ &&
        !(FILENAME == "src/core/memory.c" && name ~ /^m(un)?map$/))
        report("only descriptor.c, durable.c and windows.c in src/image call " name)
    if (name in thread_call && FILENAME != "src/core/threads.c")
        report("only src/core/threads.c calls " name)
    if (name in home && FILENAME ~ /^src\/(membership|sealed|frequency|distinct|private)\// &&
        FILENAME != home[name])
        report("goes past the kind table to " name)
}
{
    rest = code($0)
    before = ""
    while (match(rest, /[A-Za-z_][A-Za-z0-9_]*/)) {
        before = before substr(rest, 1, RSTART - 1)
        name = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        word_of(name, before, rest)
        before = before name
    }
}'
}

# Static functions and types of different files have different names, so that a search finds one
# place, and the files of the library can be concatenated (tools/amalgamate.py).
check_names() {
    for folders in 'src' 'cli|guard|cluster|redis|web' 'python' \
        'sql/(common|postgres)' 'sql/(common|sqlite)'; do
        files '*.[ch]' | grep -E "^($folders)/" | over '
            function claim(what, name) {
                if (name in owner && owner[name] != FILENAME)
                    print FILENAME ":" FNR ": " name " is " what " of " owner[name] " as well"
                if (!(name in owner)) owner[name] = FILENAME
            }
            /^static [^=;]*\(/ {
                name = $0
                sub(/\(.*/, "", name)
                sub(/.*[ *]/, "", name)
                claim("a static function", name)
            }
            /^(struct|enum|union) [a-z_0-9]+ \{/ { claim("a type", $1 " " $2) }'
    done
}

check_kinds() {
    # Each kind is one file, which opens with its essay.
    files '*.c' | grep '^src/' | tr '\n' '\0' |
        xargs -0 -r grep -l '^const struct kind tamis__' | over '
        FNR == 1 { essay = /^\/\*/; done = 0 }
        FNR == 1 && !essay { print FILENAME ":1: does not open with its essay" }
        essay && !done && /\*\// {
            done = 1
            if (FNR < 8) print FILENAME ":1: an essay of " FNR " lines is too short"
        }'
    grep -no 'KIND([a-z0-9_]*, TAMIS_[A-Z0-9_]*, "[a-z0-9-]*"' src/core/kind.c |
        while IFS=: read -r line row; do
        name=${row#*\"} name=${name%\"}
        grep -Eq "^#+ ([0-9]+ )?$name\$" docs/FORMAT.md 2>/dev/null ||
            echo "src/core/kind.c:$line: $name has no section in docs/FORMAT.md"
        [ -n "$(find tests/golden -name "$name.tamis" -o -name "$name-*.tamis" 2>/dev/null)" ] ||
            echo "src/core/kind.c:$line: $name has no image in tests/golden"
    done
}

# The header promises how much stack a call takes, so each call has to be measured.
check_stack() {
    files '*.h' | grep '^include/tamis/' | while read -r header; do
        sed -n 's/^TAMIS_API.*[ *]\(tamis_[a-z0-9_]*\)(.*/\1/p' "$header" | while read -r name; do
            grep -qs "\<$name(" tests/support/verbs.h tests/library/test_stack.c ||
                echo "$header:1: $name is not called by tests/support/verbs.h or test_stack.c"
        done
    done
}

check_changelog() {
    grep -q '^## Unreleased$' CHANGELOG.md 2>/dev/null ||
        echo 'CHANGELOG.md:1: no section "## Unreleased"'
}

# The root is what a newcomer sees first.
check_root() {
    known='CHANGELOG.md CMakeLists.txt CMakePresets.json CONTRIBUTING.md LICENSE README.md'
    known="$known SECURITY.md project.conf run"
    find . -maxdepth 1 -type f ! -name '.?*' | sed 's|^\./||' | while read -r name; do
        case " $known " in *" $name "*) ;; *) echo "$name:1: does not belong in the root" ;; esac
    done
    [ "$(wc -l <README.md)" -le 150 ] || echo 'README.md:151: more than 150 lines'
}

check_tree() {
    (cd "$1" && check_text && check_widths && check_phrases && check_functions &&
        check_includes && check_calls && check_names && check_kinds && check_stack &&
        check_changelog && check_root) | sort
}

# --- The rules under test -------------------------------------------------------------------------

# A function of N lines, braces included.
function_of() {
    echo 'void f(void)'
    echo '{'
    awk -v n="$1" 'BEGIN { for (i = 2; i < n; i++) print "    ;" }'
    echo '}'
}

# A tree with one fault of each sort, next to text that looks like a fault and is allowed.
make_bad_tree() {
    mkdir -p include/tamis src/core src/image src/membership src/frequency src/kernels src/sealed \
        src/foreign cli guard/url guard/version cluster redis/redisbloom web examples python/src \
        python/tamis tests/golden tests/support tests/library tests/cli docs build/src
    touch include/tamis/tamis.h src/core/kind.h src/core/bits.h src/core/memory.h \
        src/kernels/kernels.h guard/version/guard.h guard/url/url.h cli/cli.h \
        cluster/cluster.h cluster/client.h src/membership/bloom.h src/foreign/redisbloom.h \
        src/foreign/hashes.h redis/redisbloom/layout.h tests/golden/bloom.tamis \
        tests/golden/tally-big.tamis
    essay=$(printf '/* A kind.\n *\n *\n *\n *\n *\n *\n * The end. */')

    { echo "$essay"; printf '%s\n' '#include "../core/kind.h"' '#include "../kernels/kernels.h"' \
        '#include "bloom.h"' 'int a = tamis__bloom + tamis__bloomy, b = tamis__tally;' \
        'const struct kind tamis__bloom;'; } >src/membership/bloom.c
    printf '%s\n' '/* Too short. */' '#include <tamis/tamis.h>' '#include "../membership/bloom.h"' \
        'const struct kind tamis__tally;' >src/frequency/tally.c
    printf '#include "../core/bits.h"\nconst struct kind tamis__count_min;\n' \
        >src/membership/count_min.c
    printf '%s\n%s %s\n' '#define EVERY KIND(bloom, TAMIS_BLOOM, "bloom")' \
        'KIND(tally, TAMIS_TALLY, "tally")' 'KIND(count_min, TAMIS_COUNT_MIN, "count-min")' \
        >src/core/kind.c
    printf '# Kinds\n\n### 1 bloom\n\n### 2 count-min\n\n### 3 tally-old\n' >docs/FORMAT.md
    touch run leftover
    printf 'TAMIS_API int *tamis_run(void);\nTAMIS_API int tamis_rest(int a,\n' \
        >include/tamis/more.h
    printf 'int a = tamis_run() + tamis_rested();\n' >tests/support/verbs.h
    printf '# Changelog\n\n## 1.0.0\nThe Unreleased is here in vain.\n' >CHANGELOG.md

    printf '#include <xxhash.h>\nint fd = open("x", 0);\n' >src/image/durable.c
    printf '%s\n' 'int n = tamis__bloom.id;' 'static int *twice(int a)' 'static int once(void)' \
        'static int (*twice)(void) = 0;' >src/core/plan.c
    printf '%s\n' 'static void twice(void)' 'static const int n = twice(1);' 'struct pair {' \
        >src/core/sized.c
    printf 'static void twice(void)\nstruct pair {\nenum pair {\n' >guard/version/text.c
    printf 'static bool twice(void)\nstruct pair {\nstruct pair *p = {0};\n' >cluster/link.c
    printf 'static int twice(void)\nstruct pair {\n' >tests/names.c
    printf 'int n = pthread_create(0, 0, 0, 0);\n' | tee src/core/threads.c >src/core/bulk.c
    printf '%s\n' '#include <xxhash.h>' '#include "../kernels/kernels.h"' \
        '#include "../membership/bloom.h"' >src/core/hash.c
    printf '%s\n' '/* open( and' ' * mmap( are words here */ int ok; // fopen(' \
        'const char *s = "unlink(\"a\")"; int c = s->read(1) + s.write(2) + reopen(3);' \
        'int n = mmap (0);' 'int open;' '#include "../../cli/cli.h"' >src/image/image.c
    printf 'int n = mmap(0) + munmap(0);\nint m = open(0);\nint k = ReadFile(0);\n' \
        >src/core/memory.c
    printf '#include <cpuid.h>\nint n = __builtin_cpu_supports("avx2");\n' >src/core/cpu.c
    printf '#include <cpuid.h>\nint n = __builtin_cpu_supports("avx2");\n' >src/kernels/avx2.c

    printf '%s\n' '#include "cli.h"' '#include "../guard/version/guard.h"' '#include <stdio.h>' \
        '#include <memory.h>' >cli/main.c
    printf '#include "../cluster/cluster.h"\n#include "../cluster/client.h"\n' >cli/redis.c
    printf '#include <tamis/tamis.h>\n#include <tamis/secret.h>\n' >examples/a.c
    printf '#include "../src/core/kind.h"\n  #  include "kind.h"\n#include <bits.h>\n' >web/shim.c
    printf '#include "../guard/url/url.h"\n#include "../guard/version/guard.h"\n' >web/exports.c
    printf '#include "layout.h"\n#include "../../guard/version/guard.h"\n' \
        >redis/redisbloom/layout.c
    printf '#include "redisbloom/layout.h"\nint fd = open("x", 0);\n' >redis/module.c
    printf '#include "../src/foreign/redisbloom.h"\n#include "../src/foreign/hashes.h"\n' \
        >redis/bf.c
    printf '#include <string.h>\n#include "guard.h"\n#include <cli.h>\n#include <stdio.h>\n' \
        >guard/url/url.c
    printf '#include <stdio.h>\n#include <tamis/tamis.h>\n#include "../../src/core/kind.h"\n' \
        >guard/version/store.c
    printf '#include "../src/core/kind.h"\n#include <xxhash.h>\nint fd = open("x", 0);\n' \
        >tests/test_a.c
    printf '#include "../cli/cli.h"\n' >build/src/generated.c

    printf '#include "keys.h"\n#include "../../src/core/kind.h"\nstatic int twice(void)\n' \
        >python/src/keys.c
    printf '#include <Python.h>\n#include <tamis/tamis.h>\nstatic int twice(void)\n' \
        >python/src/module.c
    touch python/src/keys.h
    awk 'BEGIN { for (i = 0; i < 701; i++) print "x: int" }' >python/tamis/lines701.pyi
    printf '# %0100d\n' 0 | tee python/tamis/wide.pyi >python/wide.toml
    function_of 70 >cli/long70.c
    function_of 71 >cli/long71.c
    function_of 100 >tests/long100.c
    function_of 101 >tests/long101.c
    awk 'BEGIN { for (i = 0; i < 700; i++) print ";" }' >cli/lines700.c
    awk 'BEGIN { for (i = 0; i < 701; i++) print ";" }' >cli/lines701.c
    awk 'BEGIN { for (i = 0; i < 351; i++) print ";" }' |
        tee include/tamis/count.h >include/tamis/tamis.h
    printf '# XX''XX TO''DOS\n# TO''DO: this\n# (FIX''ME)\nx = "XX''X" \n' >tests/marks.py
    printf 'int a;\t/* tab */\nint b; \n/* %094d */\n/* %095d */\n' 0 0 >tests/tab.h
    printf 'all:\n\ttrue\n' >cli/Makefile
    printf '{"integrity": "sha512-"}\n{"resolved": "https://a.example/b.tgz"}\n' \
        >web/package-lock.json
    printf 'a line  \n```\nas printed \n```\nanother \n' >docs/a.md
    make_bad_prose
}

# Lines and words. An @ keeps a phrase of this file from being one.
make_bad_prose() {
    long=$(printf '%0101d' 0)
    printf '%s\n' "# $long" '```' "$long" '```' "| $long |" "[a page](https://a.example/$long)" \
        "é$(printf '%099d' 0)" "é$long" 'The name `over_fu@ll` was over_fu@ll.' | tr -d @ >README.md
    awk 'BEGIN { for (i = 9; i <= 150; i++) print "a line" }' >>README.md
    printf '%s\n' "# $long" "\$ echo $long" "$long" '# The list te@lls of it.' \
        'bu@t for the output' | tr -d @ >tests/cli/a.t
    printf 'bool over_fu@ll; /* when it is overfull */\n' | tr -d @ >include/tamis/facts.h
    tr -d @ >tests/words.py <<'WORDS'
x = 1  # the reader i@s told so, bu@t for one
"""A list that i@s no
list. There is no list, x is no longer one, and where there
is none it is no more than one."""
# Counters at the@ir end. I@T COMES TO TH@E SAME.
# O@f windows, nothing. Sketches of windows. Kinds tha@t
# weigh.
if x is None and foo is not None: lower_end = "the lower e@nd, and this: O@f it all."
WORDS
}

# The reports that it must yield, no more and no less.
expected() {
    tr -d @ <<'REPORTS' | sort
README.md:1: a line of more than 100 columns
include/tamis/facts.h:1: "over_fu@ll": write plain English
README.md:8: a line of more than 100 columns
README.md:9: "over_fu@ll": write plain English
README.md:151: more than 150 lines
tests/cli/a.t:1: a line of more than 100 columns
tests/cli/a.t:4: "te@lls of": write plain English
tests/words.py:1: "bu@t for": write plain English
tests/words.py:1: "i@s told": write plain English
tests/words.py:3: "i@s no list": write plain English
tests/words.py:5: "at the@ir end": write plain English
tests/words.py:5: "comes to th@e same": write plain English
tests/words.py:6: a sentence that begins with "O@f"
tests/words.py:7: "kinds tha@t weigh": write plain English
tests/words.py:8: "lower e@nd": write plain English
tests/words.py:8: a sentence that begins with "O@f"
CHANGELOG.md:1: no section "## Unreleased"
cli/lines701.c:701: more than 700 lines
cli/long71.c:2: a function of 71 lines
cli/redis.c:2: may not include cluster/client.h
tests/tab.h:1: a tab
tests/tab.h:2: white space at the end of the line
tests/tab.h:4: a line of more than 100 columns
docs/a.md:1: white space at the end of the line
docs/a.md:5: white space at the end of the line
examples/a.c:2: there is no public header tamis/secret.h
python/src/keys.c:2: may not include src/core/kind.h
python/src/module.c:3: twice is a static function of python/src/keys.c as well
python/tamis/lines701.pyi:701: more than 700 lines
python/tamis/wide.pyi:1: a line of more than 100 columns
python/wide.toml:1: a line of more than 100 columns
guard/version/store.c:3: may not include src/core/kind.h
include/tamis/tamis.h:351: more than 350 lines
include/tamis/more.h:1: tamis_rest is not called by tests/support/verbs.h or test_stack.c
leftover:1: does not belong in the root
guard/url/url.c:3: goes to the browser, which has no cli.h
guard/url/url.c:3: may not include cli/cli.h
guard/url/url.c:4: goes to the browser, which has no stdio.h
redis/bf.c:2: may not include src/foreign/hashes.h
redis/redisbloom/layout.c:2: may not include guard/version/guard.h
src/core/bulk.c:1: only src/core/threads.c calls pthread_create
src/image/durable.c:1: only src/core/hash.c includes xxhash.h
src/frequency/tally.c:1: an essay of 1 lines is too short
src/frequency/tally.c:3: may not include src/membership/bloom.h
src/core/hash.c:3: may not include src/membership/bloom.h
src/image/image.c:4: only descriptor.c, durable.c and windows.c in src/image call mmap
src/image/image.c:6: may not include cli/cli.h
src/kernels/avx2.c:1: only src/core/cpu.c includes cpuid.h
src/kernels/avx2.c:2: only src/core/cpu.c uses __builtin_cpu_supports
src/core/kind.c:2: count-min has no image in tests/golden
src/core/kind.c:2: tally has no section in docs/FORMAT.md
src/core/memory.c:2: only descriptor.c, durable.c and windows.c in src/image call open
src/core/memory.c:3: only descriptor.c, durable.c and windows.c in src/image call ReadFile
src/core/sized.c:1: twice is a static function of src/core/plan.c as well
guard/version/text.c:1: twice is a static function of cluster/link.c as well
guard/version/text.c:2: struct pair is a type of cluster/link.c as well
src/membership/bloom.c:10: may not include src/kernels/kernels.h
src/membership/bloom.c:12: goes past the kind table to tamis__tally
src/membership/count_min.c:1: does not open with its essay
tests/long101.c:2: a function of 101 lines
tests/marks.py:2: a mark left behind: finish it or drop it
tests/marks.py:3: a mark left behind: finish it or drop it
tests/marks.py:4: a mark left behind: finish it or drop it
tests/marks.py:4: white space at the end of the line
web/exports.c:2: may not include guard/version/guard.h
web/package-lock.json:2: names a place to fetch from
web/shim.c:1: may not include src/core/kind.h
web/shim.c:2: may not include src/core/kind.h
web/shim.c:3: may not include src/core/bits.h
REPORTS
}

mkdir "$room/bad"
(cd "$room/bad" && make_bad_tree)
check_tree "$room/bad" >"$room/got"
expected >"$room/wanted"
if ! cmp -s "$room/wanted" "$room/got"; then
    echo 'the rules do not work (< wanted, > got):'
    diff "$room/wanted" "$room/got"
    exit 1
fi

check_tree "$source" >"$room/violations"
cat "$room/violations"
[ -s "$room/violations" ] || echo 'the house is in order'
[ ! -s "$room/violations" ]
