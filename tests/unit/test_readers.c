/* The readers of LIBSVM, IDX and CSV files against slow, obvious ones, and with malformed files. */
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include <saddle/data.h>
#include <saddle/text.h>

#include "core/memory.h"
#include "core/print.h"
#include "core/rng.h"
#include "core/text.h"
#include "support.h"

/* Writes bytes to a file in the test's directory; the path is static. */
static const char *write_bytes(const char *file, const void *bytes, size_t size)
{
    static char path[4096];
    saddle_snprintf(path, sizeof path, "%s/%s", saddle_test_directory(), file);
    FILE *stream = fopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(bytes, 1, size, stream), size);
    ck_assert_int_eq(fclose(stream), 0);
    return path;
}

static const char *write_text(const char *file, const char *text)
{
    return write_bytes(file, text, strlen(text));
}

static const char *write_packed(const char *file, const void *bytes, size_t size)
{
    const char *path = write_bytes(file, "", 0);
    gzFile stream = gzopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(gzwrite(stream, bytes, (unsigned)size), (int)size);
    ck_assert_int_eq(gzclose(stream), Z_OK);
    return path;
}

static saddle_dataset *load(const char *path, const saddle_data_options *options)
{
    saddle_error error = {0};
    saddle_dataset *data = NULL;
    assert_ok(saddle_dataset_load(&data, path, options, 0, &error), error);
    ck_assert_str_eq(data->name, path);
    return data;
}

/* Asserts that the file is refused, that nothing is returned, and that the one-line message contains `part`. */
static void refuse(const char *path, const saddle_data_options *options, const char *part)
{
    saddle_error error = {0};
    saddle_dataset *data = (saddle_dataset *)1;
    assert_refused(saddle_dataset_load(&data, path, options, 0, &error), error, SADDLE_BAD_INPUT,
                   part);
    ck_assert_ptr_null(data);
    ck_assert_ptr_null(strchr(error.message, '\n'));
}

static void assert_same_bits(double a, double b, const char *text)
{
    ck_assert_msg(a == b && signbit(a) == signbit(b), "'%s' read as %.17g, not %.17g", text, a, b);
}

static void assert_equal_data(const saddle_dataset *a, const saddle_dataset *b)
{
    ck_assert_uint_eq(a->rows, b->rows);
    ck_assert_uint_eq(a->features, b->features);
    ck_assert_uint_eq(a->nonzeros, b->nonzeros);
    ck_assert_mem_eq(a->label, b->label, a->rows * sizeof *a->label);
    ck_assert(a->dense != NULL ? b->dense != NULL : b->dense == NULL);
    if (a->dense != NULL) {
        ck_assert_mem_eq(a->dense, b->dense, a->rows * a->features * sizeof *a->dense);
        return;
    }
    ck_assert_mem_eq(a->row_start, b->row_start, (a->rows + 1) * sizeof *a->row_start);
    ck_assert_mem_eq(a->column, b->column, a->nonzeros * sizeof *a->column);
    for (size_t k = 0; k < a->nonzeros; k++)
        ck_assert_double_eq(saddle_entry_value(a, k), saddle_entry_value(b, k));
}

/* ---- numbers ---- */

/* Writes a random decimal number: any length, with or without point and exponent. */
static size_t random_number(saddle_rng *rng, char *text)
{
    size_t length = 0;
    uint64_t sign = saddle_rng_below(rng, 4);
    if (sign < 2)
        text[length++] = "+-"[sign];
    size_t whole = saddle_rng_below(rng, saddle_rng_below(rng, 8) == 0 ? 30 : 5);
    size_t decimals =
        saddle_rng_below(rng, 8) == 0 ? saddle_rng_below(rng, 30) : saddle_rng_below(rng, 8);
    if (whole + decimals == 0)
        whole = 1;
    for (size_t k = 0; k < whole; k++)
        text[length++] = (char)('0' + saddle_rng_below(rng, 10));
    if (decimals > 0 || saddle_rng_below(rng, 4) == 0)
        text[length++] = '.';
    for (size_t k = 0; k < decimals; k++)
        text[length++] = (char)('0' + saddle_rng_below(rng, 10));
    text[length] = '\0';
    uint64_t range = saddle_rng_below(rng, 3) == 0 ? 280 : 25;
    if (saddle_rng_below(rng, 3) == 0)
        length += (size_t)sprintf(text + length, "%c%d", "eE"[saddle_rng_below(rng, 2)],
                                  (int)saddle_rng_below(rng, 2 * range) - (int)range);
    return length;
}

