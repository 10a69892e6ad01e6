/* NumPy files: round trips, files written by NumPy itself, damaged and hostile files. */
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zip.h>

#include "core/memory.h"
#include "core/print.h"
#include "files/npz.h"
#include "support.h"

static saddle_error error;

/* Values whose bits conversion to decimal text would lose. */
static const double point[5] = {1.0 / 3.0, -0.0, 5e-324, -1.7976931348623157e308,
                                0x1.fffffffffffffp-3};
static const double matrix[6] = {1.0, 2.5, -3.0, 1e-300, 0.1, 6.0};
static const double scalar = 2.0 / 7.0;
static const uint64_t words[2] = {UINT64_MAX, 42};
static const uint64_t seed = UINT64_C(0x123456789abcdef0);
static const saddle_array arrays[] = {
    {"xbar", SADDLE_ARRAY_REAL, 1, {5, 0}, .data = point},
    {"seed", SADDLE_ARRAY_WORD, 0, {0, 0}, .data = &seed},
    {"M", SADDLE_ARRAY_REAL, 2, {2, 3}, .data = matrix},
    {"name",
     SADDLE_ARRAY_TEXT,
     0,
     {0, 0},
     .data = "pr\xc3\xa9"
             "cis \xf0\x9f\x98\x80 'quoted'"},
    {"empty", SADDLE_ARRAY_TEXT, 0, {0, 0}, .data = ""},
    {"broken",
     SADDLE_ARRAY_TEXT,
     0,
     {0, 0},
     .data = "a\xff\xc3z\xed\xa0\x80\xc0\xaf\xf4\x90\x80\x80\xe2\x82"},
    {"words", SADDLE_ARRAY_WORD, 1, {2, 0}, .data = words},
    {"s", SADDLE_ARRAY_REAL, 0, {0, 0}, .data = &scalar},
    {"none", SADDLE_ARRAY_REAL, 2, {0, 4}, .data = NULL},
    {"one", SADDLE_ARRAY_REAL, 1, {1, 0}, .data = &scalar},
};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

/* Reads an array and compares it, bit for bit. */
static void assert_holds(const char *path, const char *name, size_t rank, size_t rows,
                         size_t columns, const double *expected)
{
    double *got = NULL;
    size_t got_rank = 99;
    size_t shape[2] = {99, 99};
    assert_ok(saddle_numpy_read(path, name, &got, &got_rank, shape, &error), error);
    ck_assert_uint_eq(got_rank, rank);
    ck_assert_uint_eq(shape[0], rows);
    ck_assert_uint_eq(shape[1], columns);
    if (rows * columns > 0)
        ck_assert_int_eq(memcmp(got, expected, rows * columns * sizeof *got), 0);
    saddle_free(got);
}

/* Reads a text and compares it. */
static void assert_text(const char *path, const char *name, const char *expected)
{
    char *got = NULL;
    assert_ok(saddle_numpy_read_text(path, name, &got, &error), error);
    ck_assert_str_eq(got, expected);
    saddle_free(got);
}

static void assert_no_text(const char *path, const char *name, const char *part)
{
    char *got = (char *)&error;
    assert_refused(saddle_numpy_read_text(path, name, &got, &error), error, SADDLE_BAD_INPUT, part);
    ck_assert_ptr_null(got);
    ck_assert_ptr_null(strchr(error.message, '\n'));
}

static void assert_unreadable(const char *path, const char *name, const char *part)
{
    double *got = (double *)&error;
    size_t rank;
    size_t shape[2];
    assert_refused(saddle_numpy_read(path, name, &got, &rank, shape, &error), error,
                   SADDLE_BAD_INPUT, part);
    ck_assert_ptr_null(got);
    ck_assert_ptr_null(strchr(error.message, '\n'));
    ck_assert_ptr_nonnull(strstr(error.message, path));
}

