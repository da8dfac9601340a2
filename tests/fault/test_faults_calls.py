"""Whatever the command asks of the system can be made to fail: each function that it takes from a
library is one of those of tests/fault/shim.c, or is listed here with the reason why it needs no
fault. A new call that can fail is therefore either struck by test_faults_commands.py, or thought
about.

It begins with itself: of a program with a call that nobody has thought of, that one must be
reported."""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree may be read-only
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "fault"))
import workshop  # noqa: E402

# Whole names, as a pattern: why none of them is made to fail.
SPARED = {
    r"_ITM_\w+|__gmon_start__|__libc_start_main|__cxa_finalize|__stack_chk_\w+|_exit|abort|"
    r"__assert_fail|std(in|out|err)":
        "the beginning and the end of a program",
    r"(__)?(mem|str|stp)[a-z]+(_r|_chk)?|(__)?explicit_bzero(_chk)?|strerror|qsort|bsearch|toupper|"
    r"tolower|__ctype_\w+|bcmp":
        "computes",
    r"(__isoc\d\d_)?(sscanf|strtou?ll?)|strto(d|f|l|ul|ll|ull)|(__)?v?sn?printf(_chk)?"
    r"|inet_(pton|ntop)": "computes",
    r"ceil|floor|trunc|round|ll?round|fm(ax|in|a)|exp2?|expm1|log(2|10|1p)?|pow|sqrt|cbrt|ldexp|"
    r"frexp|lgamma|erfc?|gmtime_r|strftime": "computes",
    r"(__)?v?f?printf(_chk)?|fputs|fputc|putc|puts|putchar":
        "its stream remembers that it failed, as it does for fwrite and fflush, which are struck",
    r"feof|ferror|clearerr|fileno|dirfd|setvbuf|__errno_location|free": "cannot fail",
    r"getenv|secure_getenv|geteuid|getpid|t?c?getpgrp|time|clock_gettime|sysconf|isatty|ioctl":
        "only asks, for a default or how to show something",
    r"sig(action|addset|delset|emptyset|fillset|nal|timedwait)|raise|pthread_sigmask":
        "fails only when called wrongly",
    r"pthread_(mutex|cond|condattr|once)(_\w+)?|pthread_(join|self|exit)|getsockopt|dup3":
        "fails only when called wrongly",
    r"pipe": "only for progress, which is not shown without it",
    r"sched_yield": "never fails",
    r"[gs]etpriority": "without it, loading a version has the usual priority",
    r"open_memstream": "needs memory only, which is struck: glibc's own allocations are counted, "
                       "too",
    r"poll|connect|recv|send|sendmsg|shutdown|redis[A-Z]\w+":
        "servers that fail: test_cluster*.py; clients that do: test_guard_hostile.py",
    r"dl(open|sym|error)": "libmicrohttpd, libcurl, libhogweed: fails when they are not there, "
                           "which guard serve, guard fetch and the commands that sign or verify "
                           "say",
    r"nanosleep": "only waits before another attempt",
    r"mdb_\w+": "what LMDB asks of the system passes through the shim",
    r"ZSTD_\w+|BZ2_\w+|lzma_\w+|inflate\w*|idn2_\w+|nettle_\w+": "computes, in memory that passes "
                                                                 "through the shim",
}
STRANGE = '''
#include <stdio.h>
#include <sys/xattr.h>
int main(void) { puts(""); rename("a", "b"); return removexattr("a", "b"); }
'''


def names(path, which):
    done = subprocess.run(["nm", "-D", which, path], check=True, capture_output=True, text=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


def unthought(program, shim):
    left = names(program, "--undefined-only") - names(shim, "--defined-only")
    return sorted(name for name in left
                  if not any(re.fullmatch(pattern, name) for pattern in SPARED))


def main():
    if "-fsanitize" in os.environ.get("TEST_CFLAGS", ""):
        print("a sanitizer brings calls of its own")
        return 77
    with tempfile.TemporaryDirectory() as room:
        shim = workshop.compile_shim(os.path.join(room, "shim.so"))
        strange = os.path.join(room, "strange")
        subprocess.run([workshop.CC, "-x", "c", "-", "-w", "-o", strange], input=STRANGE, text=True,
                       check=True)
        if unthought(strange, shim) != ["removexattr"]:
            print(f"of a program that calls removexattr this was reported: "
                  f"{unthought(strange, shim)}")
            return 1
        found = unthought(os.environ["TAMIS"], shim)
        for name in found:
            print(f"{name} is called, and neither in tests/fault/shim.c nor spared for a reason in "
                  f"tests/fault/test_faults_calls.py")
        print(f"{len(found)} calls that nobody has thought about")
        return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
