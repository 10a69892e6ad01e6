/*
 * The file format of checkpoints: it reads back what was written, and every flipped bit, truncation and
 * wrong size is noticed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/checkpoint.h"
#include "checkpoint/checkpoint_file.h"
#include "core/print.h"
#include "support.h"

enum { AGENTS = 3, PUBLISHED = 4, KEPT = 2, ROWS = 2, MEMORY = 3, OUTCOMES = 3, SOLUTION = 3 };
#define RECORD (SADDLE_RECORD_WORDS + PUBLISHED + KEPT + SOLUTION)

static const char *path_of(const char *name)
{
    static char path[5000];
    saddle_snprintf(path, sizeof path, "%s/%s", saddle_test_directory(), name);
    return path;
}

/* Settings of a checkpoint; the second one was not given. */
static saddle_setting settings[] = {{.name = "seed", .effective = "7", .given = "7"},
                                    {.name = "nu", .effective = "0.1", .given = NULL},
                                    {.name = "trace", .effective = "", .given = ""}};
/* The same in a file. */
static char texts[] = "seed\0"
                      "7\0"
                      "=7\0"
                      "nu\0"
                      "0.1\0"
                      "\0"
                      "trace\0"
                      "\0"
                      "=";

static const saddle_outcome_column columns[OUTCOMES] = {
    {"train_auc", SADDLE_LARGER}, {"train_loss", SADDLE_SMALLER}, {"test_auc", SADDLE_LARGER}};

static saddle_checkpoint sample(void)
{
    return (saddle_checkpoint){.version = saddle_version(),
                               .number = {.iteration = 12,
                                          .seconds = 3.5,
                                          .last_check = 10,
                                          .trace_ifo = 9,
                                          .data = 0x1234567890abcdefu,
                                          .agents = AGENTS,
                                          .x_dim = 2,
                                          .y_dim = 1,
                                          .published = PUBLISHED,
                                          .kept = KEPT,
                                          .memory = MEMORY,
                                          .rows = ROWS,
                                          .row_words = sizeof(saddle_row) / 8,
                                          .outcomes = OUTCOMES,
                                          .solution = SOLUTION,
                                          .settings = sizeof settings / sizeof *settings},
                               .settings = {.text = texts, .bytes = sizeof texts},
                               .outcome = columns};
}

/* Returns the number of words of a body, all different. */
static size_t body_words(void)
{
    return MEMORY + SOLUTION + ROWS * (sizeof(saddle_row) / 8) + (size_t)ROWS * OUTCOMES +
           (size_t)AGENTS * RECORD;
}

static uint64_t body_word(size_t k)
{
    return 0x0101010101010101u * (k % 251) + k;
}

static void write_sample(const char *path)
{
    saddle_error error = {.message = ""};
    saddle_checkpoint_stream writer;
    const saddle_checkpoint c = sample();
    assert_ok(saddle_checkpoint_begin(&writer, path, &c, &error), error);
    for (size_t k = 0; k < body_words(); k++) {
        uint64_t word = body_word(k);
        saddle_checkpoint_put(&writer, &word, sizeof word);
    }
    assert_ok(saddle_checkpoint_end(&writer, &error), error);
}

static void assert_sample(saddle_checkpoint *c, bool body)
{
    const saddle_checkpoint wanted = sample();
    saddle_error error = {.message = ""};
    const void *numbers = &c->number;
    const void *wanted_numbers = &wanted.number;
    ck_assert_int_eq(memcmp(numbers, wanted_numbers, sizeof wanted.number), 0);
    ck_assert_str_eq(c->version, saddle_version());
    for (size_t k = 0; k < c->number.settings; k++) {
        ck_assert_str_eq(c->settings.setting[k].name, settings[k].name);
        ck_assert_str_eq(c->settings.setting[k].effective, settings[k].effective);
        ck_assert_pstr_eq(c->settings.setting[k].given, settings[k].given);
    }
    for (size_t k = 0; k < OUTCOMES; k++) {
        ck_assert_str_eq(c->outcome[k].name, wanted.outcome[k].name);
        ck_assert_int_eq(c->outcome[k].better, wanted.outcome[k].better);
    }
    for (size_t k = 0; body && k < body_words(); k++) {
        uint64_t word;
        assert_ok(saddle_checkpoint_get(c, &word, sizeof word, &error), error);
        ck_assert_uint_eq(word, body_word(k));
    }
}

