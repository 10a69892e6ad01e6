/*
 * Downloading data sets (libcurl).
 *
 * A file is written to FILE.part in the data directory, resumed where an earlier attempt stopped, compared
 * with its expected SHA-256 and only then renamed to FILE. A lock on the partial file excludes a second
 * download of the same file. Redirects are followed to http and https only, and from https only to https.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <curl/curl.h>

#include "core/memory.h"
#include "core/print.h"
#include "core/sha256.h"
#include "core/status.h"
#include "data/sources.h"
#include "files/file.h"

#define MOST_REDIRECTS 5L
#define CONNECT_SECONDS 20L
/* A transfer below this many bytes per second for this long has stalled. */
#define STALL_BYTES 100L
#define STALL_SECONDS 30L
/* Many times the size of the largest known file: a server that sends more is not sending a data set. */
#define MOST_BYTES ((uint64_t)256 << 20)

/* One download. */
struct download {
    const saddle_data_source *source;
    const saddle_fetch_options *options;
    char *url;                  /* where the file comes from */
    char *path;                 /* its destination */
    char *partial;              /* its name until it is verified */
    int descriptor;             /* of the partial file; -1: closed */
    CURL *handle;               /* of the current transfer */
    uint64_t resumed;           /* bytes that an earlier attempt left */
    uint64_t done;              /* bytes in the partial file */
    uint64_t range;             /* offset at which the server's answer starts */
    bool begun;                 /* whether bytes of the file have arrived */
    bool restart;               /* whether the partial file turned out to be useless */
    bool ended;                 /* whether the caller's progress function stopped it */
    bool too_large;             /* whether more than MOST_BYTES were announced or arrived */
    char said[CURL_ERROR_SIZE]; /* libcurl's message, also for failures of the callbacks below */
    char reason[CURL_ERROR_SIZE + 64]; /* the first failure, which takes precedence over libcurl's
                                        * message */
};

static bool starts_with(const char *url, const char *scheme)
{
    return strncasecmp_l(url, scheme, strlen(scheme), saddle_c_locale()) == 0;
}

/* ---- libcurl's callbacks ---- */

/* Records where a partial answer starts: "Content-Range: bytes START-END/SIZE". */
static size_t on_header(char *text, size_t size, size_t count, void *context)
{
    struct download *download = context;
    static const char name[] = "content-range: bytes ";
    size_t length = sizeof name - 1;
    size_t bytes = size * count;
    if (bytes > length && strncasecmp_l(text, name, length, saddle_c_locale()) == 0) {
        download->range = 0;
        for (size_t k = length; k < bytes && text[k] >= '0' && text[k] <= '9'; k++)
            download->range = download->range * 10 + (uint64_t)(text[k] - '0');
    }
    return bytes;
}

/* Called before the first byte of the file: keeps what is there, or truncates it. */
static bool begin_body(struct download *download, long code)
{
    if (code == 206 && download->range == download->resumed) {
        download->done = download->resumed;
    } else if (code == 206) {
        download->restart = true;
        return false;
    } else if (ftruncate(download->descriptor, 0) != 0) {
        saddle_snprintf(download->reason, sizeof download->reason, "%s", strerror(errno));
        return false;
    } else {
        download->resumed = 0;
        download->done = 0;
    }
    download->begun = true;
    return true;
}

static bool write_all(struct download *download, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = pwrite(download->descriptor, bytes, count, (off_t)download->done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            saddle_snprintf(download->reason, sizeof download->reason,
                            "cannot write: %s; is the disk full?", strerror(errno));
            return false;
        }
        bytes += written;
        count -= (size_t)written;
        download->done += (uint64_t)written;
    }
    return true;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
    struct download *download = context;
    long code = 0;
    curl_easy_getinfo(download->handle, CURLINFO_RESPONSE_CODE, &code);
    /* Ignore the page that comes with a redirect or an error. */
    if (code != 200 && code != 206)
        return size * count;
    if (!download->begun && !begin_body(download, code))
        return 0;
    if (download->done > MOST_BYTES || size * count > MOST_BYTES - download->done) {
        download->too_large = true;
        return 0;
    }
    return write_all(download, bytes, size * count) ? size * count : 0;
}

static int on_progress(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total,
                       curl_off_t up_now)
{
    struct download *download = context;
    const saddle_fetch_options *options = download->options;
    (void)now;
    (void)up_total;
    (void)up_now;
    uint64_t all = download->begun && total > 0 ? download->resumed + (uint64_t)total : 0;
    if (options->progress != NULL &&
        options->progress(options->context, download->source->file, download->done, all))
        download->ended = true;
    return download->ended;
}

/* ---- one transfer ---- */

static bool set_options(struct download *download)
{
    CURL *handle = download->handle;
    const char *redirects = starts_with(download->url, "https://") ? "https" : "http,https";
    bool good = curl_easy_setopt(handle, CURLOPT_URL, download->url) == CURLE_OK &&
                curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
                curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, redirects) == CURLE_OK &&
                curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L) == CURLE_OK &&
                curl_easy_setopt(handle, CURLOPT_MAXREDIRS, MOST_REDIRECTS) == CURLE_OK;
    /* Not CURLOPT_RESUME_FROM, which fails when a server ignores it and sends the whole file. */
    char rest[32];
    saddle_snprintf(rest, sizeof rest, "%" PRIu64 "-", download->resumed);
    if (download->resumed > 0)
        good = good && curl_easy_setopt(handle, CURLOPT_RANGE, rest) == CURLE_OK;
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, STALL_BYTES);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, STALL_SECONDS);
    curl_easy_setopt(handle, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)MOST_BYTES);
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "saddle");
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, download->said);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, download);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, download);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, download);
    return good;
}