static void assert_all_held(const char *path)
{
    assert_holds(path, "xbar", 1, 5, 1, point);
    assert_holds(path, "M", 2, 2, 3, matrix);
    assert_holds(path, "s", 0, 1, 1, &scalar);
    assert_holds(path, "one", 1, 1, 1, &scalar);
    assert_holds(path, "none", 2, 0, 4, NULL);
    assert_unreadable(path, "seed", "entry 0 is above 2^53 and not exactly a double");
    assert_unreadable(path, "name", "integers or bool; save it with .astype('<f8')");
    assert_text(path, "name", arrays[3].data);
    assert_text(path, "empty", "");
    /* Bytes that are not UTF-8 have become U+FFFD. */
    assert_text(
        path, "broken",
        "a\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_no_text(path, "xbar", "it is not text");
    assert_no_text(path, "seed", "it is not text");
    assert_unreadable(path, "name", "its entries are of type '<U17'");
}

/* The bytes of a file. */
typedef struct bytes {
    size_t count;
    unsigned char byte[8192];
} bytes;

static bytes slurp(const char *path)
{
    bytes all = {0};
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    all.count = fread(all.byte, 1, sizeof all.byte, file);
    ck_assert_uint_lt(all.count, sizeof all.byte);
    fclose(file);
    return all;
}

static void spill(const char *path, const void *content, size_t count)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(content, 1, count, file), count);
    ck_assert_int_eq(fclose(file), 0);
}

/* Asserts that there is no temporary file in the current directory. */
static void assert_nothing_left(void)
{
    DIR *directory = opendir(".");
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
        ck_assert_msg(strstr(entry->d_name, "tmp") == NULL, "%s is left", entry->d_name);
    closedir(directory);
}

TEST(archives_come_back)
{
    saddle_test_enter_directory();
    assert_ok(saddle_npz_write("a.npz", arrays, ARRAYS, &error), error);
    assert_all_held("a.npz");
    assert_unreadable("a.npz", "ybar",
                      "there is no such array; the file contains xbar, seed, M, name, empty");
}

/* Delivers rows of `matrix`, each requested once and in order. */
static void bring_row(void *context, size_t row, double *out)
{
    size_t *next = context;
    ck_assert_uint_eq(row, *next);
    ++*next;
    memcpy(out, matrix + 3 * row, 3 * sizeof *out);
}

/* An array that is fetched row by row gives the same file as one in memory. */
TEST(rows_that_are_fetched)
{
    saddle_array own[ARRAYS];
    size_t next = 0;
    saddle_test_enter_directory();
    assert_ok(saddle_npz_write("whole.npz", arrays, ARRAYS, &error), error);
    memcpy(own, arrays, sizeof own);
    own[2].data = NULL;
    own[2].fetch = bring_row;
    own[2].context = &next;
    assert_ok(saddle_npz_write("rows.npz", own, ARRAYS, &error), error);
    ck_assert_uint_eq(next, 2);
    bytes whole = slurp("whole.npz");
    bytes rows = slurp("rows.npz");
    ck_assert_uint_eq(whole.count, rows.count);
    ck_assert_int_eq(memcmp(whole.byte, rows.byte, whole.count), 0);
    saddle_array bad = arrays[0];
    bad.fetch = bring_row;
    assert_refused(saddle_npz_write("bad.npz", &bad, 1, &error), error, SADDLE_CHECK_FAILED,
                   "2 for fetched rows");
}

TEST(files_are_plain_and_repeatable)
{
    saddle_test_enter_directory();
    mode_t mask = umask(022);
    umask(mask);
    assert_ok(saddle_npz_write("first", arrays, ARRAYS, &error), error);
    spill("second", "old", 3);
    assert_ok(saddle_npz_write("second", arrays, ARRAYS, &error), error);
    bytes first = slurp("first");
    bytes second = slurp("second");
    ck_assert_uint_eq(first.count, second.count);
    ck_assert_int_eq(memcmp(first.byte, second.byte, first.count), 0);
    struct stat facts;
    ck_assert_int_eq(stat("first", &facts), 0);
    ck_assert_uint_eq(facts.st_mode & 0777, 0666 & ~mask);
    assert_nothing_left();
}

