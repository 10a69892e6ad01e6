/* Downloads from a small HTTP server on the loopback interface that can misbehave on request. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <saddle/data.h>

#include "core/memory.h"
#include "core/print.h"
#include "support.h"

enum { BODY_SIZE = 100000, LIFETIME_SECONDS = 60 };

/* The server, which runs in a thread of the test, and what it has received. */
static struct {
    pthread_t thread;
    int listener;
    atomic_bool stop;
    const char *body;
    size_t size;
    atomic_int requests;
    atomic_long range; /* start of the last range requested; -1: the whole file */
} server;

static char body[BODY_SIZE];
static int port;

/* ---- the server ---- */

static void send_all(int client, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t sent = send(client, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes += sent;
        count -= (size_t)sent;
    }
}

/* Sends a head and the body from `from` on, of which only `count` bytes are sent. */
static void answer(int client, const char *status, const char *extra, size_t from, size_t count)
{
    char head[512];
    int length = saddle_snprintf(
        head, sizeof head, "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n",
        status, server.size - from, extra);
    send_all(client, head, (size_t)length);
    send_all(client, server.body + from, count);
}

static void redirect(int client, const char *location)
{
    char head[512];
    int length = saddle_snprintf(head, sizeof head,
                                 "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 5\r\n"
                                 "Connection: close\r\n\r\nmoved",
                                 location);
    send_all(client, head, (size_t)length);
}

static void answer_range(int client, size_t start, bool honest)
{
    char extra[128];
    if (start >= server.size) {
        static const char refusal[] = "HTTP/1.1 416 No\r\nContent-Length: 0\r\n"
                                      "Connection: close\r\n\r\n";
        send_all(client, refusal, sizeof refusal - 1);
        return;
    }
    size_t told = honest ? start : start / 2;
    saddle_snprintf(extra, sizeof extra, "Content-Range: bytes %zu-%zu/%zu\r\n", told,
                    server.size - 1, server.size);
    answer(client, "206 Partial Content", extra, start, server.size - start);
}

/* Sends more than any data set has: announced, or for a range, unannounced. */
static void answer_endless(int client, long start)
{
    char head[256];
    int length = start < 0
                     ? saddle_snprintf(head, sizeof head,
                                       "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", 300 << 20)
                     : saddle_snprintf(head, sizeof head,
                                       "HTTP/1.1 206 Partial Content\r\nConnection: close\r\n"
                                       "Content-Range: bytes %ld-%d/*\r\n\r\n",
                                       start, 300 << 20);
    send_all(client, head, (size_t)length);
    send_all(client, server.body, server.size);
}

static void serve(int client, const char *request)
{
    char mode[32] = "";
    char file[64] = "";
    char location[128];
    const char *range = strstr(request, "Range: bytes=");
    long start = range != NULL ? strtol(range + 13, NULL, 10) : -1;
    sscanf(request, "GET /%31[^/]/%63s", mode, file);
    server.range = start;
    server.requests++;
    if (strcmp(mode, "whole") == 0 || (strcmp(mode, "range") == 0 && start < 0) ||
        (strcmp(mode, "liar") == 0 && start < 0))
        answer(client, "200 OK", "", 0, server.size);
    else if (strcmp(mode, "range") == 0 || strcmp(mode, "liar") == 0)
        answer_range(client, (size_t)start, mode[0] == 'r');
    else if (strcmp(mode, "endless") == 0)
        answer_endless(client, start);
    else if (strcmp(mode, "cut") == 0)
        answer(client, "200 OK", "", 0, server.size / 2);
    else if (strcmp(mode, "moved") == 0) {
        saddle_snprintf(location, sizeof location, "/whole/%s", file);
        redirect(client, location);
    } else if (strcmp(mode, "loop") == 0) {
        saddle_snprintf(location, sizeof location, "/loop/%s", file);
        redirect(client, location);
    } else if (strcmp(mode, "plain") == 0 || strcmp(mode, "secure") == 0) {
        saddle_snprintf(location, sizeof location, "http%s://127.0.0.1:%d/whole/%s",
                        mode[0] == 's' ? "s" : "", port, file);
        redirect(client, location);
    } else if (strcmp(mode, "file") == 0)
        redirect(client, "file:///etc/passwd");
    else if (strcmp(mode, "ftp") == 0)
        redirect(client, "ftp://127.0.0.1/a9a");
    else
        answer(client, "404 Not Found", "", server.size - 4, 4);
}