/* Returns whether a transfer brought the file; otherwise records the reason. */
static bool judge(struct download *download, CURLcode result)
{
    long code = 0;
    char *address = NULL;
    curl_easy_getinfo(download->handle, CURLINFO_RESPONSE_CODE, &code);
    curl_easy_getinfo(download->handle, CURLINFO_EFFECTIVE_URL, &address);
    if (result == CURLE_UNSUPPORTED_PROTOCOL)
        saddle_snprintf(
            download->reason, sizeof download->reason,
            "a redirect to %.150s is refused: only http and https, and not from https to http",
            address);
    download->too_large = download->too_large || result == CURLE_FILESIZE_EXCEEDED;
    if (download->too_large)
        saddle_snprintf(download->reason, sizeof download->reason,
                        "the server sends more than %" PRIu64 " MiB, which is not this file",
                        MOST_BYTES >> 20);
    else if (result != CURLE_OK && download->reason[0] == '\0')
        saddle_snprintf(download->reason, sizeof download->reason, "%s",
                        download->said[0] != '\0' ? download->said : curl_easy_strerror(result));
    if (result != CURLE_OK)
        return false;
    /* For an empty file, no write callback was called. */
    if (code == 200 || code == 206)
        return download->begun || begin_body(download, code);
    download->restart = code == 416 && download->resumed > 0;
    saddle_snprintf(download->reason, sizeof download->reason, "the server answers %ld", code);
    return false;
}

/* Requests the missing bytes once. */
static bool transfer(struct download *download)
{
    download->begun = false;
    download->range = 0;
    download->reason[0] = '\0';
    download->said[0] = '\0';
    download->handle = curl_easy_init();
    bool arrived = false;
    if (download->handle != NULL && set_options(download))
        arrived = judge(download, curl_easy_perform(download->handle));
    else
        saddle_snprintf(download->reason, sizeof download->reason, "libcurl cannot be set up");
    curl_easy_cleanup(download->handle);
    download->handle = NULL;
    return arrived;
}

/* ---- one file ---- */

/* Like mkdir -p. New directories are private to the user, as XDG requires. */
static saddle_status make_directory(const char *directory, saddle_error *error)
{
    char *path = saddle_strdup(directory);
    if (path == NULL)
        return saddle_no_memory(error, "a directory name");
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
    saddle_free(path);
    if (failed)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "cannot create the directory '%s': %s; give another directory",
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
        return saddle_fail(error, SADDLE_BAD_INPUT, "cannot write '%s': %s; give another directory",
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
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "'%s' is not the beginning of a download; remove it, or give another "
                           "directory",
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
    struct stat status;
    if (download->options->force || stat(download->path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    int descriptor = open(download->path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    bool right = sum_file(descriptor, &sum) && is_right(download, &sum);
    close(descriptor);
    return right;
}

static saddle_status transfer_failed(const struct download *download, saddle_error *error)
{
    if (download->ended)
        return saddle_fail(error, SADDLE_IO,
                           "the download of '%s' was stopped; run it again to resume",
                           download->source->file);
    return saddle_fail(error, SADDLE_IO,
                       "cannot download %.200s: %s; try another mirror, or put the file at "
                       "'%.300s' yourself",
                       download->url, download->reason, download->path);
}

static saddle_status wrong_sum(const struct download *download, const char *sum,
                               saddle_error *error)
{
    const saddle_data_source *source = download->source;
    if (source->verified)
        return saddle_fail(error, SADDLE_IO,
                           "%.200s has SHA-256 %s, expected %s; it was damaged or replaced and has "
                           "been removed; try another mirror, or accept %s if you trust it",
                           download->url, sum, source->sha256, sum);
    return saddle_fail(
        error, SADDLE_IO,
        "%.200s has SHA-256 %s, expected %s; the file has been removed, because "
        "its publisher gives no hash to tell which is right; accept %s if you trust it",
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
    if (status == SADDLE_IO && download.descriptor >= 0 && download.done == 0)
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
            return saddle_fail(
                error, SADDLE_BAD_INPUT,
                "'synthetic' data are generated and cannot be fetched; use them directly");
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "data set '%s' is unknown; %s%s%sone of " SADDLE_SOURCE_NAMES
                           " can be fetched",
                           name, close != NULL ? "did you mean '" : "", close != NULL ? close : "",
                           close != NULL ? "'? " : "");
    }
    if (options->mirror != NULL && !starts_with(options->mirror, "http://") &&
        !starts_with(options->mirror, "https://"))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "mirror '%s' is not an address; it must start with http:// or https://",
                           options->mirror);
    if (options->accept != NULL && !is_sum(options->accept))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "'%s' is not a SHA-256; give 64 hexadecimal digits", options->accept);
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
    char *directory = NULL;
    saddle_status status = SADDLE_OK;
    if (options->directory == NULL)
        status = saddle_data_directory(&directory, error);
    else if ((directory = saddle_strdup(options->directory)) == NULL)
        status = saddle_no_memory(error, "a directory name");
    SADDLE_THEN(status, make_directory(directory, error));
    size_t count = 0;
    const saddle_data_source *source = saddle_data_sources(&count);
    for (size_t k = 0; status == SADDLE_OK && k < count; k++)
        if (saddle_source_belongs(&source[k], name))
            status = fetch_file(&source[k], directory, options, error);
    saddle_free(directory);
    return status;
}
