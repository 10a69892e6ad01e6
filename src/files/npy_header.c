#include "files/npy_header.h"

#include <string.h>

/* The parser's position, and where it reports errors. */
typedef struct cursor {
    const char *at;
    bool letters; /* whether text is expected, not numbers */
    saddle_error *why;
} cursor;

/* The layout of an array or of a field. */
typedef struct layout {
    char type[16];
    size_t rank;
    size_t shape[2];
} layout;

static const layout single = {.shape = {1, 1}};

/* Records a reason; evaluates to false, for functions to return. */
#define stop(in, ...) (saddle_fail((in)->why, SADDLE_BAD_INPUT, __VA_ARGS__), false)
#define malformed(in) \
    stop((in), "its header is not one that NumPy writes; save it with numpy.save or numpy.savez")

/* ---------------------------------------------------------------- Python's syntax */

static bool accept(cursor *in, char sign)
{
    in->at += strspn(in->at, " \t\r\n");
    if (*in->at != sign)
        return false;
    in->at++;
    return true;
}

static bool accept_word(cursor *in, const char *word)
{
    in->at += strspn(in->at, " \t\r\n");
    size_t length = strlen(word);
    if (strncmp(in->at, word, length) != 0)
        return false;
    in->at += length;
    return true;
}

/* Reads a string in single or double quotes, without escapes, that fits into `size`. */
static bool read_string(cursor *in, char *out, size_t size)
{
    char quote = '\'';
    if (!accept(in, quote)) {
        quote = '"';
        if (!accept(in, quote))
            return malformed(in);
    }
    const char *end = strchr(in->at, quote);
    size_t length = end != NULL ? (size_t)(end - in->at) : size;
    if (length >= size || memchr(in->at, '\\', length) != NULL)
        return malformed(in);
    memcpy(out, in->at, length);
    out[length] = '\0';
    in->at = end + 1;
    return true;
}

static bool read_number(cursor *in, size_t *out)
{
    in->at += strspn(in->at, " \t\r\n");
    size_t value = 0;
    if (*in->at < '0' || *in->at > '9')
        return malformed(in);
    for (; *in->at >= '0' && *in->at <= '9'; in->at++)
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (size_t)(*in->at - '0'), &value))
            return stop(in, "its shape is too large for memory");
    *out = value;
    return true;
}

/* Parses "()", "(3,)" or "(3, 4)". On entry the shape is that of a single entry. */
static bool read_shape(cursor *in, layout *out)
{
    if (!accept(in, '('))
        return malformed(in);
    bool comma = true;
    while (!accept(in, ')')) {
        size_t extent = 0;
        if (!comma || !read_number(in, &extent))
            return comma ? false : malformed(in);
        if (out->rank == 2)
            return stop(in, "it has more than two dimensions; reshape it to a vector or a matrix");
        out->shape[out->rank++] = extent;
        comma = accept(in, ',');
    }
    /* In Python, "(3)" is a number, not a tuple. */
    return out->rank == 1 && !comma ? malformed(in) : true;
}

/* ---------------------------------------------------------------- sizes */

/* Computes the bytes of one entry of a type such as <f8, |V4 or <U5 (four bytes per character). */
static bool entry_bytes(cursor *in, const char *type, uint64_t *out)
{
    cursor number = {.at = type + 2, .why = in->why};
    size_t value = 0;
    bool known =
        strlen(type) > 2 && strchr("<|>=", type[0]) != NULL && strchr("fiubcVSU", type[1]) != NULL;
    if (!known || !read_number(&number, &value) || *number.at != '\0' || value > UINT32_MAX)
        return stop(in, "its entries are of type '%s'; save them as float64", type);
    *out = type[1] == 'U' ? 4 * (uint64_t)value : (uint64_t)value;
    return true;
}

static bool layout_bytes(cursor *in, const layout *of, uint64_t *out)
{
    uint64_t bytes = 0;
    if (!entry_bytes(in, of->type, &bytes))
        return false;
    size_t count = 0;
    if (__builtin_mul_overflow(of->shape[0], of->shape[1], &count) ||
        __builtin_mul_overflow(bytes, (uint64_t)count, out))
        return stop(in, "its shape (%zu, %zu) is too large for memory", of->shape[0], of->shape[1]);
    return true;
}