TEST(bad_places_and_arrays_are_refused)
{
    saddle_test_enter_directory();
    assert_refused(saddle_npz_write("absent/a", arrays, ARRAYS, &error), error, SADDLE_BAD_INPUT,
                   "cannot write 'absent/a': No such file");
    assert_refused(saddle_npz_write(".", arrays, ARRAYS, &error), error, SADDLE_BAD_INPUT,
                   "it is a directory");
    assert_refused(saddle_npz_write("a", arrays, 0, &error), error, SADDLE_CHECK_FAILED,
                   "needs at least one array");
    saddle_array odd = arrays[0];
    odd.name = "it's";
    assert_refused(saddle_npz_write("a", &odd, 1, &error), error, SADDLE_CHECK_FAILED,
                   "array 'it's' of rank 1 cannot be written");
    odd = arrays[0];
    odd.rank = 3;
    assert_refused(saddle_npz_write("a", &odd, 1, &error), error, SADDLE_CHECK_FAILED, "of rank 3");
    saddle_array text = arrays[3];
    text.rank = 1;
    assert_refused(saddle_npz_write("a", &text, 1, &error), error, SADDLE_CHECK_FAILED,
                   "0 for texts");
    const saddle_array twins[] = {arrays[0], arrays[0]};
    assert_refused(saddle_npz_write("a", twins, 2, &error), error, SADDLE_CHECK_FAILED,
                   "two arrays are named 'xbar'");
    ck_assert_int_ne(access("a", F_OK), 0);
    assert_unreadable("absent", "x", "No such file or directory; give an .npz or .npy file");
    assert_unreadable(".", "x", "it is a directory; give an .npz or .npy file");
}

TEST(a_full_disk_leaves_the_old_file)
{
    saddle_test_enter_directory();
    spill("kept", "old", 3);
    struct rlimit usual;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &usual), 0);
    struct rlimit tight = {.rlim_cur = 500, .rlim_max = usual.rlim_max};
    ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    /* Only around the call, because Check itself reports through a file. */
    int limited = setrlimit(RLIMIT_FSIZE, &tight);
    saddle_status status = saddle_npz_write("kept", arrays, ARRAYS, &error);
    int restored = setrlimit(RLIMIT_FSIZE, &usual);
    ck_assert_int_eq(limited, 0);
    ck_assert_int_eq(restored, 0);
    assert_refused(status, error, SADDLE_IO, "cannot write 'kept': ");
    ck_assert_ptr_nonnull(strstr(error.message, "; is the disk full?"));
    bytes old = slurp("kept");
    ck_assert_uint_eq(old.count, 3);
    ck_assert_int_eq(memcmp(old.byte, "old", 3), 0);
    assert_nothing_left();
}

/* ---------------------------------------------------------------- headers made by hand */

/* Writes a .npy file of a version with this header, followed by `behind` zero bytes. */
static void write_npy(const char *path, int version, const char *header, size_t behind)
{
    unsigned char content[4096] = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version, 0};
    size_t fixed = version > 1 ? 12 : 10;
    size_t length = strlen(header);
    ck_assert_uint_lt(fixed + length + behind, sizeof content);
    content[8] = (unsigned char)(length & 0xFF);
    content[9] = (unsigned char)(length >> 8);
    saddle_snprintf((char *)content + fixed, sizeof content - fixed, "%s", header);
    spill(path, content, fixed + length + behind);
}

/* Writes a .npy file with one text of these code points. */
static void write_letters(const char *path, const uint32_t *letter, size_t count)
{
    char header[128];
    saddle_snprintf(header, sizeof header,
                    "{'descr': '<U%zu', 'fortran_order': False, 'shape': (), }\n", count);
    write_npy(path, 1, header, 4 * count);
    FILE *file = fopen(path, "r+");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, -(long)(4 * count), SEEK_END), 0);
    ck_assert_uint_eq(fwrite(letter, sizeof *letter, count, file), count);
    ck_assert_int_eq(fclose(file), 0);
}