TEST(numbers_are_correctly_rounded)
{
    saddle_rng rng;
    saddle_rng_init(&rng, 1, SADDLE_RNG_TEST, 0, 0);
    char text[128];
    for (int k = 0; k < 200000; k++) {
        size_t length = random_number(&rng, text);
        double value = -1.0;
        ck_assert_ptr_eq(saddle_scan_real(text, text + length, &value), text + length);
        assert_same_bits(value, strtod_l(text, NULL, saddle_c_locale()), text);
    }
    /* The shortest and the 17-digit text of random bit patterns. */
    for (int k = 0; k < 50000; k++) {
        uint64_t bits = saddle_rng_bits(&rng);
        double wanted;
        memcpy(&wanted, &bits, sizeof wanted);
        if (!isfinite(wanted))
            continue;
        int length = saddle_snprintf(text, sizeof text, "%.17g", wanted);
        double value = -1.0;
        ck_assert_ptr_eq(saddle_scan_real(text, text + length, &value), text + length);
        assert_same_bits(value, wanted, text);
    }
}

/* Prints with the fewest digits, but at least `least`, that strtod reads back equal. */
static void print_plainly(double value, int least, char out[SADDLE_REAL_SIZE])
{
    do
        saddle_snprintf(out, SADDLE_REAL_SIZE, "%.*g", least++, value);
    while (least <= 17 && strtod_l(out, NULL, saddle_c_locale()) != value);
}

TEST(numbers_are_printed_as_short_as_they_read_back)
{
    saddle_rng rng;
    saddle_rng_init(&rng, 2, SADDLE_RNG_TEST, 0, 0);
    char text[SADDLE_REAL_SIZE];
    char wanted[SADDLE_REAL_SIZE];
    for (int k = 0; k < 50000; k++) {
        /* Bit patterns and short decimals alternate. */
        uint64_t bits = saddle_rng_bits(&rng);
        double value = (double)(bits >> 44) / 1000.0;
        double back = -1.0;
        if (k % 2 == 0)
            memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        int least = (int[]){6, 15, 17}[k % 3];
        print_plainly(value, least, wanted);
        ck_assert_str_eq(saddle_print_real(value, least, text), wanted);
        ck_assert(saddle_parse_real(text, &back));
        assert_same_bits(back, value, text);
    }
    ck_assert_str_eq(saddle_print_real(-0.0, 15, text), "-0");
    ck_assert_str_eq(saddle_print_real(123456789.0, 6, text), "123456789");
    ck_assert_str_eq(saddle_print_real((double)NAN, 15, text), "nan");
    ck_assert_str_eq(saddle_print_real(-(double)INFINITY, 15, text), "-inf");
}

TEST(numbers_have_a_point_in_every_locale)
{
    char command[4500];
    char text[SADDLE_REAL_SIZE];
    double value = -1.0;
    saddle_snprintf(command, sizeof command,
                    "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
                    saddle_test_directory());
    setenv("LOCPATH", saddle_test_directory(), 1);
    if (system(command) != 0 || setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
        saddle_test_skip("no locale with a decimal comma can be made");
        return;
    }
    snprintf(text, sizeof text, "%.1f", 0.5);
    ck_assert_str_eq(text, "0,5");
    ck_assert_str_eq(saddle_print_real(0.5, 15, text), "0.5");
    ck_assert(saddle_parse_real("1.00000000000000011102230246251565404", &value) && value == 1.0);
    ck_assert(!saddle_parse_real("0,5", &value) && value == 1.0);
    snprintf(text, sizeof text, "%.1f", 0.5);
    ck_assert_str_eq(text, "0,5");
}

TEST(numbers_end_where_they_should)
{
    static const struct {
        const char *text;
        int used; /* -1: not a number */
    } one[] = {{"1", 1},
               {"1.", 2},
               {".5", 2},
               {"1x", 1},
               {"1:2", 1},
               {"", -1},
               {".", -1},
               {"+", -1},
               {"-.e1", -1},
               {"1e", -1},
               {"1e+", -1},
               {"nan", -1},
               {"inf", -1},
               {"0x10", 1},
               {" 1", -1},
               {"1e400", -1},
               {"1e-400", 6},
               {"--1", -1},
               {"1e99999999999", -1},
               {"0e99999999999", 13}};
    for (size_t k = 0; k < sizeof one / sizeof *one; k++) {
        double value = 0.0;
        const char *end = one[k].text + strlen(one[k].text);
        const char *stop = saddle_scan_real(one[k].text, end, &value);
        int used = stop == NULL ? -1 : (int)(stop - one[k].text);
        ck_assert_msg(used == one[k].used, "'%s': %d", one[k].text, used);
        double whole = -1.0;
        bool all = used > 0 && one[k].text + used == end;
        ck_assert(saddle_parse_real(one[k].text, &whole) == all);
        ck_assert(whole == (all ? value : -1.0));
    }
    /* Longer than any buffer: half of 1 + 2^-52, just above the tie, decided by the last digit. */
    enum { DIGITS = 5000 };
    char *text = malloc(DIGITS + 64);
    int head = sprintf(text, "1.00000000000000011102230246251565404236316680908203125");
    memset(text + head, '0', DIGITS - (size_t)head);
    text[DIGITS] = '1';
    double value = 0.0;
    ck_assert_ptr_eq(saddle_scan_real(text, text + DIGITS, &value), text + DIGITS);
    ck_assert(value == 1.0);
    ck_assert_ptr_eq(saddle_scan_real(text, text + DIGITS + 1, &value), text + DIGITS + 1);
    ck_assert(value == 1.0 + 0x1p-52);
    free(text);
}

