#include "peers/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sodium/crypto_generichash.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "files/file.h"

enum { MAGIC = 8, VERSION = 16, SUM = crypto_generichash_BYTES_MIN };

typedef struct head {
    char magic[MAGIC];
    char version[VERSION];
    unsigned char fingerprint[SADDLE_RUN_FINGERPRINT];
    uint64_t agent;
} head;

typedef enum block_kind { BIRTH = 1, EXCHANGE, STATE } block_kind;

/* What is before the bytes of a block. */
typedef struct block_head {
    uint64_t kind;
    uint64_t length;
    unsigned char sum[SUM]; /* of the two numbers and the bytes */
} block_head;

struct saddle_store {
    char *path; /* of the directory */
    char *state_path;
    DIR *lock;
    head head; /* of the log */
    FILE *log;
    off_t end;  /* of its last whole block */
    off_t next; /* of what saddle_store_next() has read */
    off_t read; /* of what was there when it was opened */
    size_t dropped;
    bool returns;
    bool synced; /* whether all exchanges are on the disk */
    uint32_t incarnation;
    unsigned char *block; /* what was read last */
    unsigned char *state;
    size_t state_bytes;
};

/* ---- blocks ----------------------------------------------------------------------------------- */

static void begin_sum(crypto_generichash_state *sum, const block_head *block)
{
    crypto_generichash_init(sum, NULL, 0, SUM);
    crypto_generichash_update(sum, (const unsigned char *)block, offsetof(block_head, sum));
}

/* Writes a block; a failure is in the stream's error flag. */
static void write_block(FILE *f, block_kind kind, const saddle_store_piece *piece, size_t count)
{
    block_head block = {.kind = kind};
    crypto_generichash_state sum;
    for (size_t k = 0; k < count; k++)
        block.length += piece[k].size;
    begin_sum(&sum, &block);
    for (size_t k = 0; k < count; k++)
        crypto_generichash_update(&sum, piece[k].bytes, piece[k].size);
    crypto_generichash_final(&sum, block.sum, SUM);
    fwrite(&block, sizeof block, 1, f);
    for (size_t k = 0; k < count; k++)
        if (piece[k].size > 0) /* a piece without bytes may be NULL */
            fwrite(piece[k].bytes, 1, piece[k].size, f);
}

/* Reads a block that ends before `end`; frees what *bytes held. Returns SADDLE_BAD_INPUT if there is no whole one;
 * SADDLE_IO and SADDLE_NO_MEMORY say nothing about the file. */
static saddle_status read_block(FILE *f, off_t end, block_head *block, unsigned char **bytes)
{
    crypto_generichash_state sum;
    unsigned char found[SUM];
    saddle_free(*bytes);
    *bytes = NULL;
    if (fread(block, sizeof *block, 1, f) != 1)
        return ferror(f) != 0 ? SADDLE_IO : SADDLE_BAD_INPUT;
    off_t at = ftello(f);
    if (at < 0 || at > end || block->length > (uint64_t)(end - at))
        return SADDLE_BAD_INPUT;
    *bytes = saddle_alloc_unset((size_t)block->length + 1, 1);
    if (*bytes == NULL)
        return SADDLE_NO_MEMORY;
    if (fread(*bytes, 1, (size_t)block->length, f) != block->length)
        return ferror(f) != 0 ? SADDLE_IO : SADDLE_BAD_INPUT;
    begin_sum(&sum, block);
    crypto_generichash_update(&sum, *bytes, block->length);
    crypto_generichash_final(&sum, found, SUM);
    return memcmp(found, block->sum, SUM) == 0 ? SADDLE_OK : SADDLE_BAD_INPUT;
}

