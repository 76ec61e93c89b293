/* Writes down what a daemon does to its files, in one order: preloaded by tests/tests/durability/powercut.rs.
 *
 *   LORE_RECORD_UNDER=folder   calls on files and folders below it are written down
 *   LORE_RECORD_TO=file        appended to; it is there already
 *
 * A record is a `struct record`, a name and bytes, appended in one call once the call that it tells
 * of has returned. No other call is made meanwhile, so the order is the true one. Others may append records
 * to the same file. Files and folders go by their inode numbers; when one is made, its number is
 * a new one's from then on.
 *
 * Calls that bypass the C library are not seen; some libraries rename in that way. So where a
 * folder is synced, all that it holds is written down.
 */
#include "calls.h"

#include <dirent.h>
#include <pthread.h>
#include <stdint.h>

/* As in tests/src/power/recording.rs. */
enum kind { FILE_MADE = 1, FOLDER_MADE, WRITTEN, RESIZED, SYNCED, FOLDER_SYNCED, RENAMED, LINKED, REMOVED };

struct record {
    uint32_t kind, name_length;
    uint64_t node;         /* the file or folder itself */
    uint64_t folder, into; /* the folder of the name, and after a renaming */
    uint64_t at, length;   /* where it was written or how long it is now; how many bytes follow the name */
};

static int log_to = -1;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
    const char *log = getenv("LORE_RECORD_TO");
    under = getenv("LORE_RECORD_UNDER");
    /* Now: later the daemon may write in its own folders alone. */
    log_to = log ? open(log, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (log_to < 0) abort();
}

static void put(struct record record, const char *name, const void *bytes) {
    record.name_length = strlen(name);
    struct iovec parts[] = {
        {&record, sizeof record}, {(void *)name, record.name_length}, {(void *)bytes, record.length}};
    ssize_t whole = sizeof record + record.name_length + record.length;
    NEXT(ssize_t, writev, int, const struct iovec *, int);
    /* What is not written down whole proves nothing. */
    if (next(log_to, parts, 3) != whole) abort();
}

static uint64_t node_of(const char *path) {
    struct stat found;
    return lstat(path, &found) == 0 ? found.st_ino : 0;
}
static uint64_t node_of_open(int fd) {
    struct stat found;
    return fstat(fd, &found) == 0 ? found.st_ino : 0;
}
static uint64_t folder_of(const char *path) {
    char folder[4096];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return node_of(folder);
}
static const char *name_of(const char *path) { return strrchr(path, '/') + 1; }

/* What a folder holds: a node and a name after the other, each name with its final 0. */
static struct { char bytes[1 << 20]; size_t length; } held;

static void list(int fd) {
    char path[4096];
    DIR *folder = path_of(fd, path) ? opendir(path) : NULL;
    if (!folder) abort();
    held.length = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        uint64_t node = entry->d_ino;
        size_t name = strlen(entry->d_name) + 1;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (held.length + sizeof node + name > sizeof held.bytes) abort();
        memcpy(held.bytes + held.length, &node, sizeof node);
        memcpy(held.bytes + held.length + sizeof node, entry->d_name, name);
        held.length += sizeof node + name;
    }
    closedir(folder);
}

/* Makes a call, and what is to be written down of it, with nothing in between. */
#define IN_ORDER(type, call, ...)         \
    pthread_mutex_lock(&order);           \
    type result = (call);                 \
    int saved = errno;                    \
    if (result != (type)-1) __VA_ARGS__;  \
    pthread_mutex_unlock(&order);         \
    errno = saved;                        \
    return result