/* ---- LIBSVM ---- */

/* Returns random LIBSVM text with everything that is allowed. */
static char *random_libsvm(uint64_t seed, size_t lines)
{
    saddle_rng rng;
    saddle_rng_init(&rng, seed, SADDLE_RNG_TEST, 1, 0);
    char *text = malloc(lines * 1200 + 16);
    char *at = text;
    if (seed % 2 == 0)
        at += sprintf(at, "\xef\xbb\xbf");
    for (size_t line = 0; line < lines; line++) {
        uint64_t form = saddle_rng_below(&rng, 12);
        if (form == 0)
            at += sprintf(at, "  # nothing here 1:2");
        if (form > 1) {
            if (form == 2)
                *at++ = ' ';
            at += random_number(&rng, at);
            uint64_t index = 0;
            for (uint64_t k = saddle_rng_below(&rng, 16); k > 0; k--) {
                /* Gaps that give indices of every length. */
                index += 1 + saddle_rng_below(&rng, form == 6 ? 100000000 : form == 7 ? 1000 : 9);
                at += sprintf(at, "%s%" PRIu64 ":", form == 3 ? "\t " : " ", index);
                if (saddle_rng_below(&rng, 8) == 0)
                    at += sprintf(at, "-0.000e3");
                else if (saddle_rng_below(&rng, 2) == 0)
                    *at++ = (char)('0' + saddle_rng_below(&rng, 10));
                else
                    at += random_number(&rng, at);
            }
            if (form == 4)
                at += sprintf(at, " # 3:x");
            if (form == 5)
                at += sprintf(at, " \t ");
        }
        at += sprintf(at, line % 3 == 0 ? "\r\n" : "\n");
    }
    /* The last newline may be missing. */
    at[seed % 3 == 0 ? -1 : 0] = '\0';
    return text;
}

/* The obvious reader: line by line with strtod, growing as it goes. */
static saddle_dataset *slow_reader(char *text)
{
    saddle_dataset *data = calloc(1, sizeof *data);
    size_t room = strlen(text) + 2;
    data->label = calloc(room, sizeof *data->label);
    data->row_start = calloc(room, sizeof *data->row_start);
    data->column = calloc(room, sizeof *data->column);
    data->value = calloc(room, sizeof *data->value);
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3;
    char *line;
    while ((line = strsep(&text, "\n")) != NULL) {
        line[strcspn(line, "#\r")] = '\0';
        char *rest = line;
        char *token = strtok_r(line, " \t", &rest);
        if (token == NULL)
            continue;
        data->label[data->rows++] = strtod_l(token, NULL, saddle_c_locale());
        while ((token = strtok_r(NULL, " \t", &rest)) != NULL) {
            size_t index = strtoul(token, NULL, 10);
            double value = strtod_l(strchr(token, ':') + 1, NULL, saddle_c_locale());
            if (index > data->features)
                data->features = index;
            if (value != 0.0) {
                data->column[data->nonzeros] = (uint32_t)(index - 1);
                data->value[data->nonzeros++] = value;
            }
        }
        data->row_start[data->rows] = data->nonzeros;
    }
    return data;
}

static void free_slow(saddle_dataset *data)
{
    free(data->label);
    free(data->row_start);
    free(data->column);
    free(data->value);
    free(data);
}

TEST(libsvm_agrees_with_the_obvious_reader)
{
    static const uint64_t threads[] = {1, 2, 3, 7, 64, 0};
    for (uint64_t seed = 0; seed < 24; seed++) {
        char *text = random_libsvm(seed, seed < 12 ? 20 : 500);
        char path[4096];
        saddle_snprintf(path, sizeof path, "%s", write_text("random", text));
        saddle_dataset *wanted = slow_reader(text);
        for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
            saddle_data_options options = {
                .abi = SADDLE_ABI, .format = SADDLE_FORMAT_LIBSVM, .threads = threads[k]};
            saddle_dataset *data = load(path, &options);
            assert_equal_data(data, wanted);
            ck_assert_ptr_null(data->dense);
            saddle_dataset_free(data);
        }
        free_slow(wanted);
        free(text);
    }
}

