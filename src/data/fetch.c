/*
 * Downloading data sets with the program curl.
 *
 * A file is written to FILE.part in the data directory, resumed where an earlier attempt stopped, compared
 * with its expected SHA-256 and only then renamed to FILE. A lock on the partial file excludes a second
 * download of the same file. Redirects are followed to http and https only, and from https only to https.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sha256.h"
#include "data/sources.h"
#include "files/file.h"
#include "files/program.h"

/* Many times the size of the largest known file: a server that sends more is not sending a data set. */
#define MOST_BYTES ((uint64_t)256 << 20)
/* How often the size of the file is looked at. */
#define PROGRESS_MILLISECONDS 100
/* Exit codes of curl. */
enum {
    CURL_BAD_PROTOCOL = 1,
    CURL_HTTP_ERROR = 22,
    CURL_WRITE_ERROR = 23,
    CURL_NO_RANGE = 33,
    CURL_TOO_LARGE = 63
};
/* What curl prints at the end, after REPORT: exit code, status of the server, last address, message. */
#define REPORT "\nsaddle "

/* One download. */
struct download {
    const saddle_data_source *source;
    const saddle_fetch_options *options;
    char *url;           /* where the file comes from */
    char *path;          /* its destination */
    char *partial;       /* its name until it is verified */
    int descriptor;      /* of the partial file, which curl writes; -1: closed */
    uint64_t resumed;    /* bytes that an earlier attempt left */
    uint64_t done;       /* bytes in the partial file */
    char said[8192];     /* the end of what curl printed: heads of answers, and its report */
    size_t length;       /* of that text */
    bool restart;        /* whether the partial file turned out to be useless */
    bool ended;          /* whether the caller's progress function stopped it */
    bool too_large;      /* whether more than MOST_BYTES were announced or arrived */
    bool no_curl;        /* whether the program curl is not installed */
    saddle_error reason; /* why it failed */
};

static bool starts_with(const char *url, const char *scheme)
{
    return strncasecmp_l(url, scheme, strlen(scheme), saddle_c_locale()) == 0;
}

/* ---- one transfer ---- */

/* Starts curl, which writes the file to the descriptor and its texts to `texts`; returns 0 or an errno. */
static int start_curl(const struct download *download, pid_t *child, int texts)
{
    char start[32];
    char most[32];
    saddle_snprintf(start, sizeof start, "%" PRIu64, download->resumed);
    saddle_snprintf(most, sizeof most, "%" PRIu64, MOST_BYTES);
    const char *redirects = starts_with(download->url, "https://") ? "=https" : "=http,https";
    static const char write_out[] =
        "%{stderr}" REPORT "%{exitcode} %{http_code} %{url_effective}\n%{errormsg}";
    /* clang-format off */
    const char *const argv[] = {
        "curl", "-q", /* ignore the user's .curlrc */
        "--silent", "--fail", "--globoff", "--no-buffer", "--user-agent", "saddle",
        "--proto", "=http,https", "--proto-redir", redirects, "--location", "--max-redirs", "5",
        "--connect-timeout", "20",
        "--speed-limit", "100", "--speed-time", "30", /* a transfer this slow for so long has stalled */
        "--max-filesize", most, "--continue-at", start,
        "--dump-header", "/dev/stderr",
        "--write-out", write_out,
        "--url", download->url, NULL};
    /* clang-format on */
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (input < 0 || lseek(download->descriptor, (off_t)download->resumed, SEEK_SET) < 0)
        return errno;
    int reason = saddle_start_program(child, argv, input, download->descriptor, texts);
    close(input);
    return reason;
}

/* Reads what curl printed and keeps the end of it; returns false once curl has ended. */
static bool read_texts(struct download *download, int from)
{
    size_t half = sizeof download->said / 2;
    if (download->length >= half) {
        memmove(download->said, download->said + download->length - (half - 1), half - 1);
        download->length = half - 1;
    }
    ssize_t got = read(from, download->said + download->length, half);
    if (got > 0)
        download->length += (size_t)got;
    download->said[download->length] = '\0';
    return got > 0 || (got < 0 && errno == EINTR);
}

/* Returns the last place where a text occurs in what curl printed, or NULL. */
static const char *last_said(const struct download *download, const char *text)
{
    const char *found = NULL;
    for (const char *at = download->said; (at = strcasestr(at, text)) != NULL; at++)
        found = at + strlen(text);
    return found;
}