TEST(it_reads_back_what_was_written)
{
    saddle_error error = {.message = ""};
    saddle_checkpoint *c = NULL;
    saddle_checkpoint *copy = NULL;
    struct stat status;
    const char *path = path_of("round");
    write_sample(path);
    assert_ok(saddle_checkpoint_open(&c, path, &error), error);
    assert_sample(c, true);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(c->bytes, (uint64_t)status.st_size);
    assert_ok(saddle_checkpoint_decode(&copy, "there", c->head, c->head_bytes, &error), error);
    assert_sample(copy, false);
    ck_assert_ptr_null(copy->stream);
    saddle_checkpoint_close(copy);
    saddle_checkpoint_close(c);
}

/* Returns the bytes of a file; the caller frees them. */
static unsigned char *bytes_of(const char *path, size_t *size)
{
    struct stat status;
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fstat(fileno(f), &status), 0);
    *size = (size_t)status.st_size;
    unsigned char *bytes = malloc(*size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

static void write_bytes(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, size, f), size);
    ck_assert_int_eq(fclose(f), 0);
}

static void assert_bad(const char *path, size_t where)
{
    saddle_error error = {.message = ""};
    saddle_checkpoint *c = NULL;
    saddle_status status = saddle_checkpoint_open(&c, path, &error);
    ck_assert_msg(status == SADDLE_BAD_INPUT, "byte %zu: status %d", where, (int)status);
    ck_assert_ptr_null(c);
    ck_assert_ptr_nonnull(strstr(error.message, path));
    ck_assert_msg(strstr(error.message, "checkpoint") != NULL, "'%s'", error.message);
}

TEST(no_flipped_bit_goes_unnoticed)
{
    size_t size;
    const char *path = path_of("flipped");
    write_sample(path);
    unsigned char *bytes = bytes_of(path, &size);
    for (size_t k = 0; k < size; k++) {
        unsigned char before = bytes[k];
        bytes[k] = (unsigned char)(before ^ (1u << (k % 8)));
        write_bytes(path, bytes, size);
        assert_bad(path, k);
        bytes[k] = before;
    }
    free(bytes);
}

TEST(no_cut_goes_unnoticed)
{
    size_t size;
    const char *path = path_of("cut");
    write_sample(path);
    unsigned char *bytes = bytes_of(path, &size);
    for (size_t k = 0; k < size; k++) {
        write_bytes(path, bytes, k);
        assert_bad(path, k);
    }
    unsigned char *longer = calloc(size + 5, 1);
    ck_assert_ptr_nonnull(longer);
    memcpy(longer, bytes, size);
    write_bytes(path, longer, size + 5);
    assert_bad(path, size + 5);
    free(longer);
    free(bytes);
}

/* A head that announces more than fits into any memory, with a valid hash, is refused because of the file's size. */
TEST(claims_are_checked_before_memory_is_taken)
{
    saddle_error error = {.message = ""};
    saddle_checkpoint_stream writer;
    saddle_checkpoint *c = NULL;
    saddle_checkpoint claim = sample();
    const char *path = path_of("claim");
    claim.number.agents = (uint64_t)1 << 50;
    assert_ok(saddle_checkpoint_begin(&writer, path, &claim, &error), error);
    assert_ok(saddle_checkpoint_end(&writer, &error), error);
    assert_refused(saddle_checkpoint_open(&c, path, &error), error, SADDLE_BAD_INPUT, "cut short");
    claim.number.agents = (uint64_t)1 << 61;
    ck_assert_int_ne(saddle_checkpoint_begin(&writer, path, &claim, &error), SADDLE_OK);
}