TEST(libsvm_features_are_at_least_as_requested)
{
    const char *path = write_text("few", "1 2:3\n-1 4:0\n");
    saddle_data_options options = {.abi = SADDLE_ABI, .features = 10};
    saddle_dataset *data = load(path, NULL);
    /* A written zero is not stored, but its index counts. */
    ck_assert_uint_eq(data->features, 4);
    ck_assert_uint_eq(data->nonzeros, 1);
    saddle_dataset_free(data);
    data = load(path, &options);
    ck_assert_uint_eq(data->features, 10);
    saddle_dataset_free(data);
    options.features = 3;
    data = load(path, &options);
    ck_assert_uint_eq(data->features, 4);
    saddle_dataset_free(data);
}

TEST(libsvm_refuses_with_line_and_column)
{
    static const struct {
        const char *text;
        const char *message;
    } bad[] = {
        {"1 0:2\n", "bad:1:3: index 0 is not valid; indices start at 1"},
        {"1 1:2\n-1 3:1 7:2 5:1\n", "bad:2:12: index 5 after 7; indices must increase"},
        {"1 5:1 5:2\n", "bad:1:7: index 5 after 5; indices must increase"},
        {"\n\n x 1:1\n", "bad:3:2: label 'x' is not a finite number"},
        {"1:2 3:4\n", "bad:1:1: label '1:2' is not a finite number"},
        {"nan 1:1\n", "bad:1:1: label 'nan' is not a finite number"},
        {"1,2 1:1\n", "bad:1:1: label '1,2' is not a finite number"},
        {"1 1:nan\n", "bad:1:5: value 'nan' is not a finite number"},
        {"1 1:-inf\n", "bad:1:5: value '-inf' is not a finite number"},
        {"1 1:1e999\n", "bad:1:5: value '1e999' is not a finite number"},
        {"1 1:\n", "bad:1:5: value '' is not a finite number"},
        {"1 1:2x\n", "bad:1:5: value '2x' is not a finite number"},
        {"1 1:2:3\n", "bad:1:5: value '2:3' is not a finite number"},
        {"1 1:0x1\n", "bad:1:5: value '0x1' is not a finite number"},
        {"1 1:1 2\n", "bad:1:7: '2' has no ':'; write INDEX:VALUE"},
        {"1 1 :1\n", "bad:1:3: '1' has no ':'; write INDEX:VALUE"},
        {"1 :1\n", "bad:1:3: index of ':1' is not a whole number"},
        {"1 -1:1\n", "bad:1:3: index of '-1:1' is not a whole number"},
        {"1 qid:1 1:1\n", "bad:1:3: index of 'qid:1' is not a whole number"},
        {"1 1.5:1\n", "bad:1:3: index of '1.5:1' is not a whole number"},
        {"1 4294967296:1\n", "bad:1:3: index of '4294967296:1' is above 4294967295"},
        {"1 99999999999999999999999:1\n", "is above 4294967295"},
        {"1 4294967295:1 4294967295:1\n", "index 4294967295 after 4294967295"},
        {"1 1:1 2:1 2:1 4:1 5:1 6:1\n", "bad:1:11: index 2 after 2; indices must increase"},
        {"1 0:1 2:1 3:1 4:1 5:1\n", "bad:1:3: index 0 is not valid; indices start at 1"},
        {"1 1:12 2:1x 3:1 4:1 5:1\n", "bad:1:10: value '1x' is not a finite number"},
        {"1 1:1 2/1 3:1 4:1 5:1\n", "bad:1:7: '2/1' has no ':'; write INDEX:VALUE"},
        {"1 1:1 2::1 3:1 4:1 5:1\n", "bad:1:9: value ':1' is not a finite number"},
        {"1 1:1 2:: 3:1 4:1 5:1\n", "bad:1:9: value ':' is not a finite number"},
        {"1 1:1 2:/ 3:1 4:1 5:1\n", "bad:1:9: value '/' is not a finite number"},
        {"1 1:1\r\n1 2:\x01\r\n", "bad:2:5: value '\\x01' is not a finite number"},
        {"1 1:1\r1 2:1\n", "value '1\\x0d1' is not a finite number"},
        {"\xef\xbb\xbfy 1:1\n", "bad:1:1: label 'y'"},
        {"\n# only words\n \n", "has no rows"},
        {"1\n-1\n", "has 0 features"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        saddle_data_options options = {.abi = SADDLE_ABI, .format = SADDLE_FORMAT_LIBSVM};
        refuse(write_text("bad", bad[k].text), &options, bad[k].message);
    }
    /* A NUL in the text is an error, not an end. */
    refuse(write_bytes("bad", "1 1:1\0 2:x\n", 11), NULL, "bad:1:5: value '1\\x00'");
}

TEST(libsvm_reports_the_first_fault_for_any_threads)
{
    enum { LINES = 400 };
    char *text = malloc((size_t)LINES * 16);
    char *at = text;
    for (int line = 1; line <= LINES; line++)
        at += sprintf(at, line == 237 || line == 238 || line == 390 ? "1 9:1 %d:1\n" : "1 1:%d\n",
                      line % 9);
    const char *path = write_text("faults", text);
    static const uint64_t threads[] = {1, 2, 3, 5, 16, 256, 10000, UINT64_MAX};
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
        saddle_data_options options = {.abi = SADDLE_ABI, .threads = threads[k]};
        refuse(path, &options, "faults:237:7: index 3 after 9; indices must increase");
    }
    free(text);
}

