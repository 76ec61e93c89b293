/* The least a client can be: connects, sends bytes that were prepared, reads frames until one is the
 * answer, prints it. What `lore call` costs more than this is the price of being a command line.
 *
 * cc -O2 -static -o trivial trivial.c
 * trivial SOCKET FILE     FILE holds a Hello and one call, as frames
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static unsigned char bytes[1 << 20];

static int read_all(int from, unsigned char *to, size_t count) {
    while (count > 0) {
        ssize_t got = read(from, to, count);
        if (got <= 0) return -1;
        to += got;
        count -= (size_t)got;
    }
    return 0;
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    int file = open(arguments[2], O_RDONLY);
    ssize_t length = read(file, bytes, sizeof bytes);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, arguments[1], sizeof address.sun_path - 1);
    int daemon = socket(AF_UNIX, SOCK_STREAM, 0);
    if (length <= 0 || connect(daemon, (struct sockaddr *)&address, sizeof address) != 0) return 3;
    if (write(daemon, bytes, (size_t)length) != length) return 3;
    /* The Welcome, then the answer. */
    for (int frame = 0; frame < 2; frame++) {
        unsigned char prefix[4];
        if (read_all(daemon, prefix, 4) != 0) return 3;
        length = prefix[0] << 24 | prefix[1] << 16 | prefix[2] << 8 | prefix[3];
        if ((size_t)length > sizeof bytes || read_all(daemon, bytes, (size_t)length) != 0) return 3;
    }
    return write(STDOUT_FILENO, bytes, (size_t)length) == length ? 0 : 3;
}
