/* What the libraries of this folder share, which stand between a daemon and the C library: which
 * calls are meant, and how the true ones are reached. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The folder whose files are meant. */
static const char *under;

static int is_under(const char *path) {
    return under && path && strncmp(path, under, strlen(under)) == 0;
}

/* The path of an open file, in a buffer of 4096 bytes. */
static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 4095);
    path[length < 0 ? 0 : length] = 0;
    return length >= 0;
}

static int is_ours(int fd) {
    char path[4096];
    return path_of(fd, path) && is_under(path);
}

/* The C library's own call, as `next`. */
#define NEXT(type, name, ...)                                   \
    static type (*next)(__VA_ARGS__);                           \
    if (!next) next = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

/* The mode, which follows where a file may be made. */
#define MODE_AFTER(flags, mode)                                               \
    va_list rest;                                                             \
    va_start(rest, flags);                                                    \
    mode_t mode = (flags) & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest)
