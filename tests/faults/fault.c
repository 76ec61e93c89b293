/* Makes file calls of a daemon fail: preloaded by tests/tests/faults.rs.
 *
 *   LORE_FAULT_UNDER=folder   calls on files and folders below it are counted, and may fail
 *   LORE_FAULT_AT=number      the call of this number fails, once
 *   LORE_FAULT_WHILE=file     calls that take space fail for as long as this file exists
 *   LORE_FAULT_ERRNO=number   what they fail with
 *   LORE_FAULT_SHORT=1        a write fails by writing the first half
 *   LORE_FAULT_COUNT=file     at exit each process adds a line with its count
 *
 * Counted is what can lose something: opening to write, writing, syncing, cutting, renaming,
 * removing, making folders. Calls that bypass the C library are not seen.
 */
#include "calls.h"

enum verdict { PASS, FAIL, HALF };

static const char *while_there, *count_file;
static unsigned long fail_at;
static int fail_errno = EIO, half;
static atomic_ulong count;

__attribute__((constructor)) static void begin(void) {
    const char *text;
    under = getenv("LORE_FAULT_UNDER");
    while_there = getenv("LORE_FAULT_WHILE");
    count_file = getenv("LORE_FAULT_COUNT");
    if ((text = getenv("LORE_FAULT_AT"))) fail_at = strtoul(text, NULL, 10);
    if ((text = getenv("LORE_FAULT_ERRNO"))) fail_errno = atoi(text);
    half = getenv("LORE_FAULT_SHORT") != NULL;
}

__attribute__((destructor)) static void end(void) {
    FILE *file = count_file ? fopen(count_file, "a") : NULL;
    if (!file) return;
    fprintf(file, "%lu\n", atomic_load(&count));
    fclose(file);
}

static enum verdict judge(int ours, int takes_space, int is_write) {
    int saved = errno;
    struct stat found;
    if (!ours) return PASS;
    unsigned long number = atomic_fetch_add(&count, 1) + 1;
    int fails = number == fail_at || (while_there && takes_space && stat(while_there, &found) == 0);
    errno = fails ? fail_errno : saved;
    if (!fails) return PASS;
    return half && is_write ? HALF : FAIL;
}

ssize_t write(int fd, const void *bytes, size_t length) {
    NEXT(ssize_t, write, int, const void *, size_t);
    enum verdict verdict = judge(is_ours(fd), 1, 1);
    if (verdict == FAIL) return -1;
    return next(fd, bytes, verdict == HALF ? length / 2 + 1 : length);
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    NEXT(ssize_t, pwrite64, int, const void *, size_t, off64_t);
    enum verdict verdict = judge(is_ours(fd), 1, 1);
    if (verdict == FAIL) return -1;
    return next(fd, bytes, verdict == HALF ? length / 2 + 1 : length, at);
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    return pwrite64(fd, bytes, length, at);
}
ssize_t writev(int fd, const struct iovec *parts, int number) {
    NEXT(ssize_t, writev, int, const struct iovec *, int);
    if (judge(is_ours(fd), 1, 0) != PASS) return -1;
    return next(fd, parts, number);
}
int fsync(int fd) {
    NEXT(int, fsync, int);
    return judge(is_ours(fd), 1, 0) == PASS ? next(fd) : -1;
}
int fdatasync(int fd) {
    NEXT(int, fdatasync, int);
    return judge(is_ours(fd), 1, 0) == PASS ? next(fd) : -1;
}
int ftruncate64(int fd, off64_t length) {
    NEXT(int, ftruncate64, int, off64_t);
    return judge(is_ours(fd), 1, 0) == PASS ? next(fd, length) : -1;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }
int rename(const char *from, const char *to) {
    NEXT(int, rename, const char *, const char *);
    return judge(is_under(to), 0, 0) == PASS ? next(from, to) : -1;
}
int unlink(const char *path) {
    NEXT(int, unlink, const char *);
    return judge(is_under(path), 0, 0) == PASS ? next(path) : -1;
}
int unlinkat(int folder, const char *path, int flags) {
    NEXT(int, unlinkat, int, const char *, int);
    return judge(is_ours(folder), 0, 0) == PASS ? next(folder, path, flags) : -1;
}
int mkdir(const char *path, mode_t mode) {
    NEXT(int, mkdir, const char *, mode_t);
    return judge(is_under(path), 1, 0) == PASS ? next(path, mode) : -1;
}

static int opens_to_write(const char *path, int flags) {
    return is_under(path) && (flags & (O_WRONLY | O_RDWR | O_CREAT));
}

int open64(const char *path, int flags, ...) {
    NEXT(int, open64, const char *, int, mode_t);
    MODE_AFTER(flags, mode);
    int takes_space = (flags & O_CREAT) != 0;
    return judge(opens_to_write(path, flags), takes_space, 0) == PASS ? next(path, flags, mode) : -1;
}
int open(const char *path, int flags, ...) {
    MODE_AFTER(flags, mode);
    return open64(path, flags, mode);
}