/* Looks at the size of the file and calls the caller's progress function; returns whether to continue. */
static bool report_progress(struct download *download)
{
    const saddle_fetch_options *options = download->options;
    struct stat status;
    if (fstat(download->descriptor, &status) == 0)
        download->done = (uint64_t)status.st_size;
    download->too_large = download->done > MOST_BYTES;
    const char *announced = last_said(download, "\ncontent-length: ");
    uint64_t total = announced != NULL && download->done > download->resumed
                         ? download->resumed + strtoull(announced, NULL, 10)
                         : 0;
    download->ended =
        options->progress != NULL &&
        options->progress(options->context, download->source->file, download->done, total);
    return !download->ended && !download->too_large;
}

/* Waits for curl, and ends it if the caller stops the download or too much arrives; returns whether it ended
 * by itself. */
static bool wait_for_curl(struct download *download, pid_t child, int texts)
{
    bool running = true;
    while (running) {
        struct pollfd ready = {.fd = texts, .events = POLLIN};
        if (poll(&ready, 1, PROGRESS_MILLISECONDS) > 0)
            running = read_texts(download, texts);
        /* Also after the end: the interrupt that ended curl may be meant for the caller. */
        if (!report_progress(download)) {
            kill(child, SIGKILL);
            saddle_wait_for_program(child);
            return false;
        }
    }
    saddle_wait_for_program(child);
    return true;
}

/* Reads curl's report: whether it has the rest of the file. */
static saddle_status judge(struct download *download)
{
    saddle_error *error = &download->reason;
    const char *report = last_said(download, REPORT);
    char *status = NULL;  /* follows the result */
    char *address = NULL; /* follows the server's status */
    long result = report != NULL ? strtol(report, &status, 10) : -1;
    long code = report != NULL ? strtol(status, &address, 10) : 0;
    if (report == NULL || status == report || address == status)
        /* It did not know the options, or was killed. */
        return saddle_fail(error, SADDLE_IO, "curl failed: %.*s",
                           (int)strcspn(download->said, "\n"), download->said);
    const char *message = report + strcspn(report, "\n");
    address += *address == ' ';
    download->restart = result == CURL_NO_RANGE;
    download->too_large = result == CURL_TOO_LARGE;
    if (result == 0)
        return SADDLE_OK;
    if (result == CURL_BAD_PROTOCOL)
        return saddle_fail(error, SADDLE_IO,
                           "a redirect to %.*s is refused: only http and https, and not from "
                           "https to http",
                           (int)strcspn(address, "\n"), address);
    if (result == CURL_HTTP_ERROR)
        return saddle_fail(error, SADDLE_IO, "the server answers %ld", code);
    return saddle_fail(error, SADDLE_IO, "%s%s", message + strspn(message, "\n"),
                       result == CURL_WRITE_ERROR ? "; is the disk full?" : "");
}

/* Requests the missing bytes once. */
static bool transfer(struct download *download)
{
    int ends[2] = {-1, -1};
    pid_t child = 0;
    download->length = 0;
    download->said[0] = '\0';
    int reason = pipe2(ends, O_CLOEXEC) == 0 ? start_curl(download, &child, ends[1]) : errno;
    close(ends[1]);
    bool arrived =
        reason == 0 && wait_for_curl(download, child, ends[0]) && judge(download) == SADDLE_OK;
    close(ends[0]);
    download->no_curl = reason == ENOENT;
    if (reason != 0)
        saddle_fail(&download->reason, SADDLE_IO, "cannot start curl: %s", strerror(reason));
    if (download->too_large)
        saddle_fail(&download->reason, SADDLE_IO,
                    "the server sends more than %" PRIu64 " MiB, which is not this file",
                    MOST_BYTES >> 20);
    return arrived;
}

/* ---- one file ---- */

/* Like mkdir -p. New directories are private to the user, as XDG requires. */
static saddle_status make_directory(const char *directory, saddle_error *error)
{
    SADDLE_OWNED char *path = saddle_strdup(directory);
    SADDLE_TRY(saddle_check_memory(path, "a directory name", error));
    int failed = 0;
    char *end = path;
    do {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        char separator = *end;
        *end = '\0';
        bool made = mkdir(path, 0700) == 0 ? saddle_sync_directory_of(path) : errno == EEXIST;
        failed = made ? 0 : errno;
        *end = separator;
    } while (!failed && *end != '\0');
    if (failed)
        return saddle_refuse(error, "cannot create the directory '%s': %s; give another directory",
                             directory, strerror(failed));
    return SADDLE_OK;
}