TEST(texts_are_checked_letter_by_letter)
{
    static const uint32_t good[] = {0x41,   0x7F,    0x80,     0x7FF, 0x800,
                                    0xFFFF, 0x10000, 0x10FFFF, 0,     0};
    static const uint32_t bad[][3] = {
        {0x110000, 0x41, 0x41}, {0x41, 0xD800, 0x41}, {0x41, 0, 0x41}, {0x41, 0x41, UINT32_MAX}};
    saddle_test_enter_directory();
    write_letters("t.npy", good, 10);
    assert_text("t.npy", "whatever",
                "A\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        write_letters("t.npy", bad[k], 3);
        assert_no_text("t.npy", "whatever", "it contains invalid characters");
    }
    /* Sizes are accepted only if the file is large enough. */
    write_npy("t.npy", 1, "{'descr': '<U4000000000', 'fortran_order': False, 'shape': ()}", 8);
    assert_no_text("t.npy", "x", "announces 16000000000 bytes of entries but the file has 8");
    write_npy("t.npy", 1, "{'descr': '<U2', 'fortran_order': False, 'shape': (1,)}", 8);
    assert_no_text("t.npy", "x", "it is not text");
    write_npy("t.npy", 1, "{'descr': '>U2', 'fortran_order': False, 'shape': ()}", 8);
    assert_no_text("t.npy", "x", "it is not text");
    write_npy("t.npy", 1, "{'descr': '<Ux', 'fortran_order': False, 'shape': ()}", 8);
    assert_no_text("t.npy", "x", "its entries are of type '<Ux'");
    write_npy("t.npy", 1, "{'descr': '<U0', 'fortran_order': False, 'shape': ()}", 0);
    assert_text("t.npy", "x", "");
    static const uint64_t whole[] = {0, 42, UINT64_C(1) << 53};
    const saddle_array naturals = {"naturals", SADDLE_ARRAY_WORD, 1, {3, 0}, .data = whole};
    static const double as_real[] = {0.0, 42.0, 0x1p53};
    assert_ok(saddle_npz_write("w.npz", &naturals, 1, &error), error);
    assert_holds("w.npz", "naturals", 1, 3, 1, as_real);
}

TEST(headers_may_be_written_in_other_ways)
{
    static const double zero[6] = {0.0};
    saddle_test_enter_directory();
    for (int version = 1; version <= 3; version++) {
        write_npy("h.npy", version, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}\n",
                  48);
        assert_holds("h.npy", NULL, 2, 2, 3, zero);
    }
    write_npy("h.npy", 1, "{\"shape\":(3,),\"descr\":\"<i4\",\"fortran_order\":True,}", 12);
    assert_holds("h.npy", "whatever", 1, 3, 1, zero);
    write_npy("h.npy", 1, "{ 'shape' : ( ) , 'descr' : '<f4' , 'fortran_order' : True }", 4);
    assert_holds("h.npy", "whatever", 0, 1, 1, zero);
}

TEST(bad_headers_are_refused)
{
    static const struct {
        const char *header;
        size_t behind;
        const char *part;
    } bad[] = {
        {"", 20, "not one that NumPy writes"},
        {"{}", 20, "not one that NumPy writes"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)", 16, "not one that NumPy writes"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)} x", 16, "not one that NumPy"},
        {"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (2,)}", 16,
         "not one that NumPy writes"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2)}", 16, "not one that NumPy writes"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2 2)}", 32,
         "not one that NumPy writes"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-2,)}", 16,
         "not one that NumPy writes"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}", 16,
         "its header is not one that NumPy writes"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'color': 1}", 16,
         "its header is not one that NumPy writes"},
        {"{'descr': '<f8', 'fortran_order': False}", 16, "not one that NumPy writes"},
        {"{'descr': '<f8' 'fortran_order': False, 'shape': (2,)}", 16, "not one that NumPy writes"},
        {"{'descr: <f8, 'fortran_order': False, 'shape': (2,)}", 16, "not one that NumPy writes"},
        {"{'de\\scr': '<f8', 'fortran_order': False, 'shape': (2,)}", 16, "not one that NumPy"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2, 2)}", 64, "more than two dim"},
        {"{'descr': '>f2', 'fortran_order': False, 'shape': (2,)}", 4, "of type '>f2'"},
        {"{'descr': '<\nf8', 'fortran_order': False, 'shape': (2,)}", 16, "of type '<\\x0af8'"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", 16, "of type '|O'"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}", 16, "of type '<c16'"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", 15,
         "announces 16 bytes of entries but the file has 15"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", 17,
         "announces 16 bytes of entries but the file has 17"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}", 8,
         "announces 8000000000000 bytes of entries but the file has 8"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 8,
         "shape (4294967296, 4294967296) is too large for memory"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,)}", 0,
         "too large for memory"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}", 8,
         "its shape is too large for memory"},
        {"{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': ()}", 8,
         "it has several fields; save a plain array of each"},
    };
    saddle_test_enter_directory();
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        write_npy("bad.npy", 1, bad[k].header, bad[k].behind);
        assert_unreadable("bad.npy", "x", bad[k].part);
    }
    write_npy("bad.npy", 4, bad[0].header, 16);
    assert_unreadable("bad.npy", "x", "its format is 4.0, not 1.0, 2.0 or 3.0");
    static const char cut[] = "\x93NUMPY\x01\x00\xff\xff{'descr'";
    spill("bad.npy", cut, sizeof cut - 1);
    assert_unreadable("bad.npy", "x", "its header claims 65535 bytes but 8 follow");
    static const char wide_cut[] = "\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'";
    spill("bad.npy", wide_cut, sizeof wide_cut - 1);
    assert_unreadable("bad.npy", "x", "its header claims 4294967295 bytes but 8 follow");
    static const char words_only[] = "hello, this is no array";
    spill("bad.npy", words_only, sizeof words_only - 1);
    assert_unreadable("bad.npy", "x",
                      "it is not a NumPy array; give a saved model, or a file that numpy.save");
    spill("bad.npy", "", 0);
    assert_unreadable("bad.npy", "x", "it is not a NumPy array");
}