TEST(what_is_not_a_file_is_refused)
{
    char path[4200];
    saddle_snprintf(path, sizeof path, "%s/", saddle_test_directory());
    refuse(path, NULL, "is a directory");
    saddle_snprintf(path, sizeof path, "%s/pipe", saddle_test_directory());
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    refuse(path, NULL, "is a pipe");
    saddle_snprintf(path, sizeof path, "%s/nothing", saddle_test_directory());
    refuse(path, NULL, "No such file");
    refuse(write_text("empty", ""), NULL, "is empty");
    saddle_data_options options = {.abi = SADDLE_ABI, .format = (saddle_data_format)5};
    refuse(write_text("some", "1 1:1\n"), &options, "format 5 is unknown");
    options = (saddle_data_options){.format = SADDLE_FORMAT_LIBSVM};
    refuse(write_text("some", "1 1:1\n"), &options, "saddle_data_options has ABI number 0");
    options.abi = SADDLE_ABI - 1;
    refuse(write_text("some", "1 1:1\n"), &options, "set .abi = SADDLE_ABI");
    if (geteuid() != 0) {
        const char *secret = write_text("secret", "1 1:1\n");
        ck_assert_int_eq(chmod(secret, 0), 0);
        refuse(secret, NULL, "Permission denied");
    }
}

/* ---- IDX ---- */

/* Three images of 2 x 2 and their labels. */
static const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0,  3,  0,  0,   0,   2,   0, 0,
                                       0, 2, 0, 1, 2, 3, 51, 52, 53, 102, 255, 254, 0, 128};
static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 3, 7, 0, 9};

static void assert_images(const saddle_dataset *data)
{
    ck_assert_uint_eq(data->rows, 3);
    ck_assert_uint_eq(data->features, 4);
    ck_assert_uint_eq(data->nonzeros, 10);
    ck_assert_ptr_null(data->row_start);
    for (size_t k = 0; k < 12; k++)
        ck_assert(data->dense[k] == images[16 + k] / 255.0);
    for (size_t k = 0; k < 3; k++)
        ck_assert(data->label[k] == labels[8 + k]);
}

/* Text reads the same with and without gzip, in any format, also in several members. */
TEST(gzipped_text_is_read)
{
    static const char *const text[] = {"1 1:0.5 3:2\n-1 2:7\n", "a,b,label\n1,2,0\n3,4,1\n",
                                       "1;2;0\n3;4;1\n"};
    static const char *const file[][2] = {{"t", "t.gz"}, {"u.csv", "u.csv.gz"}, {"v", "v.gz"}};
    for (size_t k = 0; k < 3; k++) {
        saddle_dataset *plain = load(write_text(file[k][0], text[k]), NULL);
        saddle_dataset *packed = load(write_packed(file[k][1], text[k], strlen(text[k])), NULL);
        assert_equal_data(plain, packed);
        saddle_dataset_free(plain);
        saddle_dataset_free(packed);
    }
    char path[4096];
    saddle_snprintf(path, sizeof path, "%s", write_packed("w.gz", "1 1:0.5 3:2\n-1 ", 15));
    gzFile stream = gzopen(path, "ab");
    ck_assert_int_eq(gzwrite(stream, "2:7\n", 4), 4);
    ck_assert_int_eq(gzclose(stream), Z_OK);
    saddle_dataset *joined = load(path, NULL);
    saddle_dataset *plain = load(write_text("t", text[0]), NULL);
    assert_equal_data(plain, joined);
    saddle_dataset_free(plain);
    saddle_dataset_free(joined);
    refuse(write_packed("e.gz", "", 0), NULL, "is empty");
    refuse(write_packed("t.gz", "1 1:x\n", 6), NULL, "t.gz:1:5: value 'x'");
}

/* Compressed data that expand to gigabytes are refused before they are unpacked, in any format; up to 16 MB, and up
 * to 32 times, they may. */
