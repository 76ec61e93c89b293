/* A modelled flush: with this library preloaded, every fsync and fdatasync takes LORE_BENCH_FLUSH_US
 * microseconds longer. Virtual disks and caches answer a flush in no time, which tells nothing about
 * the disks of users. Reaches programs that call libc; not static ones.
 *
 * cc -O2 -shared -fPIC -o slowsync.so slowsync.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

typedef int (*flush)(int);

static flush real_fsync, real_fdatasync;
static struct timespec extra;

__attribute__((constructor)) static void prepare(void) {
    const char *text = getenv("LORE_BENCH_FLUSH_US");
    long us = text ? strtol(text, NULL, 10) : 0;
    if (us < 0) us = 0;
    extra.tv_sec = us / 1000000;
    extra.tv_nsec = us % 1000000 * 1000;
    real_fsync = (flush)dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = (flush)dlsym(RTLD_NEXT, "fdatasync");
}

static void wait_for_the_disk(void) {
    /* Timer slack belongs to a thread and is 50 us unless told. */
    static __thread int exact;
    if (!exact) {
        prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);
        exact = 1;
    }
    struct timespec left = extra;
    while (nanosleep(&left, &left) == -1 && errno == EINTR) {
    }
}

int fsync(int fd) {
    wait_for_the_disk();
    return real_fsync(fd);
}

int fdatasync(int fd) {
    wait_for_the_disk();
    return real_fdatasync(fd);
}