TEST(whole_numbers_beyond_doubles_are_refused)
{
    saddle_test_enter_directory();
    static const char header[] = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }";
    int64_t value[2] = {-(INT64_C(1) << 53), (INT64_C(1) << 53) + 1};
    write_npy("i.npy", 1, header, 0);
    bytes file = slurp("i.npy");
    memcpy(file.byte + file.count, value, sizeof value);
    spill("i.npy", file.byte, file.count + sizeof value);
    assert_unreadable("i.npy", "",
                      "entry 1 is above 2^53 and not exactly a double; save it as float64");
    value[1] = 3;
    memcpy(file.byte + file.count, value, sizeof value);
    spill("i.npy", file.byte, file.count + sizeof value);
    assert_holds("i.npy", "", 1, 2, 1, (const double[]){-0x1p53, 3.0});
}

/* ---------------------------------------------------------------- damage */

/* Every truncation and every changed byte gives either an answer of the right size or an error. */
static void damage(const char *path)
{
    bytes whole = slurp(path);
    double *got = NULL;
    size_t rank;
    size_t shape[2];
    for (size_t cut = 0; cut < whole.count; cut++) {
        spill("damaged", whole.byte, cut);
        ck_assert_int_eq(saddle_numpy_read("damaged", "M", &got, &rank, shape, &error),
                         SADDLE_BAD_INPUT);
        ck_assert_ptr_null(got);
    }
    static const unsigned char flip[] = {0x01, 0x20, 0x80, 0xFF};
    for (size_t at = 0; at < whole.count; at++)
        for (size_t k = 0; k < sizeof flip; k++) {
            whole.byte[at] ^= flip[k];
            spill("damaged", whole.byte, whole.count);
            saddle_status status = saddle_numpy_read("damaged", "M", &got, &rank, shape, &error);
            ck_assert(status == SADDLE_OK || status == SADDLE_BAD_INPUT);
            ck_assert((status == SADDLE_OK) == (got != NULL));
            if (got != NULL)
                ck_assert_uint_le(shape[0] * shape[1] * sizeof(double), whole.count);
            saddle_free(got);
            whole.byte[at] ^= flip[k];
        }
}

TEST(damaged_files_never_break_the_reader)
{
    const saddle_array few[] = {arrays[1], arrays[2]};
    saddle_test_enter_directory();
    assert_ok(saddle_npz_write("few.npz", few, 2, &error), error);
    damage("few.npz");
}

TEST(changed_entries_of_archives_are_found)
{
    saddle_test_enter_directory();
    assert_ok(saddle_npz_write("a.npz", &arrays[2], 1, &error), error);
    bytes whole = slurp("a.npz");
    unsigned char *entries = memmem(whole.byte, whole.count, matrix, sizeof matrix);
    ck_assert_ptr_nonnull(entries);
    for (size_t k = 0; k < sizeof matrix; k++) {
        entries[k] ^= 1;
        spill("b.npz", whole.byte, whole.count);
        assert_unreadable("b.npz", "M", "its entries are damaged");
        entries[k] ^= 1;
    }
}

