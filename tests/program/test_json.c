/* The JSON writer: commas, names, characters and numbers, byte by byte. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "json.h"
#include "support.h"

/* A document in memory. */
static char *text;
static size_t length;
static FILE *stream;

static saddle_json begin(void)
{
    saddle_json j;
    stream = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(stream);
    saddle_json_begin(&j, stream);
    return j;
}

static void expect(saddle_json *j, const char *wanted)
{
    saddle_json_end(j);
    ck_assert_int_eq(j->depth, 0);
    ck_assert_int_eq(fclose(stream), 0);
    ck_assert_str_eq(text, wanted);
    free(text);
}

TEST(nests)
{
    saddle_json j = begin();
    expect(&j, "{}\n");
    j = begin();
    saddle_json_put(&j, "a %d blank %s none [ ] empty { } list [ %" PRIu64 " null %d %zu ] %s: [",
                    true, "", UINT64_MAX, false, (size_t)7, "rows");
    for (size_t k = 0; k < 2; k++)
        saddle_json_put(&j, "%s: { k %zu x %g text %s }", "", k, 0.5, "a b");
    saddle_json_put(&j, "] deep [ [ ] ]");
    expect(&j, "{\n"
               "  \"a\": true,\n"
               "  \"blank\": \"\",\n"
               "  \"none\": [],\n"
               "  \"empty\": {},\n"
               "  \"list\": [18446744073709551615, null, false, 7],\n"
               "  \"rows\": [\n"
               "    {\n"
               "      \"k\": 0,\n"
               "      \"x\": 0.5,\n"
               "      \"text\": \"a b\"\n"
               "    },\n"
               "    {\n"
               "      \"k\": 1,\n"
               "      \"x\": 0.5,\n"
               "      \"text\": \"a b\"\n"
               "    }\n"
               "  ],\n"
               "  \"deep\": [[]]\n"
               "}\n");
}

TEST(escapes)
{
    static const struct {
        const char *given, *wanted;
    } list[] = {
        {"a\"b\\c/", "a\\\"b\\\\c/"},
        {"\x01\x1b\n\t\x7f", "\\u0001\\u001b\\u000a\\u0009\\u007f"},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xc2\x9b\xe2\x80\xae\xe2\x80\xa8", "\\u009b\\u202e\\u2028"}, /* C1, direction, line end */
        {"a\xff\xfe.csv", "a\\ufffd\\ufffd.csv"},
        {"\xc3", "\\ufffd"},             /* cut short */
        {"\xc3(", "\\ufffd("},           /* what follows is kept */
        {"\xc0\xaf", "\\ufffd"},         /* overlong */
        {"\xed\xa0\x80", "\\ufffd"},     /* a surrogate */
        {"\xf4\x90\x80\x80", "\\ufffd"}, /* beyond the last letter */
        {"\x80", "\\ufffd"},             /* a continuation byte alone */
        {"\xef\xbf\xbd", "\\ufffd"}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        char wanted[256];
        saddle_json j = begin();
        saddle_json_put(&j, "%s: %s", list[k].given, list[k].given);
        snprintf(wanted, sizeof wanted, "{\n  \"%s\": \"%s\"\n}\n", list[k].wanted, list[k].wanted);
        expect(&j, wanted);
    }
}

TEST(writes_numbers)
{
    static const struct {
        double value;
        const char *wanted;
    } list[] = {{0.0, "0"},
                {-0.0, "-0.0"},
                {1.0, "1"},
                {-17.0, "-17"},
                {1e15, "1000000000000000"},
                {0x1p53, "9007199254740992"},
                {1e300, "1e+300"},
                {0.1, "0.1"},
                {0.1 + 0.2, "0.30000000000000004"},
                {1.0 / 3.0, "0.3333333333333333"},
                {-2.5e-7, "-2.5e-07"},
                {1234.5, "1234.5"},
                {DBL_MAX, "1.7976931348623157e+308"},
                {DBL_MIN, "2.2250738585072014e-308"},
                {0x1p-1074, "5e-324"},
                {(double)NAN, "null"},
                {(double)INFINITY, "null"},
                {-(double)INFINITY, "null"}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        char wanted[64];
        saddle_json j = begin();
        saddle_json_put(&j, "x %g", list[k].value);
        snprintf(wanted, sizeof wanted, "{\n  \"x\": %s\n}\n", list[k].wanted);
        expect(&j, wanted);
    }
}

/* Any double reads back, and has the fewest digits that do. */
TEST(writes_the_shortest_number)
{
    uint64_t bits = 1;
    for (int k = 0; k < 20000; k++) {
        char shortest[SADDLE_REAL_SIZE];
        double value;
        double back;
        bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        saddle_json j = begin();
        saddle_json_put(&j, "x %g", value);
        ck_assert_int_eq(fclose(stream), 0);
        const char *number = strchr(text, ':') + 2;
        if (value != rint(value) || fabs(value) > 0x1p53)
            ck_assert_str_eq(number, saddle_print_real(value, 1, shortest));
        ck_assert(saddle_parse_real(number, &back));
        ck_assert(back == value && signbit(back) == signbit(value));
        free(text);
    }
}