TEST(other_files_are_not_checkpoints)
{
    saddle_error error = {.message = ""};
    saddle_checkpoint *c = NULL;
    static const unsigned char words[] = "iteration,ifo,rounds\n0,0,0\n1,2,3\n and so on and so on";
    const char *path = path_of("other");
    write_bytes(path, words, sizeof words);
    assert_refused(saddle_checkpoint_open(&c, path, &error), error, SADDLE_BAD_INPUT,
                   "is not a checkpoint of saddle");
    write_bytes(path, words, 0);
    assert_refused(saddle_checkpoint_open(&c, path, &error), error, SADDLE_BAD_INPUT, "is empty");
    unsigned char other[40] = "SADDLECK\4";
    write_bytes(path, other, sizeof other);
    assert_refused(
        saddle_checkpoint_open(&c, path, &error), error, SADDLE_BAD_INPUT,
        "has format 4; this version of saddle reads format 3; resume with the version that");
    other[8] = 2;
    write_bytes(path, other, sizeof other);
    assert_refused(saddle_checkpoint_open(&c, path, &error), error, SADDLE_BAD_INPUT,
                   "has format 2, that of saddle 0.1; this version of saddle reads format 3");
    assert_refused(saddle_checkpoint_open(&c, saddle_test_directory(), &error), error,
                   SADDLE_BAD_INPUT, "it is a directory");
    assert_refused(saddle_checkpoint_open(&c, path_of("nowhere"), &error), error, SADDLE_BAD_INPUT,
                   "No such file or directory; give the path of a checkpoint");
    path = path_of("pipe");
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    assert_refused(saddle_checkpoint_open(&c, path, &error), error, SADDLE_BAD_INPUT,
                   "it is a pipe");
}

TEST(the_newest_valid_one_is_found)
{
    static const uint64_t iteration[] = {9, 100, 1000};
    char directory[5000];
    char *path = NULL;
    saddle_error error = {.message = ""};
    saddle_checkpoint_info info;
    saddle_snprintf(directory, sizeof directory, "%s", path_of("several"));
    assert_refused(saddle_checkpoint_newest(&path, directory, &error), error, SADDLE_BAD_INPUT,
                   "cannot read the directory");
    ck_assert_int_eq(mkdir(directory, 0700), 0);
    assert_refused(saddle_checkpoint_newest(&path, directory, &error), error, SADDLE_BAD_INPUT,
                   "there is no checkpoint in");
    for (size_t k = 0; k < 3; k++) {
        char *name = saddle_checkpoint_path(directory, iteration[k]);
        write_sample(name);
        free(name);
    }
    for (size_t age = 0; age < 3; age++) {
        char *wanted = saddle_checkpoint_path(directory, iteration[2 - age]);
        assert_ok(saddle_checkpoint_find(&path, directory, age, &error), error);
        ck_assert_str_eq(path, wanted);
        free(path);
        free(wanted);
    }
    assert_ok(saddle_checkpoint_find(&path, directory, 3, &error), error);
    ck_assert_ptr_null(path);
    char *newest = saddle_checkpoint_path(directory, 1000);
    char *middle = saddle_checkpoint_path(directory, 100);
    ck_assert_int_eq(truncate(newest, 300), 0);
    assert_ok(saddle_checkpoint_newest(&path, directory, &error), error);
    ck_assert_str_eq(path, middle);
    assert_ok(saddle_checkpoint_examine(path, &info, NULL, &error), error);
    ck_assert_uint_eq(info.iteration, 12);
    ck_assert_uint_eq(info.rows, ROWS);
    ck_assert_uint_eq(info.agents, AGENTS);
    assert_near(info.seconds, 3.5, 0.0);
    free(path);
    saddle_checkpoint_prune(directory, newest, middle);
    assert_ok(saddle_checkpoint_find(&path, directory, 2, &error), error);
    ck_assert_ptr_null(path);
    ck_assert_int_eq(truncate(middle, 0), 0);
    assert_refused(saddle_checkpoint_newest(&path, directory, &error), error, SADDLE_BAD_INPUT,
                   "there is no valid checkpoint in");
    ck_assert_ptr_nonnull(strstr(error.message, "cut short"));
    free(newest);
    free(middle);
}