/* Writes a little-endian number of `width` bytes into the field at `offset` of every directory entry. */
static void forge(bytes *file, size_t offset, uint64_t value, size_t width)
{
    unsigned char *entry = memmem(file->byte, file->count, "PK\x01\x02", 4);
    ck_assert_ptr_nonnull(entry);
    for (size_t k = 0; k < width; k++)
        entry[offset + k] = (unsigned char)(value >> 8 * k);
}

TEST(forged_archives_are_refused)
{
    enum { METHOD = 10, PACKED = 20, UNPACKED = 24 }; /* offsets in a directory entry of zip */
    saddle_test_enter_directory();
    assert_ok(saddle_npz_write("a.npz", &arrays[2], 1, &error), error);
    const bytes honest = slurp("a.npz");
    bytes forged = honest;
    forge(&forged, UNPACKED, 4000000000u, 4);
    spill("b.npz", forged.byte, forged.count);
    assert_unreadable("b.npz", "M", "the archive claims 4000000000 bytes for it");
    forge(&forged, PACKED, 4000000000u, 4);
    spill("b.npz", forged.byte, forged.count);
    assert_unreadable("b.npz", "M", "cannot read 'M' from 'b.npz'");
    forged = honest;
    forge(&forged, METHOD, ZIP_CM_DEFLATE, 2);
    forge(&forged, UNPACKED, 4000000000u, 4);
    spill("b.npz", forged.byte, forged.count);
    assert_unreadable("b.npz", "M", "the archive claims 4000000000 bytes for it");
    forged = honest;
    forge(&forged, METHOD, 12, 2); /* bzip2 */
    spill("b.npz", forged.byte, forged.count);
    assert_unreadable("b.npz", "M", "compressed by a method other than deflate");
    static const char stub[] = "PK\x03\x04 and nothing else";
    spill("b.npz", stub, sizeof stub - 1);
    assert_unreadable("b.npz", "M", "cut short or damaged");
}

TEST(unpacked_bombs_are_bounded)
{
    /* A valid member whose header announces 10^12 entries. */
    saddle_test_enter_directory();
    write_npy("bomb.npy", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}",
              8);
    bytes member = slurp("bomb.npy");
    int code = 0;
    zip_t *archive = zip_open("bomb.npz", ZIP_CREATE | ZIP_TRUNCATE, &code);
    ck_assert_ptr_nonnull(archive);
    zip_source_t *source = zip_source_buffer(archive, member.byte, member.count, 0);
    zip_int64_t index = zip_file_add(archive, "x.npy", source, 0);
    ck_assert_int_eq(zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_DEFLATE, 9), 0);
    ck_assert_int_eq(zip_close(archive), 0);
    assert_unreadable("bomb.npz", "x",
                      "announces 8000000000000 bytes of entries but the file has 8");
}

/* ---------------------------------------------------------------- NumPy itself */

static bool numpy_available(void)
{
    bool available = system("/usr/bin/python3 -c 'import numpy' >/dev/null 2>&1") == 0;
    if (!available)
        saddle_test_skip("there is no python3 with numpy");
    return available;
}

/* Runs a program that prints "good" on success. */
static void run_python(const char *program)
{
    spill("program.py", program, strlen(program));
    FILE *out = popen("/usr/bin/python3 program.py 2>&1", "r");
    ck_assert_ptr_nonnull(out);
    char said[2000] = "";
    size_t length = fread(said, 1, sizeof said - 1, out);
    said[length] = '\0';
    ck_assert_msg(pclose(out) == 0 && strcmp(said, "good\n") == 0, "%s", said);
}

