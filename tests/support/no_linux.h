/* Makes a Linux look like macOS or a BSD to the compiler, for tests/tree/test_portable.sh: included
 * before everything else, with -U__linux__. What only Linux or glibc has is undefined if it is a
 * macro, and an error if it is a function. What macOS has besides is defined. */
#ifndef TAMIS_TEST_NO_LINUX_H
#define TAMIS_TEST_NO_LINUX_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* These are also macros, in optimized builds. */
#undef fputs_unlocked
#undef fread_unlocked
#undef fwrite_unlocked

#undef EPOLLIN
#undef MADV_DONTDUMP
#undef MADV_DODUMP
#undef MADV_HUGEPAGE
#undef MADV_NOHUGEPAGE
#undef MADV_POPULATE_READ
#undef MADV_WIPEONFORK
#undef MAP_HUGETLB
#undef MAP_LOCKED
#undef MAP_NORESERVE
#undef MAP_POPULATE
#undef MREMAP_MAYMOVE
#undef MSG_MORE
#undef O_PATH
#undef O_TMPFILE
#undef RENAME_EXCHANGE
#undef RENAME_NOREPLACE

/* macOS: both exist, and neither is a value that Linux would accept for something else. */
#undef ENOTSUP
#define ENOTSUP 1045
#define F_FULLFSYNC 1051

#pragma GCC poison renameat2 memfd_create getrandom syscall mremap explicit_bzero
#pragma GCC poison fdatasync fallocate posix_fallocate posix_fadvise readahead sync_file_range
#pragma GCC poison copy_file_range sendfile splice tee vmsplice pipe2 accept4 dup3 statx preadv2
#pragma GCC poison pwritev2 epoll_create epoll_create1 eventfd signalfd timerfd_create inotify_init
#pragma GCC poison prctl gettid sched_getcpu sched_setaffinity pthread_setaffinity_np
#pragma GCC poison pthread_setname_np pthread_getname_np pthread_timedjoin_np
#pragma GCC poison malloc_trim malloc_usable_size mallinfo mallinfo2 mallopt memalign valloc
#pragma GCC poison qsort_r secure_getenv program_invocation_name program_invocation_short_name
#pragma GCC poison error_at_line canonicalize_file_name get_current_dir_name euidaccess
#pragma GCC poison strchrnul rawmemchr mempcpy strverscmp versionsort fopencookie open64 lseek64
#pragma GCC poison fputs_unlocked fwrite_unlocked fread_unlocked fgets_unlocked getauxval
#pragma GCC poison strerrorname_np strerrordesc_np reallocarray ptsname_r

#endif