static void *run_server(void *unused)
{
    time_t end = time(NULL) + LIFETIME_SECONDS;
    while (!server.stop && time(NULL) < end) {
        struct pollfd waiting = {.fd = server.listener, .events = POLLIN};
        if (poll(&waiting, 1, 50) <= 0)
            continue;
        int client = accept(server.listener, NULL, NULL);
        if (client < 0)
            continue;
        char request[4096] = "";
        size_t length = 0;
        ssize_t got = 1;
        struct timeval patience = {.tv_sec = 5};
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        while (got > 0 && strstr(request, "\r\n\r\n") == NULL && length + 1 < sizeof request) {
            got = recv(client, request + length, sizeof request - 1 - length, 0);
            length += got > 0 ? (size_t)got : 0;
        }
        serve(client, request);
        close(client);
    }
    return unused;
}

static void start_server(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    /* Use no proxy for the loopback interface. */
    setenv("no_proxy", "*", 1);
    for (size_t k = 0; k < BODY_SIZE; k++)
        body[k] = (char)(k * k / 7);
    memset(&server, 0, sizeof server);
    server.body = body;
    server.size = BODY_SIZE;
    server.listener = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_ge(server.listener, 0);
    ck_assert_int_eq(bind(server.listener, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(server.listener, 8), 0);
    ck_assert_int_eq(getsockname(server.listener, (struct sockaddr *)&address, &length), 0);
    port = ntohs(address.sin_port);
    ck_assert_int_eq(pthread_create(&server.thread, NULL, run_server, NULL), 0);
}

static void stop_server(void)
{
    server.stop = true;
    pthread_join(server.thread, NULL);
    close(server.listener);
}

TEST_FIXTURE(true, start_server, stop_server)

/* ---- https ---- */

/* Puts a program in front of curl that requests an https address by http, with every other option as the
 * library gives it for https: the server does not support TLS. */
static void put_curl_in_front(void)
{
    static const char script[] =
        "#!/bin/sh\n"
        "for a; do\n"
        "    shift\n"
        "    case $a in [Hh][Tt][Tt][Pp][Ss]://127.0.0.1:*) a=http${a#?????} ;; esac\n"
        "    set -- \"$@\" \"$a\"\n"
        "done\n"
        "PATH=${PATH#*:}\n"
        "exec curl \"$@\"\n";
    char text[4400];
    saddle_snprintf(text, sizeof text, "%s/curl", saddle_test_directory());
    FILE *stream = fopen(text, "w");
    ck_assert_ptr_nonnull(stream);
    fputs(script, stream);
    fclose(stream);
    ck_assert_int_eq(chmod(text, 0700), 0);
    saddle_snprintf(text, sizeof text, "%s:%s", saddle_test_directory(), getenv("PATH"));
    setenv("PATH", text, 1);
}

/* ---- helpers ---- */

static const char *mirror(const char *mode)
{
    static char url[128];
    saddle_snprintf(url, sizeof url, "http://127.0.0.1:%d/%s", port, mode);
    return url;
}

/* SHA-256 of the body, as sha256sum prints it, in capitals. */
static const char *body_sum(void)
{
    return "01319875D6E15A5A9E60CD5458762913889B2CD6E37A6341F2C2A39EA51B5934";
}

static const char *place(const char *file)
{
    static char path[2][4300];
    static int turn;
    turn = !turn;
    saddle_snprintf(path[turn], sizeof path[turn], "%s/deep/data/%s", saddle_test_directory(),
                    file);
    return path[turn];
}

static saddle_fetch_options options_for(const char *mode)
{
    static char directory[4200];
    saddle_snprintf(directory, sizeof directory, "%s/deep/data", saddle_test_directory());
    return (saddle_fetch_options){
        .abi = SADDLE_ABI, .mirror = mirror(mode), .directory = directory, .accept = body_sum()};
}

static bool exists(const char *file)
{
    return access(place(file), F_OK) == 0;
}

static void assert_content(const char *file, const char *bytes, size_t size)
{
    char *content = malloc(size + 1);
    FILE *stream = fopen(place(file), "rb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fread(content, 1, size + 1, stream), size);
    fclose(stream);
    ck_assert_mem_eq(content, bytes, size);
    free(content);
}

static void leave_partial(size_t size, char change)
{
    char path[4400];
    saddle_snprintf(path, sizeof path, "%s/deep", saddle_test_directory());
    mkdir(path, 0700);
    saddle_snprintf(path, sizeof path, "%s/deep/data", saddle_test_directory());
    mkdir(path, 0700);
    FILE *stream = fopen(place("a9a.part"), "wb");
    ck_assert_ptr_nonnull(stream);
    for (size_t k = 0; k < size; k++)
        fputc(body[k % BODY_SIZE] ^ change, stream);
    fclose(stream);
}

static void refuse(const char *name, const saddle_fetch_options *options, saddle_status status,
                   const char *part)
{
    saddle_error error = {0};
    assert_refused(saddle_data_fetch(name, options, &error), error, status, part);
    ck_assert_ptr_null(strchr(error.message, '\n'));
}

/* ---- tests ---- */

TEST(a_file_arrives_complete)
{
    saddle_error error = {0};
    struct stat status;
    saddle_fetch_options options = options_for("whole");
    assert_ok(saddle_data_fetch("a9a", &options, &error), error);
    assert_content("a9a", body, BODY_SIZE);
    ck_assert(!exists("a9a.part"));
    ck_assert_int_eq(stat(options.directory, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0700);
    /* It exists already, so it is not requested again unless forced. */
    ck_assert_int_eq(server.requests, 1);
    assert_ok(saddle_data_fetch("a9a", &options, &error), error);
    ck_assert_int_eq(server.requests, 1);
    options.force = true;
    assert_ok(saddle_data_fetch("a9a", &options, &error), error);
    ck_assert_int_eq(server.requests, 2);
}

TEST(a_name_may_mean_several_files)
{
    static const char *const file[] = {"t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz",
                                       "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"};
    saddle_error error = {0};
    saddle_fetch_options options = options_for("whole/");
    assert_ok(saddle_data_fetch("mnist.t", &options, &error), error);
    for (size_t k = 0; k < 4; k++)
        ck_assert(exists(file[k]) == (k < 2));
    assert_ok(saddle_data_fetch("mnist", &options, &error), error);
    for (size_t k = 0; k < 4; k++)
        assert_content(file[k], body, BODY_SIZE);
    ck_assert_int_eq(server.requests, 4);
}

TEST(the_published_file_needs_no_accepting)
{
    saddle_error error = {0};
    const char *real = saddle_test_data("a9a");
    if (real == NULL) {
        saddle_test_skip("a9a is not in $SADDLE_DATA");
        return;
    }
    FILE *stream = fopen(real, "rb");
    char *bytes = malloc(4 << 20);
    size_t size = fread(bytes, 1, 4 << 20, stream);
    fclose(stream);
    server.body = bytes;
    server.size = size;
    saddle_fetch_options options = options_for("whole");
    options.accept = NULL;
    assert_ok(saddle_data_fetch("a9a", &options, &error), error);
    assert_content("a9a", bytes, size);
    free(bytes);
}

TEST(a_wrong_sum_is_refused_with_both)
{
    saddle_fetch_options options = options_for("whole");
    size_t count = 0;
    const saddle_data_source *source = saddle_data_sources(&count);
    char sum[65];
    for (size_t k = 0; k < 65; k++)
        sum[k] = (char)(body_sum()[k] | (body_sum()[k] >= 'A' ? 0x20 : 0));
    options.accept = NULL;
    char accept[100];
    saddle_snprintf(accept, sizeof accept, "accept %s", sum);
    ck_assert_str_eq(source[0].name, "a9a");
    ck_assert(!source[0].verified && source[count - 1].verified);
    refuse("a9a", &options, SADDLE_IO, source[0].sha256);
    refuse("a9a", &options, SADDLE_IO, accept);
    refuse("mnist.t", &options, SADDLE_IO, "damaged or replaced");
    ck_assert(!exists("a9a") && !exists("a9a.part"));
    /* Accepting another hash does not help. */
    options.accept = source[1].sha256;
    refuse("a9a", &options, SADDLE_IO, sum);
    ck_assert(!exists("a9a") && !exists("a9a.part"));
}

TEST(a_broken_download_is_taken_up_again)
{
    saddle_error error = {0};
    saddle_fetch_options options = options_for("cut");
    refuse("a9a", &options, SADDLE_IO, "another mirror");
    ck_assert(!exists("a9a"));
    assert_content("a9a.part", body, BODY_SIZE / 2);
    options = options_for("range");
    assert_ok(saddle_data_fetch("a9a", &options, &error), error);
    ck_assert_int_eq(server.range, BODY_SIZE / 2);
    assert_content("a9a", body, BODY_SIZE);
}

TEST(a_useless_partial_file_is_started_over)
{
    static const struct {
        const char *mode;
        size_t size;
        char change;
        int requests;
    } part[] = {
        {"whole", 500, 0, 2},             /* the server does not support ranges */
        {"range", 500, 1, 2},             /* the bytes are of another file */
        {"range", BODY_SIZE, 1, 2},       /* nothing follows them */
        {"range", BODY_SIZE + 500, 0, 2}, /* there are more than the file has */
        {"liar", 500, 0, 2},              /* the server sends another range than requested */
    };
    saddle_error error = {0};
    saddle_fetch_options options;
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        options = options_for(part[k].mode);
        options.force = true;
        server.requests = 0;
        leave_partial(part[k].size, part[k].change);
        assert_ok(saddle_data_fetch("a9a", &options, &error), error);
        assert_content("a9a", body, BODY_SIZE);
        ck_assert_int_eq(server.requests, part[k].requests);
        ck_assert(!exists("a9a.part"));
    }
    /* It starts over, but not endlessly. */
    options.accept = NULL;
    server.requests = 0;
    leave_partial(500, 0);
    refuse("a9a", &options, SADDLE_IO, "expected");
    ck_assert_int_eq(server.requests, 2);
    ck_assert(!exists("a9a.part"));
}

TEST(redirects_keep_to_the_rules)
{
    saddle_error error = {0};
    saddle_fetch_options options = options_for("file");
    refuse("a9a", &options, SADDLE_IO, "a redirect to file:///etc/passwd is refused");
    options = options_for("ftp");
    refuse("a9a", &options, SADDLE_IO, "a redirect to ftp://127.0.0.1/a9a is refused");
    options = options_for("loop");
    refuse("a9a", &options, SADDLE_IO, "Maximum (5) redirects followed");
    ck_assert(!exists("a9a") && !exists("a9a.part"));
    options = options_for("moved");
    assert_ok(saddle_data_fetch("a9a", &options, &error), error);
    assert_content("a9a", body, BODY_SIZE);
}

TEST(https_never_leads_to_http)
{
    saddle_error error = {0};
    char secure[256];
    saddle_fetch_options options = options_for("plain");
    /* From http to http, to check that the address works. */
    assert_ok(saddle_data_fetch("a9a", &options, &error), error);
    options.force = true;
    put_curl_in_front();
    for (int k = 0; k < 2; k++) {
        saddle_snprintf(secure, sizeof secure, "%s%s", k == 0 ? "https" : "HTTPS",
                        mirror("plain") + 4);
        options.mirror = secure;
        refuse("a9a", &options, SADDLE_IO, "a redirect to http://127.0.0.1");
    }
    ck_assert_int_eq(server.requests, 4);
    ck_assert(!exists("a9a.part"));
    /* From http to https is allowed; the handshake then fails here. */
    options.mirror = mirror("secure");
    assert_refused(saddle_data_fetch("a9a", &options, &error), error, SADDLE_IO, "another mirror");
    ck_assert_ptr_null(strstr(error.message, "is refused"));
}

/* A server that sends more than any data set has: a clear message, and nothing is left behind. */
TEST(too_large_a_file_is_refused_and_removed)
{
    saddle_fetch_options options = options_for("endless");
    refuse("a9a", &options, SADDLE_IO, "sends more than 256 MiB");
    ck_assert(!exists("a9a") && !exists("a9a.part"));
    /* The same if nearly that much was there before. */
    leave_partial(500, 0);
    ck_assert_int_eq(truncate(place("a9a.part"), (256 << 20) - 1000), 0);
    refuse("a9a", &options, SADDLE_IO, "sends more than 256 MiB");
    ck_assert_int_eq(server.range, (256 << 20) - 1000);
    ck_assert(!exists("a9a") && !exists("a9a.part"));
}

TEST(failures_say_what_to_do)
{
    saddle_fetch_options options = options_for("gone");
    refuse("a9a", &options, SADDLE_IO, "the server answers 404");
    refuse("a9a", &options, SADDLE_IO, "deep/data/a9a' yourself");
    ck_assert(!exists("a9a") && !exists("a9a.part"));
    /* What was there before is kept for a server that has the rest. */
    leave_partial(500, 0);
    refuse("a9a", &options, SADDLE_IO, "404");
    assert_content("a9a.part", body, 500);
    /* Another process is downloading it. */
    int other = open(place("a9a.part"), O_RDWR);
    ck_assert_int_eq(flock(other, LOCK_EX), 0);
    refuse("a9a", &options, SADDLE_IO, "by another process");
    assert_content("a9a.part", body, 500);
    close(other);
    stop_server();
    options = options_for("whole");
    refuse("a9a", &options, SADDLE_IO, "another mirror");
    start_server();
}

/* Stops the download once bytes have arrived; counts calls. */
static bool end_early(void *context, const char *file, uint64_t done, uint64_t total)
{
    int *calls = context;
    ++*calls;
    ck_assert_str_eq(file, "a9a");
    ck_assert(total == 0 || (done <= total && total == BODY_SIZE));
    return done > 0;
}

TEST(the_caller_can_end_a_download)
{
    int calls = 0;
    saddle_error error = {0};
    saddle_fetch_options options = options_for("whole");
    options.progress = end_early;
    options.context = &calls;
    refuse("a9a", &options, SADDLE_IO, "was stopped");
    ck_assert_int_gt(calls, 0);
    ck_assert(!exists("a9a") && exists("a9a.part"));
    options = options_for("range");
    assert_ok(saddle_data_fetch("a9a", &options, &error), error);
    assert_content("a9a", body, BODY_SIZE);
}

TEST(wrong_requests_are_refused)
{
    saddle_fetch_options options = options_for("whole");
    refuse("b9b", &options, SADDLE_BAD_INPUT, "one of a9a, a9a.t, mnist, mnist.t can be fetched");
    refuse("mnits", &options, SADDLE_BAD_INPUT, "did you mean 'mnist'?");
    refuse(NULL, &options, SADDLE_BAD_INPUT, "name is NULL");
    refuse("synthetic", &options, SADDLE_BAD_INPUT, "are generated");
    options.abi = SADDLE_ABI + 1;
    refuse("a9a", &options, SADDLE_BAD_INPUT, "saddle_fetch_options has ABI number");
    options.abi = SADDLE_ABI;
    options.accept = "123";
    refuse("a9a", &options, SADDLE_BAD_INPUT, "'123' is not a SHA-256");
    options = options_for("whole");
    options.mirror = "file:///etc";
    refuse("a9a", &options, SADDLE_BAD_INPUT, "must start with http:// or https://");
    options = options_for("whole");
    options.directory = "/proc/nowhere";
    refuse("a9a", &options, SADDLE_BAD_INPUT, "cannot create the directory '/proc/nowhere'");
    options.directory = NULL;
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    refuse("a9a", &options, SADDLE_BAD_INPUT, "HOME");
    ck_assert_int_eq(server.requests, 0);
}

TEST(without_curl_the_message_has_the_command)
{
    saddle_fetch_options options = options_for("whole");
    char command[200];
    saddle_snprintf(command, sizeof command, "curl -fLo 'a9a' '%s/a9a'", options.mirror);
    setenv("PATH", saddle_test_directory(), 1);
    refuse("a9a", &options, SADDLE_UNSUPPORTED, "apt-get install curl");
    refuse("a9a", &options, SADDLE_UNSUPPORTED, command);
    const char *const files[] = {"train-images-idx3", "train-labels-idx1", "t10k-images-idx3",
                                 "t10k-labels-idx1"};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        saddle_snprintf(command, sizeof command, "curl -fLo '%s-ubyte.gz' '%s/%s-ubyte.gz'",
                        files[k], options.mirror, files[k]);
        refuse("mnist", &options, SADDLE_UNSUPPORTED, command);
    }
    ck_assert_int_eq(server.requests, 0);
    ck_assert(!exists("a9a") && !exists("a9a.part"));
}

TEST(the_data_directory_is_the_default)
{
    saddle_error error = {0};
    char *path = NULL;
    saddle_fetch_options options = options_for("whole");
    options.directory = NULL;
    setenv("XDG_DATA_HOME", saddle_test_directory(), 1);
    unsetenv("SADDLE_DATA");
    ck_assert_int_eq(chdir(saddle_test_directory()), 0);
    assert_ok(saddle_data_fetch("a9a.t", &options, &error), error);
    assert_ok(saddle_data_find("a9a.t", &path, &error), error);
    ck_assert_ptr_nonnull(strstr(path, "/saddle/a9a.t"));
    saddle_free(path);
}