TEST(packed_bombs_are_bounded)
{
    enum { LINE = 6, MOST = 20000000 };
    static char text[MOST];
    static const char *const name[] = {"bomb.gz", "bomb.csv.gz", "bomb-images-idx3-ubyte.gz"};
    static const char *const line[] = {"1 1:1\n", "1,1,1\n", "\0\0\0\0\0\0"};
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        for (size_t at = 0; at + LINE <= MOST; at += LINE)
            memcpy(text + at, line[k], LINE);
        double before = saddle_memory_peak();
        refuse(write_packed(name[k], text, (size_t)MOST / LINE * LINE), NULL,
               "expands to more than 32 times its");
        assert_at_most(saddle_memory_peak() - before, 1e5);
    }
    for (size_t at = 0; at + LINE <= MOST; at += LINE)
        memcpy(text + at, line[0], LINE);
    saddle_dataset_free(load(write_packed("small.gz", text, 1200000), NULL));
}

TEST(idx_is_read_gzipped_and_plain)
{
    char path[4096];
    saddle_dataset *data = NULL;
    saddle_snprintf(path, sizeof path, "%s",
                    write_bytes("a-images-idx3-ubyte", images, sizeof images));
    write_bytes("a-labels-idx1-ubyte", labels, sizeof labels);
    assert_images(data = load(path, NULL));
    saddle_dataset_free(data);
    /* gzip'd images with plain labels, and vice versa. */
    saddle_snprintf(path, sizeof path, "%s",
                    write_packed("a-images-idx3-ubyte.gz", images, sizeof images));
    assert_images(data = load(path, NULL));
    saddle_dataset_free(data);
    saddle_snprintf(path, sizeof path, "%s",
                    write_bytes("b-images-idx3-ubyte", images, sizeof images));
    write_packed("b-labels-idx1-ubyte.gz", labels, sizeof labels);
    assert_images(data = load(path, NULL));
    saddle_dataset_free(data);
    /* Labels with another name. */
    char other[4096];
    saddle_snprintf(other, sizeof other, "%s", write_bytes("classes", labels, sizeof labels));
    saddle_snprintf(path, sizeof path, "%s", write_bytes("pictures", images, sizeof images));
    saddle_data_options options = {.abi = SADDLE_ABI, .labels = other};
    assert_images(data = load(path, &options));
    saddle_dataset_free(data);
    refuse(path, NULL, "its name contains no 'images'");
}

TEST(idx_of_several_gzip_members_is_read)
{
    char path[4096];
    saddle_snprintf(path, sizeof path, "%s", write_packed("c-images-idx3-ubyte.gz", images, 20));
    gzFile stream = gzopen(path, "ab");
    ck_assert_int_eq(gzwrite(stream, images + 20, sizeof images - 20), sizeof images - 20);
    ck_assert_int_eq(gzclose(stream), Z_OK);
    write_bytes("c-labels-idx1-ubyte", labels, sizeof labels);
    saddle_dataset *data = load(path, NULL);
    assert_images(data);
    saddle_dataset_free(data);
}

/* Asserts that a copy of the images with one byte changed and another length is refused. */
static void refuse_images(size_t size, size_t place, unsigned char byte, const char *part)
{
    unsigned char copy[sizeof images + 1] = {0};
    saddle_data_options options = {.abi = SADDLE_ABI, .format = SADDLE_FORMAT_IDX};
    memcpy(copy, images, sizeof images);
    copy[place] = byte;
    char path[4096];
    saddle_snprintf(path, sizeof path, "%s", write_bytes("d-images-idx3-ubyte", copy, size));
    refuse(path, &options, part);
    saddle_snprintf(path, sizeof path, "%s", write_packed("d-images-idx3-ubyte.gz", copy, size));
    refuse(path, &options, part);
}

