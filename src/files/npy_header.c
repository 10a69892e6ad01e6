#include "files/npy_header.h"

/* The parser's position, and whether it has failed: then nothing more is accepted, and the first reason is kept. */
typedef struct cursor {
    const char *at;
    bool failed;
    saddle_error *why;
} cursor;

/* The layout of an array. */
typedef struct layout {
    char type[16];
    size_t rank;
    size_t shape[2];
} layout;

/* Fails with a reason, unless there already is one. */
#define stop(in, ...)                                              \
    do {                                                           \
        if (!(in)->failed)                                         \
            saddle_fail((in)->why, SADDLE_BAD_INPUT, __VA_ARGS__); \
        (in)->failed = true;                                       \
    } while (0)

static void malformed(cursor *in)
{
    stop(in, "its header is not one that NumPy writes; save it with numpy.save or numpy.savez");
}

/* ---------------------------------------------------------------- Python's syntax */

/* Skips a sign or word, if it comes next. */
static bool accept(cursor *in, const char *token)
{
    size_t length = strlen(token);
    in->at += strspn(in->at, " \t\r\n");
    if (in->failed || strncmp(in->at, token, length) != 0)
        return false;
    in->at += length;
    return true;
}

static void expect(cursor *in, const char *token)
{
    if (!accept(in, token))
        malformed(in);
}

/* Reads a string in single or double quotes, without escapes, that fits into `size`. */
static void read_string(cursor *in, char *out, size_t size)
{
    const char *quote = accept(in, "'") ? "'" : "\"";
    if (*quote == '"')
        expect(in, quote);
    size_t length = strcspn(in->at, quote);
    out[0] = '\0';
    if (in->at[length] == '\0' || length >= size || memchr(in->at, '\\', length) != NULL)
        malformed(in);
    if (in->failed)
        return;
    memcpy(out, in->at, length);
    out[length] = '\0';
    in->at += length + 1;
}

static size_t read_number(cursor *in)
{
    in->at += strspn(in->at, " \t\r\n");
    size_t value = 0;
    if (*in->at < '0' || *in->at > '9')
        malformed(in);
    for (; *in->at >= '0' && *in->at <= '9'; in->at++)
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (size_t)(*in->at - '0'), &value))
            stop(in, "its shape is too large for memory");
    return value;
}

/* Parses "()", "(3,)" or "(3, 4)". On entry the shape is that of a single entry. */
static void read_shape(cursor *in, layout *out)
{
    bool comma = true;
    expect(in, "(");
    while (!in->failed && !accept(in, ")")) {
        if (!comma)
            malformed(in);
        size_t extent = read_number(in);
        if (out->rank == 2)
            stop(in, "it has more than two dimensions; reshape it to a vector or a matrix");
        else
            out->shape[out->rank++] = extent;
        comma = accept(in, ",");
    }
    /* In Python, "(3)" is a number, not a tuple. */
    if (out->rank == 1 && !comma)
        malformed(in);
}

/* ---------------------------------------------------------------- sizes */

/* Computes the bytes of one entry of a type such as <f8, |V4 or <U5 (four bytes per character). */
static uint64_t entry_bytes(cursor *in, const char *type)
{
    saddle_error unused;
    cursor number = {.at = type + 2, .why = &unused};
    bool known =
        strlen(type) > 2 && strchr("<|>=", type[0]) != NULL && strchr("fiubcVSU", type[1]) != NULL;
    size_t value = known ? read_number(&number) : 0;
    if (!known || number.failed || *number.at != '\0' || value > UINT32_MAX)
        stop(in, "its entries are of type '%s'; save them as float64", type);
    return type[1] == 'U' ? 4 * (uint64_t)value : (uint64_t)value;
}

static uint64_t layout_bytes(cursor *in, const layout *of)
{
    uint64_t bytes = entry_bytes(in, of->type);
    size_t count = 0;
    if (__builtin_mul_overflow(of->shape[0], of->shape[1], &count) ||
        __builtin_mul_overflow(bytes, (uint64_t)count, &bytes))
        stop(in, "its shape (%zu, %zu) is too large for memory", of->shape[0], of->shape[1]);
    return bytes;
}

/* Fails unless the type can be read: numbers, which become doubles, or one text. */
static void check_type(cursor *in, const layout *of, bool letters)
{
    static const char readable[][3] = {"f8", "f4", "i8", "i4", "i2", "i1",
                                       "u8", "u4", "u2", "u1", "b1"};
    if (letters) {
        if (of->rank > 0 || (strncmp(of->type, "<U", 2) != 0 && strncmp(of->type, "|S", 2) != 0))
            stop(in, "it is not text; save numpy.array('...')");
        return;
    }
    for (size_t k = 0; k < sizeof readable / sizeof *readable; k++)
        if (*of->type != '\0' && strcmp(of->type + 1, readable[k]) == 0)
            return;
    stop(in,
         "its entries are of type '%s', not float64, float32, integers or bool; "
         "save it with .astype('<f8')",
         of->type);
}

/* ---------------------------------------------------------------- the dictionary */

/* The dictionary as far as it has been parsed. */
typedef struct dictionary {
    layout whole;
    bool fortran;
    unsigned seen; /* one bit per key */
} dictionary;

/* Parses one key and its value; each key must occur once. */
static void read_item(cursor *in, dictionary *all)
{
    static const char *const known[] = {"descr", "fortran_order", "shape"};
    char key[16];
    unsigned which = 0;
    read_string(in, key, sizeof key);
    expect(in, ":");
    while (which < 3 && strcmp(key, known[which]) != 0)
        which++;
    if (which == 3 || (all->seen & 1u << which) != 0)
        malformed(in);
    all->seen |= 1u << which;
    if (which == 0 && accept(in, "[")) {
        stop(in, "it has several fields; save a plain array of each with numpy.savez");
    } else if (which == 0) {
        read_string(in, all->whole.type, sizeof all->whole.type);
    } else if (which == 1) {
        all->fortran = accept(in, "True");
        if (!all->fortran)
            expect(in, "False");
    } else {
        read_shape(in, &all->whole);
    }
}

bool saddle_npy_parse(saddle_npy_header *out, const char *text, bool letters, saddle_error *why)
{
    cursor in = {.at = text, .why = why};
    dictionary all = {.whole = {.shape = {1, 1}}};
    const layout *whole = &all.whole;
    memset(out, 0, sizeof *out);
    expect(&in, "{");
    while (!in.failed && !accept(&in, "}")) {
        read_item(&in, &all);
        if (!accept(&in, ",") && *in.at != '}')
            malformed(&in);
    }
    if (all.seen != 7 || in.at[strspn(in.at, " \t\r\n")] != '\0')
        malformed(&in);
    if (in.failed)
        return false;
    check_type(&in, whole, letters);
    *out = (saddle_npy_header){.kind = whole->type[1],
                               .swapped = whole->type[0] == '>',
                               .fortran = all.fortran && whole->rank == 2,
                               .rank = whole->rank,
                               .shape = {whole->shape[0], whole->shape[1]},
                               .bytes = layout_bytes(&in, whole),
                               .count = whole->shape[0] * whole->shape[1]};
    return !in.failed;
}
