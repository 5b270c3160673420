/* SPDX-License-Identifier: Apache-2.0 */
/* sse_server URL_FILE SCRIPT [SECONDS]: a loopback HTTP server that answers as its script says.
 *
 * Once it listens, http://127.0.0.1:PORT/v1 is written to URL_FILE (whole or not at all). The
 * script has a section per answer: a line `GET` or `POST`, then steps. The n-th GET request is
 * answered by the n-th GET section, later ones by the last; POST likewise. A section ends by
 * closing the connection. Steps:
 *   send TEXT    one write; escapes \r \n \\
 *   drip TEXT    one write per byte
 *   chunk TEXT   the same text as one chunk of a chunked body
 *   sleep MS     until the client hangs up or the time is over
 *   reset        closes with a connection reset
 * It ends by itself after SECONDS (default 60).
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STEPS_MAX = 1024, LINE_MAX_BYTES = 8192, REQUEST_MAX = 65536 };

static char *steps[STEPS_MAX];
static size_t step_count;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void load_script(const char *path) {
    static char line[LINE_MAX_BYTES];
    FILE *file = fopen(path, "r");
    if (!file)
        die(path);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line == '\0' || *line == '#')
            continue;
        if (step_count == STEPS_MAX || !(steps[step_count++] = strdup(line)))
            die("script");
    }
    fclose(file);
}

static bool is_head(const char *step) {
    return strcmp(step, "GET") == 0 || strcmp(step, "POST") == 0;
}

/* Index of the first step of the number-th section of a method, or of its last one. */
static size_t find_section(const char *method, size_t number) {
    size_t found = step_count;
    for (size_t i = 0; i < step_count && number > 0; i++) {
        if (strcmp(steps[i], method) == 0) {
            found = i + 1;
            number--;
        }
    }
    return found;
}

static size_t unescape(const char *text, char *ret_bytes) {
    size_t size = 0;
    for (; *text; text++) {
        char byte = *text;
        if (byte == '\\' && text[1]) {
            text++;
            byte = *text == 'r' ? '\r' : *text == 'n' ? '\n' : *text;
        }
        ret_bytes[size++] = byte;
    }
    return size;
}

static void write_all(int fd, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n <= 0)
            return; /* the client hung up: its right */
        bytes += n;
        size -= (size_t)n;
    }
}

static void drip(int fd, const char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        struct timespec pause = { .tv_nsec = 200000 }; /* apart, so that they are read apart */
        write_all(fd, bytes + i, 1);
        nanosleep(&pause, NULL);
    }
}

static void send_chunk(int fd, const char *bytes, size_t size) {
    char head[32];
    write_all(fd, head, (size_t)snprintf(head, sizeof head, "%zx\r\n", size));
    write_all(fd, bytes, size);
    write_all(fd, "\r\n", 2);
}

static void run_step(int fd, const char *step) {
    static char bytes[LINE_MAX_BYTES];
    const char *text = strchr(step, ' ');
    size_t size = unescape(text ? text + 1 : "", bytes);
    if (strncmp(step, "send ", 5) == 0) {
        write_all(fd, bytes, size);
    } else if (strncmp(step, "drip ", 5) == 0) {
        drip(fd, bytes, size);
    } else if (strncmp(step, "chunk ", 6) == 0) {
        send_chunk(fd, bytes, size);
    } else if (strncmp(step, "sleep ", 6) == 0) {
        struct pollfd peer = { .fd = fd, .events = POLLIN };
        poll(&peer, 1, atoi(step + 6));
    } else if (strcmp(step, "reset") == 0) {
        struct linger now = { .l_onoff = 1 };
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    } else {
        fprintf(stderr, "sse_server: unknown step '%s'\n", step);
        exit(1);
    }
}

/* Reads a request whole, so that closing does not reset the connection. Returns its method. */
static const char *read_request(int fd) {
    static char bytes[REQUEST_MAX];
    size_t size = 0;
    for (;;) {
        ssize_t n = read(fd, bytes + size, sizeof bytes - 1 - size);
        if (n <= 0)
            return NULL;
        size += (size_t)n;
        bytes[size] = '\0';
        const char *end = strstr(bytes, "\r\n\r\n");
        if (!end)
            continue;
        const char *length = strcasestr(bytes, "\r\nContent-Length:");
        size_t body = length && length < end ? strtoul(length + 17, NULL, 10) : 0;
        if (size >= (size_t)(end - bytes) + 4 + body)
            return strncmp(bytes, "POST ", 5) == 0 ? "POST" : "GET";
    }
}

static void serve(int fd) {
    static size_t gets, posts;
    const char *method = read_request(fd);
    if (!method)
        return;
    size_t number = strcmp(method, "GET") == 0 ? ++gets : ++posts;
    for (size_t i = find_section(method, number); i < step_count && !is_head(steps[i]); i++)
        run_step(fd, steps[i]);
}

static void announce(const char *path, uint16_t port) {
    char temporary[4096];
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    FILE *file = fopen(temporary, "w");
    if (!file || fprintf(file, "http://127.0.0.1:%u/v1\n", (unsigned)port) < 0 ||
        fclose(file) != 0 || rename(temporary, path) != 0)
        die(path);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fputs("usage: sse_server URL_FILE SCRIPT [SECONDS]\n", stderr);
        return 2;
    }
    alarm(argc > 3 ? (unsigned)atoi(argv[3]) : 60);
    signal(SIGPIPE, SIG_IGN);
    load_script(argv[2]);

    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 ||
        listen(listener, 16) != 0 || getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        die("listen");
    announce(argv[1], ntohs(address.sin_port));

    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            die("accept");
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        serve(fd);
        close(fd);
    }
}