/* Fails unless a file could be read, whatever is in it. */
static saddle_status check_read(saddle_status status, const char *path, saddle_error *error)
{
    if (status == SADDLE_NO_MEMORY)
        return saddle_no_memory(error, "the checkpoints");
    return status != SADDLE_IO ? SADDLE_OK
                               : saddle_fail(error, SADDLE_IO, "cannot read '%s': %s", path,
                                             strerror(errno != 0 ? errno : EIO));
}

static head make_head(const saddle_store_options *options, const char magic[MAGIC])
{
    head own = {.agent = options->self};
    memcpy(own.magic, magic, MAGIC);
    saddle_snprintf(own.version, sizeof own.version, "%s", saddle_version());
    memcpy(own.fingerprint, options->fingerprint, sizeof own.fingerprint);
    return own;
}

/* Reads a head, which must be this run's. */
static saddle_status check_head(FILE *f, const head *own, const char *path, saddle_error *error)
{
    head found;
    if (fread(&found, sizeof found, 1, f) != 1 || memcmp(found.magic, own->magic, MAGIC) != 0)
        return saddle_refuse(error,
                             "'%s' is not a checkpoint of an agent; give an empty directory as "
                             "checkpoint",
                             path);
    bool same = memcmp(found.version, own->version, VERSION) == 0;
    found.version[VERSION - 1] = '\0';
    if (!same)
        return saddle_refuse(error,
                             "'%s' is of saddle %s, and this is %s; resume with that version, or "
                             "give an empty directory as checkpoint",
                             path, SADDLE_EXCERPT(found.version), own->version);
    if (memcmp(found.fingerprint, own->fingerprint, sizeof found.fingerprint) == 0 &&
        found.agent == own->agent)
        return SADDLE_OK;
    if (found.agent != own->agent)
        return saddle_refuse(error,
                             "'%s' is of agent %llu, and this is agent %llu; give the directory of "
                             "this agent's run, or an empty one, as checkpoint",
                             path, (unsigned long long)found.agent, (unsigned long long)own->agent);
    return saddle_refuse(error,
                         "'%s' is of a run with another network file; give the directory of this "
                         "agent's run, or an empty one, as checkpoint",
                         path);
}

/* ---- the log of set-up ------------------------------------------------------------------------ */

static saddle_status log_failed(const saddle_store *store, saddle_error *error)
{
    return saddle_fail(error, SADDLE_IO, "cannot write '%s/setup.saddle': %s; is the disk full?",
                       store->path, strerror(errno != 0 ? errno : EIO));
}

static saddle_status add(saddle_store *store, block_kind kind, const saddle_store_piece *piece,
                         size_t count, saddle_error *error)
{
    errno = 0;
    if (fseeko(store->log, store->end, SEEK_SET) != 0)
        return log_failed(store, error);
    write_block(store->log, kind, piece, count);
    if (fflush(store->log) != 0 || ferror(store->log) != 0)
        return log_failed(store, error);
    store->end = ftello(store->log);
    store->synced = false;
    return SADDLE_OK;
}

/* Finds the last whole block and the last incarnation, and drops what follows. */
static saddle_status examine(saddle_store *store, const char *path, saddle_error *error)
{
    block_head block;
    struct stat info;
    saddle_status status;
    if (fstat(fileno(store->log), &info) != 0)
        return log_failed(store, error);
    store->end = ftello(store->log);
    while ((status = read_block(store->log, info.st_size, &block, &store->block)) == SADDLE_OK) {
        store->end = ftello(store->log);
        if (block.kind == BIRTH && block.length == sizeof store->incarnation)
            memcpy(&store->incarnation, store->block, sizeof store->incarnation);
        store->returns = store->returns || block.kind == EXCHANGE;
    }
    SADDLE_TRY(check_read(status, path, error));
    store->read = store->end;
    store->dropped = (size_t)(info.st_size - store->end);
    return ftruncate(fileno(store->log), store->end) == 0 ? SADDLE_OK : log_failed(store, error);
}

uint32_t saddle_store_clock(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (uint32_t)now.tv_sec;
}