TEST(numpy_reads_what_is_written)
{
    if (!numpy_available())
        return;
    saddle_test_enter_directory();
    assert_ok(saddle_npz_write("a.npz", arrays, ARRAYS, &error), error);
    run_python(
        "import numpy as np, zipfile\n"
        "for f in (np.load('a.npz'),):\n"
        "    x = f['xbar']\n"
        "    want = np.array([1/3, -0.0, 5e-324, -1.7976931348623157e308,\n"
        "                     float.fromhex('0x1.fffffffffffffp-3')])\n"
        "    assert x.dtype == '<f8' and x.tobytes() == want.tobytes(), x\n"
        "    assert f['M'].shape == (2, 3) and f['M'].tolist() == [[1, 2.5, -3], "
        "[1e-300, .1, 6]]\n"
        "    assert f['s'].shape == () and f['s'].item() == 2/7\n"
        "    assert f['one'].shape == (1,) and f['none'].shape == (0, 4)\n"
        "    assert f['seed'].item() == 0x123456789abcdef0\n"
        "    assert f['words'].tolist() == [2**64 - 1, 42]\n"
        "    name = f['name'].item()\n"
        "    assert type(name) is str and name == \"pr\\u00e9cis \\U0001F600 'quoted'\", name\n"
        "    assert f['empty'].item() == ''\n"
        "    assert f['broken'].item().replace('\\ufffd', '') == 'az', f['broken']\n"
        "z = zipfile.ZipFile('a.npz')\n"
        "assert z.testzip() is None\n"
        "assert all(i.compress_type == zipfile.ZIP_STORED for i in z.infolist())\n"
        "print('good')\n");
}

TEST(what_numpy_writes_is_read)
{
    if (!numpy_available())
        return;
    saddle_test_enter_directory();
    run_python("import numpy as np\n"
               "x = np.array([1/3, -0.0, 5e-324, -1.7976931348623157e308,\n"
               "              float.fromhex('0x1.fffffffffffffp-3')])\n"
               "M = np.array([[1, 2.5, -3], [1e-300, .1, 6]])\n"
               "big = np.arange(50000.).reshape(100, 500)\n"
               "np.savez('n.npz', x=x, M=M, s=2/7, big=big, strided=big[::2, 3], turned=M.T)\n"
               "np.savez_compressed('c.npz', x=x, M=M, s=2/7, big=big, zeros=np.zeros(100000))\n"
               "np.save('x.npy', x)\n"
               "np.save('M.npy', M)\n"
               "np.save('s.npy', 2/7)\n"
               "np.save('f4.npy', np.array([0.5, 1.25], dtype='<f4'))\n"
               "np.save('i8.npy', np.array([[-5], [7]], dtype='<i8'))\n"
               "np.save('i4.npy', np.array([-2**31, 7], dtype='<i4'))\n"
               "np.lib.format.write_array(open('v2.npy', 'wb'), M, version=(2, 0))\n"
               "np.lib.format.write_array(open('v3.npy', 'wb'), M, version=(3, 0))\n"
               "import zipfile\n"
               "zipfile.ZIP64_LIMIT = 10\n"
               "np.savez('large.npz', M=M, x=x)\n"
               "zipfile.ZipFile('large.npz', 'a').comment = b'PK\\5\\6 and more than a record'\n"
               "print('good')\n");
    double big[50000];
    for (int k = 0; k < 50000; k++)
        big[k] = k;
    static const double zeros[100000];
    double column[50];
    for (int k = 0; k < 50; k++)
        column[k] = 1000.0 * k + 3.0;
    static const char *const archive[] = {"n.npz", "c.npz"};
    for (int k = 0; k < 2; k++) {
        assert_holds(archive[k], "x", 1, 5, 1, point);
        assert_holds(archive[k], "M", 2, 2, 3, matrix);
        assert_holds(archive[k], "s", 0, 1, 1, &scalar);
        assert_holds(archive[k], "big", 2, 100, 500, big);
    }
    assert_holds("large.npz", "x", 1, 5, 1, point);
    assert_holds("c.npz", "zeros", 1, 100000, 1, zeros);
    assert_holds("n.npz", "strided", 1, 50, 1, column);
    assert_holds("n.npz", "turned", 2, 3, 2, (const double[]){1, 1e-300, 2.5, .1, -3, 6});
    assert_holds("x.npy", "any", 1, 5, 1, point);
    assert_holds("M.npy", "any", 2, 2, 3, matrix);
    assert_holds("s.npy", "any", 0, 1, 1, &scalar);
    assert_holds("f4.npy", "any", 1, 2, 1, (const double[]){0.5, 1.25});
    assert_holds("i8.npy", "any", 2, 2, 1, (const double[]){-5.0, 7.0});
    assert_holds("i4.npy", "any", 1, 2, 1, (const double[]){-0x1p31, 7.0});
    assert_holds("v2.npy", "any", 2, 2, 3, matrix);
    assert_holds("v3.npy", "any", 2, 2, 3, matrix);
}