static void put_written(int fd, const void *bytes, size_t length, uint64_t at) {
    put((struct record){.kind = WRITTEN, .node = node_of_open(fd), .at = at, .length = length}, "", bytes);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    NEXT(ssize_t, write, int, const void *, size_t);
    if (!is_ours(fd)) return next(fd, bytes, length);
    IN_ORDER(ssize_t, next(fd, bytes, length), {
        put_written(fd, bytes, result, lseek(fd, 0, SEEK_CUR) - result);
    });
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    NEXT(ssize_t, pwrite64, int, const void *, size_t, off64_t);
    if (!is_ours(fd)) return next(fd, bytes, length, at);
    IN_ORDER(ssize_t, next(fd, bytes, length, at), { put_written(fd, bytes, result, at); });
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    return pwrite64(fd, bytes, length, at);
}
ssize_t writev(int fd, const struct iovec *parts, int number) {
    NEXT(ssize_t, writev, int, const struct iovec *, int);
    if (!is_ours(fd)) return next(fd, parts, number);
    IN_ORDER(ssize_t, next(fd, parts, number), {
        size_t at = lseek(fd, 0, SEEK_CUR) - result;
        size_t left = result;
        for (int part = 0; left > 0; part++) {
            size_t length = left < parts[part].iov_len ? left : parts[part].iov_len;
            put_written(fd, parts[part].iov_base, length, at);
            at += length;
            left -= length;
        }
    });
}
int ftruncate64(int fd, off64_t length) {
    NEXT(int, ftruncate64, int, off64_t);
    if (!is_ours(fd)) return next(fd, length);
    IN_ORDER(int, next(fd, length), {
        put((struct record){.kind = RESIZED, .node = node_of_open(fd), .at = length}, "", NULL);
    });
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

/* A folder is listed first: what comes meanwhile, by a call that is not seen, may not be safe. */
static int sync_by(int (*next)(int), int fd) {
    struct stat found;
    struct record record = {.kind = SYNCED, .node = node_of_open(fd)};
    if (fstat(fd, &found) || !S_ISDIR(found.st_mode)) {
        IN_ORDER(int, next(fd), { put(record, "", NULL); });
    }
    record.kind = FOLDER_SYNCED;
    IN_ORDER(int, (list(fd), next(fd)), {
        record.length = held.length;
        put(record, "", held.bytes);
    });
}
int fsync(int fd) {
    NEXT(int, fsync, int);
    return is_ours(fd) ? sync_by(next, fd) : next(fd);
}
int fdatasync(int fd) {
    NEXT(int, fdatasync, int);
    return is_ours(fd) ? sync_by(next, fd) : next(fd);
}

static void put_name(enum kind kind, const char *path) {
    struct record record = {.kind = kind, .node = node_of(path), .folder = folder_of(path)};
    put(record, name_of(path), NULL);
}
int mkdir(const char *path, mode_t mode) {
    NEXT(int, mkdir, const char *, mode_t);
    if (!is_under(path)) return next(path, mode);
    IN_ORDER(int, next(path, mode), { put_name(FOLDER_MADE, path); });
}
int open64(const char *path, int flags, ...) {
    NEXT(int, open64, const char *, int, mode_t);
    MODE_AFTER(flags, mode);
    if (!is_under(path) || !(flags & (O_CREAT | O_TRUNC))) return next(path, flags, mode);
    int was_there = node_of(path) != 0;
    IN_ORDER(int, next(path, flags, mode), {
        if (!was_there) put_name(FILE_MADE, path);
        else if (flags & O_TRUNC)
            put((struct record){.kind = RESIZED, .node = node_of(path)}, "", NULL);
    });
}
int open(const char *path, int flags, ...) {
    MODE_AFTER(flags, mode);
    return open64(path, flags, mode);
}
int link(const char *from, const char *to) {
    NEXT(int, link, const char *, const char *);
    if (!is_under(to)) return next(from, to);
    IN_ORDER(int, next(from, to), { put_name(LINKED, to); });
}
int linkat(int from_folder, const char *from, int folder, const char *to, int flags) {
    NEXT(int, linkat, int, const char *, int, const char *, int);
    if (!is_under(to)) return next(from_folder, from, folder, to, flags);
    IN_ORDER(int, next(from_folder, from, folder, to, flags), { put_name(LINKED, to); });
}
int rename(const char *from, const char *to) {
    NEXT(int, rename, const char *, const char *);
    if (!is_under(to)) return next(from, to);
    IN_ORDER(int, next(from, to), {
        struct record record = {.kind = RENAMED, .node = node_of(to), .folder = folder_of(from), .into = folder_of(to)};
        record.length = strlen(name_of(to));
        put(record, name_of(from), name_of(to));
    });
}
static void put_removed(uint64_t folder, const char *name) {
    put((struct record){.kind = REMOVED, .folder = folder}, name, NULL);
}
int unlink(const char *path) {
    NEXT(int, unlink, const char *);
    if (!is_under(path)) return next(path);
    IN_ORDER(int, next(path), { put_removed(folder_of(path), name_of(path)); });
}
int rmdir(const char *path) {
    NEXT(int, rmdir, const char *);
    if (!is_under(path)) return next(path);
    IN_ORDER(int, next(path), { put_removed(folder_of(path), name_of(path)); });
}
int unlinkat(int folder, const char *name, int flags) {
    NEXT(int, unlinkat, int, const char *, int);
    int by_path = folder == AT_FDCWD;
    if (by_path ? !is_under(name) : !is_ours(folder)) return next(folder, name, flags);
    IN_ORDER(int, next(folder, name, flags), {
        put_removed(by_path ? folder_of(name) : node_of_open(folder), by_path ? name_of(name) : name);
    });
}