/* Writes the number of this process: the time, which is larger than the last one unless the clock has been set back. */
static saddle_status be_born(saddle_store *store, saddle_error *error)
{
    uint32_t now = saddle_store_clock();
    store->incarnation = now > store->incarnation ? now : store->incarnation + 1;
    const saddle_store_piece own = {&store->incarnation, sizeof store->incarnation};
    SADDLE_TRY(add(store, BIRTH, &own, 1, error));
    return saddle_sync_file(fileno(store->log)) ? SADDLE_OK : log_failed(store, error);
}

static saddle_status no_run(const saddle_store *store, saddle_error *error)
{
    return saddle_refuse(error,
                         "--resume: there is no checkpoint in '%s'; leave it out to start from the "
                         "beginning, or give auto to resume only if there is one",
                         store->path);
}

static saddle_status open_log(saddle_store *store, const saddle_store_options *options,
                              saddle_error *error)
{
    SADDLE_OWNED char *path = saddle_format("%s/setup.saddle", store->path);
    struct stat info;
    SADDLE_TRY(saddle_check_memory(path, "the checkpoints", error));
    /* One that is shorter than its head has no run. */
    bool there = stat(path, &info) == 0 && info.st_size >= (off_t)sizeof store->head;
    if (there && options->begin == SADDLE_STORE_NEW)
        return saddle_refuse(error,
                             "'%s' already has checkpoints of a run; resume it with "
                             "--resume auto, or give another directory",
                             store->path);
    if (!there && options->begin == SADDLE_STORE_OLD)
        return no_run(store, error);
    /* It has what other owners sent during set-up. */
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (there ? 0 : O_TRUNC), 0600);
    store->log = descriptor >= 0 ? fdopen(descriptor, "r+") : NULL;
    if (store->log == NULL && descriptor >= 0)
        close(descriptor);
    if (store->log == NULL)
        return saddle_refuse(error,
                             "cannot write '%s': %s; give a directory that can be written to, as "
                             "checkpoint",
                             path, strerror(errno));
    if (there) {
        SADDLE_TRY(check_head(store->log, &store->head, path, error));
    } else if (fwrite(&store->head, sizeof store->head, 1, store->log) != 1 ||
               fflush(store->log) != 0 || !saddle_sync_directory_of(path)) {
        return log_failed(store, error);
    }
    store->next = (off_t)sizeof store->head;
    return examine(store, path, error);
}

const unsigned char *saddle_store_next(saddle_store *store, size_t *bytes)
{
    block_head block = {.kind = 0};
    while (store->next < store->read && block.kind != EXCHANGE) {
        if (fseeko(store->log, store->next, SEEK_SET) != 0 ||
            read_block(store->log, store->read, &block, &store->block) != SADDLE_OK)
            return NULL;
        store->next = ftello(store->log);
    }
    *bytes = (size_t)block.length;
    return block.kind == EXCHANGE ? store->block : NULL;
}

saddle_status saddle_store_add(saddle_store *store, const saddle_store_piece *piece, size_t count,
                               saddle_error *error)
{
    return add(store, EXCHANGE, piece, count, error);
}

/* ---- the state -------------------------------------------------------------------------------- */

static saddle_status read_state(saddle_store *store, const head *own, saddle_error *error)
{
    block_head block;
    struct stat info;
    FILE *f = fopen(store->state_path, "r");
    if (f == NULL)
        return errno == ENOENT ? SADDLE_OK
                               : saddle_fail(error, SADDLE_IO, "cannot read '%s': %s",
                                             store->state_path, strerror(errno));
    saddle_status status = check_head(f, own, store->state_path, error);
    saddle_status found = SADDLE_BAD_INPUT;
    if (status == SADDLE_OK && fstat(fileno(f), &info) == 0)
        found = read_block(f, info.st_size, &block, &store->state);
    SADDLE_THEN(status, check_read(found, store->state_path, error));
    if (status == SADDLE_OK && (found != SADDLE_OK || block.kind != STATE))
        status = saddle_refuse(error,
                               "the checkpoint '%s' is damaged; the run can only begin again, in "
                               "another directory and with all agents",
                               store->state_path);
    if (status == SADDLE_OK)
        store->state_bytes = (size_t)block.length;
    fclose(f);
    return status;
}