/* Determines which of the readable types an array has. */
static bool find_type(cursor *in, const layout *from, saddle_npy_header *out)
{
    static const char *const readable[] = {
        [SADDLE_NPY_F8] = "f8", [SADDLE_NPY_F4] = "f4", [SADDLE_NPY_I8] = "i8",
        [SADDLE_NPY_I4] = "i4", [SADDLE_NPY_I2] = "i2", [SADDLE_NPY_I1] = "i1",
        [SADDLE_NPY_U8] = "u8", [SADDLE_NPY_U4] = "u4", [SADDLE_NPY_U2] = "u2",
        [SADDLE_NPY_U1] = "u1", [SADDLE_NPY_B1] = "b1"};
    if (in->letters) {
        out->type = from->type[1] == 'S' ? SADDLE_NPY_BYTES : SADDLE_NPY_TEXT;
        return (strncmp(from->type, "<U", 2) == 0 || strncmp(from->type, "|S", 2) == 0) &&
                       from->rank == 0
                   ? true
                   : stop(in, "it is not text; save numpy.array('...')");
    }
    out->swapped = from->type[0] == '>';
    for (size_t type = 0; type < sizeof readable / sizeof *readable; type++)
        if (strcmp(from->type + (from->type[0] != '\0'), readable[type]) == 0) {
            out->type = (saddle_npy_type)type;
            return true;
        }
    return stop(in,
                "its entries are of type '%s', not float64, float32, integers or bool; "
                "save it with .astype('<f8')",
                from->type);
}

/* Selects an array as the wanted one. */
static bool choose(cursor *in, saddle_npy_header *out, const layout *from, uint64_t offset)
{
    if (!find_type(in, from, out) || !layout_bytes(in, from, &out->bytes))
        return false;
    out->rank = from->rank;
    out->shape[0] = from->shape[0];
    out->shape[1] = from->shape[1];
    out->count = from->shape[0] * from->shape[1];
    out->offset = offset;
    return true;
}

/* ---------------------------------------------------------------- the dictionary */

/* Parses "('x', '<f8', (3,))". */
static bool read_field(cursor *in, char name[SADDLE_NPY_NAME_SIZE], layout *out)
{
    *out = single;
    if (!accept(in, '('))
        return malformed(in);
    if (!read_string(in, name, SADDLE_NPY_NAME_SIZE))
        return false;
    if (!accept(in, ','))
        return malformed(in);
    if (!read_string(in, out->type, sizeof out->type))
        return false;
    if (accept(in, ',') && !read_shape(in, out))
        return false;
    return accept(in, ')') ? true : malformed(in);
}

/* Parses the fields of a record; finds the wanted one and adds up the sizes of all. */
static bool read_record(cursor *in, saddle_npy_header *out, const char *wanted)
{
    bool found = false;
    bool comma = true;
    out->total = 0;
    while (!accept(in, ']')) {
        char name[SADDLE_NPY_NAME_SIZE];
        layout field;
        uint64_t bytes = 0;
        if (!comma)
            return malformed(in);
        if (!read_field(in, name, &field) || !layout_bytes(in, &field, &bytes))
            return false;
        if (!found && wanted != NULL && strcmp(name, wanted) == 0) {
            if (!choose(in, out, &field, out->total))
                return false;
            found = true;
        }
        if (__builtin_add_overflow(out->total, bytes, &out->total))
            return stop(in, "its fields are too large for memory");
        comma = accept(in, ',');
    }
    return found ? true : stop(in, "the record has no such field; name one of its fields");
}

/* The dictionary as far as it has been parsed. */
typedef struct dictionary {
    layout whole;
    bool record;
    bool fortran;
    unsigned seen; /* one bit per key */
} dictionary;

/* Parses the value of one key; each key must occur once. */
static bool read_item(cursor *in, dictionary *all, saddle_npy_header *out, const char *wanted)
{
    static const char *const known[] = {"descr", "fortran_order", "shape"};
    char key[16];
    if (!read_string(in, key, sizeof key) || !accept(in, ':'))
        return malformed(in);
    unsigned which = 0;
    while (which < 3 && strcmp(key, known[which]) != 0)
        which++;
    if (which == 3 || (all->seen & 1u << which) != 0)
        return malformed(in);
    all->seen |= 1u << which;
    switch (which) {
    case 0:
        all->record = accept(in, '[');
        return all->record ? read_record(in, out, wanted)
                           : read_string(in, all->whole.type, sizeof all->whole.type);
    case 1:
        all->fortran = accept_word(in, "True");
        return all->fortran || accept_word(in, "False") ? true : malformed(in);
    default:
        return read_shape(in, &all->whole);
    }
}

bool saddle_npy_parse(saddle_npy_header *out, const char *text, const char *name, bool letters,
                      saddle_error *why)
{
    cursor in = {.at = text, .letters = letters, .why = why};
    dictionary all = {.whole = single};
    memset(out, 0, sizeof *out);
    if (!accept(&in, '{'))
        return malformed(&in);
    while (!accept(&in, '}')) {
        if (!read_item(&in, &all, out, name))
            return false;
        if (!accept(&in, ',') && *in.at != '}')
            return malformed(&in);
    }
    if (all.seen != 7 || in.at[strspn(in.at, " \t\r\n")] != '\0')
        return malformed(&in);
    if (all.record && all.whole.rank > 0)
        return stop(&in, "it is an array of records; save one record or a plain array");
    if (all.record)
        return true;
    if (!choose(&in, out, &all.whole, 0))
        return false;
    out->fortran = all.fortran && out->rank == 2;
    out->total = out->bytes;
    return true;
}
