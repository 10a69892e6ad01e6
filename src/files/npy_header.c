#include "files/npy_header.h"

/* The parser's position, and whether it has failed: then nothing more is accepted, and the first reason is kept. */
typedef struct cursor {
    const char *at;
    bool failed;
    saddle_error *why;
} cursor;

/* The layout of an array or of a field. */
typedef struct layout {
    char type[16];
    size_t rank;
    size_t shape[2];
} layout;

static const layout single = {.shape = {1, 1}};

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

/* Selects an array as the wanted one. */
static void choose(cursor *in, saddle_npy_header *out, const layout *from, bool letters,
                   uint64_t offset)
{
    check_type(in, from, letters);
    *out = (saddle_npy_header){.kind = from->type[1],
                               .swapped = from->type[0] == '>',
                               .rank = from->rank,
                               .shape = {from->shape[0], from->shape[1]},
                               .bytes = layout_bytes(in, from),
                               .count = from->shape[0] * from->shape[1],
                               .offset = offset};
}

/* ---------------------------------------------------------------- the dictionary */

/* Parses "('x', '<f8', (3,))". */
static void read_field(cursor *in, char name[SADDLE_NPY_NAME_SIZE], layout *out)
{
    *out = single;
    expect(in, "(");
    read_string(in, name, SADDLE_NPY_NAME_SIZE);
    expect(in, ",");
    read_string(in, out->type, sizeof out->type);
    if (accept(in, ","))
        read_shape(in, out);
    expect(in, ")");
}

/* Parses the fields of a record; finds the wanted one and adds up the sizes of all. */
static void read_record(cursor *in, saddle_npy_header *out, const char *wanted, bool letters)
{
    bool found = false;
    bool comma = true;
    uint64_t total = 0;
    while (!in->failed && !accept(in, "]")) {
        char name[SADDLE_NPY_NAME_SIZE];
        layout field;
        if (!comma)
            malformed(in);
        read_field(in, name, &field);
        uint64_t bytes = in->failed ? 0 : layout_bytes(in, &field);
        if (!in->failed && !found && wanted != NULL && strcmp(name, wanted) == 0) {
            choose(in, out, &field, letters, total);
            found = true;
        }
        if (__builtin_add_overflow(total, bytes, &total))
            stop(in, "its fields are too large for memory");
        comma = accept(in, ",");
    }
    if (!found)
        stop(in, "the record has no such field; name one of its fields");
    out->total = total;
}

/* The dictionary as far as it has been parsed. */
typedef struct dictionary {
    layout whole;
    bool record;
    bool fortran;
    unsigned seen; /* one bit per key */
} dictionary;

/* Parses one key and its value; each key must occur once. */
static void read_item(cursor *in, dictionary *all, saddle_npy_header *out, const char *wanted,
                      bool letters)
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
        all->record = true;
        read_record(in, out, wanted, letters);
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

bool saddle_npy_parse(saddle_npy_header *out, const char *text, const char *name, bool letters,
                      saddle_error *why)
{
    cursor in = {.at = text, .why = why};
    dictionary all = {.whole = single};
    memset(out, 0, sizeof *out);
    expect(&in, "{");
    while (!in.failed && !accept(&in, "}")) {
        read_item(&in, &all, out, name, letters);
        if (!accept(&in, ",") && *in.at != '}')
            malformed(&in);
    }
    if (all.seen != 7 || in.at[strspn(in.at, " \t\r\n")] != '\0')
        malformed(&in);
    if (all.record && all.whole.rank > 0)
        stop(&in, "it is an array of records; save one record or a plain array");
    if (!all.record && !in.failed) {
        choose(&in, out, &all.whole, letters, 0);
        out->fortran = all.fortran && out->rank == 2;
        out->total = out->bytes;
    }
    return !in.failed;
}