static const char state_magic[MAGIC] = {'S', 'A', 'D', 'D', 'L', 'E', 'P', 'S'};

const unsigned char *saddle_store_state(const saddle_store *store, size_t *bytes)
{
    *bytes = store->state_bytes;
    return store->state;
}

saddle_status saddle_store_save(saddle_store *store, const saddle_store_piece *piece, size_t count,
                                saddle_error *error)
{
    saddle_output output;
    head own = store->head;
    memcpy(own.magic, state_magic, MAGIC);
    errno = 0;
    if (!store->synced && !saddle_sync_file(fileno(store->log)))
        return log_failed(store, error);
    store->synced = true;
    SADDLE_TRY(saddle_output_open(&output, store->state_path, error));
    fwrite(&own, sizeof own, 1, output.stream);
    write_block(output.stream, STATE, piece, count);
    return saddle_output_commit(&output, error);
}

/* Removes states that a killed process was writing. */
static void remove_unfinished(const saddle_store *store)
{
    DIR *stream = opendir(store->path);
    if (stream == NULL)
        return;
    for (const struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream))
        if (fnmatch("state.saddle.*.tmp", entry->d_name, 0) == 0)
            unlinkat(dirfd(stream), entry->d_name, 0);
    closedir(stream);
}

/* ---- opening and closing ---------------------------------------------------------------------- */

static saddle_status open_all(saddle_store *store, const saddle_store_options *options,
                              saddle_error *error)
{
    static const char log_magic[MAGIC] = {'S', 'A', 'D', 'D', 'L', 'E', 'P', 'L'};
    const head state_head = make_head(options, state_magic);
    store->head = make_head(options, log_magic);
    store->path = saddle_strdup(options->directory);
    store->state_path = saddle_format("%s/state.saddle", options->directory);
    if (store->path == NULL || store->state_path == NULL)
        return saddle_no_memory(error, "the checkpoints");
    if (options->begin == SADDLE_STORE_OLD && access(store->path, F_OK) != 0)
        return no_run(store, error);
    SADDLE_TRY(saddle_make_directory("checkpoint", store->path, error));
    SADDLE_TRY(saddle_lock_directory(&store->lock, store->path, "checkpoint", error));
    SADDLE_TRY(open_log(store, options, error));
    SADDLE_TRY(store->returns ? read_state(store, &state_head, error) : SADDLE_OK);
    remove_unfinished(store);
    return be_born(store, error);
}

saddle_status saddle_store_open(saddle_store **out, const saddle_store_options *options,
                                saddle_error *error)
{
    *out = NULL;
    saddle_store *store = saddle_alloc(1, sizeof *store);
    SADDLE_TRY(saddle_check_memory(store, "the checkpoints", error));
    saddle_status status = open_all(store, options, error);
    if (status == SADDLE_OK)
        *out = store;
    else
        saddle_store_close(store);
    return status;
}

void saddle_store_close(saddle_store *store)
{
    if (store == NULL)
        return;
    if (store->log != NULL)
        fclose(store->log);
    saddle_unlock_directory(store->lock);
    saddle_free(store->path);
    saddle_free(store->state_path);
    saddle_free(store->block);
    saddle_free(store->state);
    saddle_free(store);
}

uint32_t saddle_store_incarnation(const saddle_store *store)
{
    return store->incarnation;
}

size_t saddle_store_dropped(const saddle_store *store)
{
    return store->dropped;
}

bool saddle_store_returns(const saddle_store *store)
{
    return store->returns;
}