TEST(idx_refuses_what_is_wrong)
{
    write_bytes("d-labels-idx1-ubyte", labels, sizeof labels);
    refuse_images(3, 0, 0, "cut short");
    refuse_images(9, 0, 0, "cut short");
    refuse_images(sizeof images - 1, 0, 0, "cut short: 11 bytes after the header, 12 announced");
    refuse_images(sizeof images + 1, 0, 0, "has more than the 12 bytes");
    refuse_images(sizeof images, 0, 1, "not an IDX file: it starts with 01 00");
    refuse_images(sizeof images, 2, 0x0d, "IDX type 0x0d; only unsigned bytes");
    refuse_images(sizeof images, 3, 9, "IDX rank 9");
    refuse_images(sizeof images, 7, 0, "size 1 is 0");
    /* A few bytes that announce 4 billion images, or images of 2^56 pixels. */
    refuse_images(sizeof images, 4, 255, "cut short: 12 bytes after the header");
    unsigned char huge[sizeof images];
    memcpy(huge, images, sizeof images);
    huge[8] = huge[12] = 255;
    refuse(write_bytes("e-images-idx3-ubyte", huge, sizeof huge), NULL, "more than 4294967295");
    /* Labels: missing, too few, the images given as labels, and labels given as images. */
    char path[4096];
    saddle_snprintf(path, sizeof path, "%s",
                    write_bytes("f-images-idx3-ubyte", images, sizeof images));
    refuse(path, NULL, "f-labels-idx1-ubyte', with or without .gz");
    unsigned char two[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 0};
    write_bytes("f-labels-idx1-ubyte", two, sizeof two);
    refuse(path, NULL, "has 2 labels but");
    write_bytes("f-labels-idx1-ubyte", images, sizeof images);
    refuse(path, NULL, "has IDX rank 3; a label file has rank 1");
    refuse(write_bytes("f-labels-idx1-ubyte", labels, sizeof labels), NULL,
           "rank 1, so it holds labels");
    /* Truncated or damaged gzip data. */
    unsigned char packed[256];
    FILE *stream = fopen(write_packed("g-images-idx3-ubyte.gz", images, sizeof images), "rb");
    size_t size = fread(packed, 1, sizeof packed, stream);
    fclose(stream);
    refuse(write_bytes("g-images-idx3-ubyte.gz", packed, size - 9), NULL, "gzip");
    saddle_data_options options = {.abi = SADDLE_ABI, .format = SADDLE_FORMAT_IDX};
    refuse(write_bytes("g-images-idx3-ubyte.gz", packed, size - 4), &options,
           "cut short within its gzip data");
    packed[size - 6] ^= 1;
    refuse(write_bytes("g-images-idx3-ubyte.gz", packed, size), &options, "damaged gzip data");
}

/* ---- CSV ---- */

static void assert_table(const char *file, const char *text, const char *label_column)
{
    saddle_data_options options = {.abi = SADDLE_ABI, .label_column = label_column};
    saddle_dataset *data = load(write_text(file, text), &options);
    static const double dense[] = {1.5, 0, -2e3, 4};
    ck_assert_uint_eq(data->rows, 2);
    ck_assert_uint_eq(data->features, 2);
    ck_assert_uint_eq(data->nonzeros, 3);
    ck_assert_mem_eq(data->dense, dense, sizeof dense);
    ck_assert(data->label[0] == 1.0 && data->label[1] == -1.0);
    saddle_dataset_free(data);
}

TEST(csv_variants_are_read)
{
    assert_table("t.csv", "1.5,0,1\n-2e3,4,-1\n", NULL);
    assert_table("t.csv", "1.5,0,1\r\n-2e3,4,-1", "last");
    assert_table("t.csv", "\xef\xbb\xbf\n\n1.5 , 0,1\n\n -2e3,\t4,-1\n\n", NULL);
    assert_table("t.csv", "1,1.5,0\n-1,-2e3,4\n", "first");
    assert_table("t.csv", "1.5,1,0\n-2e3,-1,4\n", "2");
    assert_table("t.csv", "a,y,b\n1.5,1,0\n-2e3,-1,4\n", "y");
    assert_table("t.csv", "\"a,1\",\"the \"\"y\"\"\" ,b\n1.5,\"1\",0\n-2e3,-1,4\n", "the \"y\"");
    assert_table("t.tsv", "a\tb\ty\n1.5\t0\t1\n-2e3\t4\t-1\n", NULL);
    /* Without an extension, by the separators of the first line. */
    assert_table("t", "1.5;0;1\n-2e3;4;-1\n", NULL);
    assert_table("t", "1.5\t0\t1\n-2e3\t4\t-1\n", NULL);
    assert_table("t", "x,z,y\n1.5,0,1\n-2e3,4,-1\n", "3");
    /* Tabs between INDEX:VALUE are LIBSVM's. */
    saddle_dataset *data = load(write_text("t", "1\t1:2\t3:4\n"), NULL);
    ck_assert_ptr_null(data->dense);
    ck_assert_uint_eq(data->features, 3);
    saddle_dataset_free(data);
}