/* Opens and locks the partial file. */
static saddle_status open_partial(struct download *download, saddle_error *error)
{
    struct stat held;
    struct stat named;
    download->descriptor =
        open(download->partial, O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (download->descriptor < 0)
        return saddle_refuse(error, "cannot write '%s': %s; give another directory",
                             download->partial, strerror(errno));
    /* Another download may have renamed the file between open() and flock(). */
    if (flock(download->descriptor, LOCK_EX | LOCK_NB) != 0 ||
        fstat(download->descriptor, &held) != 0 || stat(download->partial, &named) != 0 ||
        held.st_ino != named.st_ino) {
        close(download->descriptor);
        download->descriptor = -1;
        return saddle_fail(error, SADDLE_IO,
                           "'%s' is being downloaded by another process; wait for it to end",
                           download->path);
    }
    /* The file's name is predictable: do not write to a link or device that someone else put there. */
    if (!S_ISREG(held.st_mode) || held.st_nlink != 1)
        return saddle_refuse(
            error, "'%s' is not the beginning of a download; remove it, or give another directory",
            download->partial);
    download->resumed = (uint64_t)held.st_size;
    download->done = download->resumed;
    return SADDLE_OK;
}

typedef struct hex_sum {
    char text[2 * SADDLE_SHA256_BYTES + 1];
} hex_sum;

static bool sum_file(int descriptor, hex_sum *out)
{
    unsigned char sum[SADDLE_SHA256_BYTES] = {0};
    bool read = saddle_sha256_file(descriptor, UINT64_MAX, sum);
    for (size_t k = 0; k < sizeof sum; k++)
        saddle_snprintf(out->text + 2 * k, 3, "%02x", sum[k]);
    return read;
}

/* Returns whether a hash is the expected one or the one the user accepts. */
static bool is_right(const struct download *download, const hex_sum *found)
{
    const char *sum = found->text;
    const char *accept = download->options->accept;
    return strcmp(sum, download->source->sha256) == 0 ||
           (accept != NULL && strcasecmp_l(sum, accept, saddle_c_locale()) == 0);
}

static bool is_there_already(const struct download *download)
{
    hex_sum sum;
    FILE *file;
    size_t bytes;
    if (download->options->force ||
        saddle_reading_open_regular(&file, download->path, "", &bytes, NULL) != SADDLE_OK)
        return false;
    bool right = sum_file(fileno(file), &sum) && is_right(download, &sum);
    fclose(file);
    return right;
}

static saddle_status transfer_failed(const struct download *download, saddle_error *error)
{
    if (download->ended)
        return saddle_fail(error, SADDLE_IO,
                           "the download of '%s' was stopped; run it again to resume",
                           download->source->file);
    if (download->no_curl) /* saddle_data_fetch() says what the command is for */
        return saddle_fail(error, SADDLE_UNSUPPORTED, "curl -fLo '%s' '%.200s'",
                           download->source->file, download->url);
    return saddle_fail(error, SADDLE_IO,
                       "cannot download %.200s: %.500s; try another mirror, or put the file at "
                       "'%.300s' yourself",
                       download->url, download->reason.message, download->path);
}

static saddle_status wrong_sum(const struct download *download, const char *sum,
                               saddle_error *error)
{
    const saddle_data_source *source = download->source;
    return saddle_fail(error, SADDLE_IO,
                       source->verified
                           ? "%.200s has SHA-256 %s, expected %s; it was damaged or replaced and "
                             "has been removed; try another mirror, or accept %s if you trust it"
                           : "%.200s has SHA-256 %s, expected %s; the file has been removed, "
                             "because its publisher gives no hash to tell which is right; accept "
                             "%s if you trust it",
                       download->url, sum, source->sha256, sum);
}

/* Compares the file with its expected hash and renames it. */
static saddle_status verify(struct download *download, bool *right, saddle_error *error)
{
    hex_sum sum;
    *right = false;
    if (!sum_file(download->descriptor, &sum))
        return saddle_fail(error, SADDLE_IO, "cannot read '%s': %s", download->partial,
                           strerror(errno));
    *right = is_right(download, &sum);
    if (!*right)
        return wrong_sum(download, sum.text, error);
    if (!saddle_sync_file(download->descriptor) || rename(download->partial, download->path) != 0 ||
        !saddle_sync_directory_of(download->path))
        return saddle_fail(error, SADDLE_IO, "cannot move '%s' to '%s': %s", download->partial,
                           download->path, strerror(errno));
    return SADDLE_OK;
}

/* Completes the open partial file. If an earlier attempt's bytes do not fit the file, downloads it again
 * from the beginning, once. */
static saddle_status complete(struct download *download, saddle_error *error)
{
    for (;;) {
        bool right = false;
        bool arrived = transfer(download);
        saddle_status status =
            arrived ? verify(download, &right, error) : transfer_failed(download, error);
        bool useless = download->restart || download->too_large || (arrived && !right);
        if (status == SADDLE_OK || !useless)
            return status;
        bool again = ftruncate(download->descriptor, 0) == 0 && download->resumed > 0 &&
                     !download->too_large;
        download->resumed = download->done = 0;
        download->restart = false;
        if (!again)
            return status;
    }
}

static saddle_status fetch_file(const saddle_data_source *source, const char *directory,
                                const saddle_fetch_options *options, saddle_error *error)
{
    struct download download = {.source = source, .options = options, .descriptor = -1};
    const char *mirror = options->mirror;
    size_t length = mirror != NULL ? strlen(mirror) : 0;
    bool slash = length > 0 && mirror[length - 1] == '/';
    download.url = mirror != NULL ? saddle_format("%s%s%s", mirror, slash ? "" : "/", source->file)
                                  : saddle_strdup(source->url);
    download.path = saddle_format("%s/%s", directory, source->file);
    download.partial = saddle_format("%s/%s.part", directory, source->file);
    saddle_status status = SADDLE_OK;
    if (download.url == NULL || download.path == NULL || download.partial == NULL)
        status = saddle_no_memory(error, "a file name");
    else if (!is_there_already(&download)) {
        status = open_partial(&download, error);
        SADDLE_THEN(status, complete(&download, error));
    }
    /* Remove an empty partial file. */
    if ((status == SADDLE_IO || status == SADDLE_UNSUPPORTED) && download.descriptor >= 0 &&
        download.done == 0)
        unlink(download.partial);
    if (download.descriptor >= 0)
        close(download.descriptor);
    saddle_free(download.partial);
    saddle_free(download.path);
    saddle_free(download.url);
    return status;
}

/* ---- a data set ---- */

/* Returns whether a text has the form of a SHA-256: 64 hexadecimal digits, upper or lower case. */
static bool is_sum(const char *text)
{
    return strlen(text) == (size_t)2 * SADDLE_SHA256_BYTES &&
           text[strspn(text, "0123456789abcdefABCDEF")] == '\0';
}

static saddle_status check_request(const char *name, const saddle_fetch_options *options,
                                   saddle_error *error)
{
    if (saddle_source_of(name) == NULL) {
        const char *close = saddle_closest_source(name);
        if (close != NULL && strcmp(close, "synthetic") == 0)
            return saddle_refuse(
                error, "'synthetic' data are generated and cannot be fetched; use them directly");
        return saddle_refuse(
            error, "data set '%s' is unknown; %s%s%sone of " SADDLE_SOURCE_NAMES " can be fetched",
            name, close != NULL ? "did you mean '" : "", close != NULL ? close : "",
            close != NULL ? "'? " : "");
    }
    if (options->mirror != NULL && !starts_with(options->mirror, "http://") &&
        !starts_with(options->mirror, "https://"))
        return saddle_refuse(
            error, "mirror '%s' is not an address; it must start with http:// or https://",
            options->mirror);
    if (options->accept != NULL && !is_sum(options->accept))
        return saddle_refuse(error, "'%s' is not a SHA-256; give 64 hexadecimal digits",
                             options->accept);
    return SADDLE_OK;
}

saddle_status saddle_data_fetch(const char *name, const saddle_fetch_options *options,
                                saddle_error *error)
{
    static const saddle_fetch_options defaults = {.abi = SADDLE_ABI};
    SADDLE_REQUIRE(error, name);
    if (options == NULL)
        options = &defaults;
    SADDLE_TRY(saddle_check_abi(options->abi, "saddle_fetch_options", error));
    SADDLE_TRY(check_request(name, options, error));
    SADDLE_OWNED char *directory = NULL;
    saddle_error said;
    saddle_status status = SADDLE_OK;
    if (options->directory == NULL)
        status = saddle_data_directory(&directory, error);
    else if ((directory = saddle_strdup(options->directory)) == NULL)
        status = saddle_no_memory(error, "a directory name");
    SADDLE_THEN(status, make_directory(directory, error));
    size_t count = 0;
    const saddle_data_source *source = saddle_data_sources(&count);
    char commands[1024] = ""; /* that download the files, if curl is not installed */
    for (size_t k = 0; status == SADDLE_OK && k < count; k++) {
        if (!saddle_source_belongs(&source[k], name))
            continue;
        status = fetch_file(&source[k], directory, options, &said);
        if (status == SADDLE_UNSUPPORTED) {
            saddle_append(commands, sizeof commands, "%s%s", *commands != '\0' ? " && " : "",
                          said.message);
            status = SADDLE_OK;
        } else if (status != SADDLE_OK) {
            saddle_fail(error, status, "%s", said.message);
        }
    }
    if (status == SADDLE_OK && *commands != '\0')
        status = saddle_fail(error, SADDLE_UNSUPPORTED,
                             "downloads need the program curl, which is not installed; on Debian: "
                             "apt-get install curl; or run this where it is installed, and put the "
                             "files into '%.200s': %s",
                             directory, commands);
    return status;
}