TEST(csv_refuses_with_line_and_column)
{
    static const struct {
        const char *text;
        const char *label;
        const char *message;
    } bad[] = {
        {"1,2\n3,x\n", NULL, "b.csv:2:3: 'x' in column '2' is not a number"},
        {"a,b\n\n1,2\n3, nan\n", NULL,
         "b.csv:4:4: missing value in column 'b'; fill it in, or set --missing"},
        {"1,2\n1e999,3\n", NULL, "b.csv:2:1: '1e999' in column '1' is not a finite number"},
        {"1,2,3\n4,5\n", NULL, "b.csv:2:4: 2 fields; the first line has 3"},
        {"1,2\n4,5,6\n", NULL, "b.csv:2:5: more fields than the 2 of the first line"},
        {"1,2\n4,\n", NULL, "b.csv:2:3: missing value in column '2'"},
        {"1,,2\n", NULL, "b.csv:1:3: missing value in column '2'"},
        {"\"a,b\n1,2\n", NULL, "b.csv:1:1: the quote that opens here is not closed in this line"},
        {"a,b\n\"1\"2,3\n", NULL, "b.csv:2:2: text follows the closing quote of this field"},
        {"1\n2\n", NULL, "b.csv:1:1: one field only"},
        {"a,b\n", NULL, "header but no rows"},
        {"\n \n", NULL, "has no rows"},
        {"red,2\nblue,3\n3,4\n", NULL,
         "b.csv:3:1: column '1' has text above, such as 'blue', and the number 3 here"},
        {"a;y\n1,5;0\n", NULL, "b.csv:2:1: column 'a' has decimal commas, as in '1,5'"},
        {"a;y\n\n;0\n-1 234,5;0\n", NULL, "b.csv:3:1: missing value in column 'a'"},
        {"a\ty\n0\t\"1.234.567,50\"\n", NULL, "b.csv:2:4: column 'y' has decimal commas"},
        {"1,2\n#DIV/0!,4\n", NULL, "b.csv:2:1: '#DIV/0!' in column '1' is not a finite number"},
        {"1,2\n2020-01-01,4\n", NULL, "b.csv:2:1: '2020-01-01' in column '1' is not a finite"},
        {"1,2\n", "3", "has no column 3; columns are 1 to 2"},
        {"1,2\n", "0", "has no column 0; columns are 1 to 2"},
        {"1,2\n", "y", "has no line of names"},
        {"a,b\n1,2\n", "y", "has no column 'y'; its columns are: a,b"},
        {"a,b,a\n1,2,3\n", "a", "has several columns 'a'; give its number"},
        {"a,b\n1,2\n", "-1", "has no column '-1'"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        saddle_data_options options = {.abi = SADDLE_ABI, .label_column = bad[k].label};
        refuse(write_text("b.csv", bad[k].text), &options, bad[k].message);
    }
}

/* Neither a number out of a double's range nor a missing value makes the first line a header. */
TEST(csv_headers_have_names)
{
    static const char *const value[] = {
        "nan",           "-NaN",         "inf",      "+Infinity",    "1e999",
        "-1e999",        "0x10",         "NA",       "n/a",          "?",
        "null",          "1.2.3",        "-",        "12ab",         ".",
        "\"1e999\"",     "NaN(123)",     "nan(ind)", "-nan(ind)",    "#N/A",
        "<NA>",          "#DIV/0!",      "#NAME?",   "True",         "FALSE",
        "nil",           "$5",           "*",        "\xe2\x88\x9e", "-\xe2\x88\x9e",
        "\342\210\2221", "\xe2\x80\x94", "(none)",   "\"#N/A\""};
    static const char *const names[] = {
        "a,1,2\n",     "0,1,label\n",    "nan,x,y\n",         "1st,nano,0\n",  "\"a b\",,\n",
        "_,__,___\n",  "\xc3\xa4,1,2\n", "information,0,0\n", "#id,0,0\n",     "nan_share,0,0\n",
        "sick?,0,0\n", "truth,0,0\n",    "<x>,0,0\n",         "mass(kg),0,0\n"};
    saddle_data_options options = {.abi = SADDLE_ABI};
    saddle_dataset *data = NULL;
    char text[64];
    for (size_t k = 0; k < sizeof value / sizeof *value; k++) {
        saddle_snprintf(text, sizeof text, "1,%s,1\n3,4,-1\n", value[k]);
        options.header = SADDLE_HEADER_AUTO;
        refuse(write_text("h.csv", text), &options, "h.csv:");
        refuse(write_text("h.csv", text), &options, "set --header to yes");
        options.header = SADDLE_HEADER_NO;
        refuse(write_text("h.csv", text), &options, "h.csv:");
        options.header = SADDLE_HEADER_YES;
        data = load(write_text("h.csv", text), &options);
        ck_assert_uint_eq(data->rows, 1);
        saddle_dataset_free(data);
    }
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        saddle_snprintf(text, sizeof text, "%s3,4,-1\n", names[k]);
        options.header = SADDLE_HEADER_AUTO;
        data = load(write_text("h.csv", text), &options);
        ck_assert_uint_eq(data->rows, 1);
        ck_assert_double_eq(data->dense[1], 4.0);
        saddle_dataset_free(data);
        options.header = SADDLE_HEADER_NO;
        refuse(write_text("h.csv", text), &options, "h.csv:");
    }
    /* Names that are numbers, which only the caller can know. */
    options = (saddle_data_options){
        .abi = SADDLE_ABI, .header = SADDLE_HEADER_YES, .label_column = "first"};
    data = load(write_text("h.csv", "0,1,2\n3,4,5\n"), &options);
    ck_assert_uint_eq(data->rows, 1);
    ck_assert_double_eq(data->label[0], 3.0);
    saddle_dataset_free(data);
}
