#include "engines/compressor.h"

#include "core/vector.h"

/* Scales below this count as 0: the levels per unit would overflow. */
#define LEAST_SCALE 1e-290
/* Adding it rounds a number of magnitude below 2^51 to the nearest whole one, ties to even; the lowest bits of the sum
 * are that number in two's complement. No conversion is undefined then, whatever the number. */
#define ROUNDER 0x1.8p52
/* Entries that are quantized at a time: whole words of any number of bits. */
#define BLOCK 64
/* Bits of a magnitude by which entries are counted in one pass of a selection. */
#define DIGIT 8
#define DIGITS (1 << DIGIT)

/* ---- bits ---------------------------------------------------------------------------------------- */

typedef struct bit_writer {
    unsigned char *at;
    uint64_t word;
    unsigned used; /* bits of the word */
} bit_writer;

static void put_bits(bit_writer *w, uint64_t value, unsigned bits)
{
    w->word |= value << w->used;
    w->used += bits;
    if (w->used >= 64) {
        memcpy(w->at, &w->word, sizeof w->word);
        w->at += sizeof w->word;
        w->used -= 64;
        w->word = w->used > 0 ? value >> (bits - w->used) : 0;
    }
}

static void end_bits(const bit_writer *w)
{
    memcpy(w->at, &w->word, (w->used + 7) / 8);
}

typedef struct bit_reader {
    const unsigned char *at;
    size_t left; /* bytes */
    uint64_t word;
    unsigned unread; /* bits of the word */
} bit_reader;

/* Returns the next `bits` < 64 bits. */
static uint64_t get_bits(bit_reader *r, unsigned bits)
{
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    uint64_t value = r->word;
    if (r->unread >= bits) {
        r->word >>= bits;
        r->unread -= bits;
        return value & mask;
    }
    size_t bytes = r->left < sizeof r->word ? r->left : sizeof r->word;
    unsigned had = r->unread;
    r->word = 0;
    memcpy(&r->word, r->at, bytes);
    r->at += bytes;
    r->left -= bytes;
    value |= r->word << had;
    r->unread = 64 - (bits - had);
    r->word >>= bits - had;
    return value & mask;
}

/* Returns the bits of an index below `length`. */
static unsigned index_bits(size_t length)
{
    unsigned bits = 0;
    while (((size_t)1 << bits) < length)
        bits++;
    return bits;
}

static size_t whole_bytes(size_t bits)
{
    return (bits + 7) / 8;
}

/* ---- quantize ------------------------------------------------------------------------------------- */

/* Returns the largest magnitude; NaN if an entry is not finite. */
SADDLE_KERNEL static double largest_magnitude(size_t count, const double *restrict v)
{
    double largest[SADDLE_LANES] = {0.0};
    double odd[SADDLE_LANES] = {0.0};
    SADDLE_FOR_LANES(count, {
        double size = fabs(v[k]);
        largest[l] = size > largest[l] ? size : largest[l];
        odd[l] += 0.0 * v[k];
    });
    double most = 0.0;
    for (size_t l = 0; l < SADDLE_LANES; l++)
        most = largest[l] > most ? largest[l] : most;
    return most + saddle_add_lanes(odd);
}

SADDLE_KERNEL static void find_levels(size_t count, double per_unit, const double *restrict v,
                                      double *restrict level)
{
    for (size_t k = 0; k < count; k++)
        level[k] = v[k] * per_unit + ROUNDER;
}

/* A function of its own, because gcc's analyzer takes the scale inside quantize() for uninitialized. */
static void put_real(double value, unsigned char *out)
{
    memcpy(out, &value, sizeof value);
}

static void quantize(unsigned bits, size_t length, const double *field, unsigned char *out)
{
    double levels = (double)((1U << (bits - 1)) - 1);
    double scale = largest_magnitude(length, field);
    if (scale < LEAST_SCALE)
        scale = 0.0;
    double per_unit = scale > 0.0 ? levels / scale : 0.0;
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    bit_writer w = {.at = out + sizeof scale};
    put_real(scale, out);
    for (size_t k = 0; k < length; k += BLOCK) {
        double level[BLOCK];
        uint64_t code[BLOCK];
        size_t count = length - k < BLOCK ? length - k : BLOCK;
        find_levels(count, per_unit, field + k, level);
        memcpy(code, level, count * sizeof *code);
        for (size_t j = 0; j < count; j++)
            put_bits(&w, code[j] & mask, bits);
    }
    end_bits(&w);
}

/* A code is a level in two's complement; where the scale is not finite, all entries become NaN. */
static void add_quantized(unsigned bits, size_t length, const unsigned char *packed, double *sum)
{
    double scale;
    memcpy(&scale, packed, sizeof scale);
    int half = 1 << (bits - 1);
    double unit = scale / (double)(half - 1);
    bit_reader r = {.at = packed + sizeof scale, .left = whole_bytes(length * bits)};
    if (scale == 0.0)
        return;
    for (size_t k = 0; k < length; k++) {
        int level = ((int)get_bits(&r, bits) ^ half) - half;
        sum[k] += (double)level * unit;
    }
}

/* ---- top ------------------------------------------------------------------------------------------ */

size_t saddle_compressed_entries(const saddle_compression *rule, size_t length)
{
    if (rule->kind != SADDLE_COMPRESS_TOP && rule->kind != SADDLE_COMPRESS_RANDOM)
        return length;
    double count = ceil(rule->fraction * (double)length);
    return count < (double)length ? (size_t)count : length;
}

/* Returns the magnitude as an integer of the same order; NaN counts as the largest. */
static uint64_t rank_of(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word & (UINT64_MAX >> 1);
}

/* A rank such that the k largest entries are those above it and the first *equal of those equal to it; 1 <= k <=
 * length. Found digit by digit from the highest. */
static uint64_t least_rank_sent(size_t length, const double *field, size_t k, size_t *equal)
{
    uint64_t rank = 0;
    for (int shift = 64 - DIGIT; shift >= 0; shift -= DIGIT) {
        size_t entries[DIGITS] = {0};
        for (size_t j = 0; j < length; j++) {
            uint64_t other = rank_of(field[j]) >> shift;
            if (other >> DIGIT == rank >> shift >> DIGIT)
                entries[other % DIGITS]++;
        }
        uint64_t digit = DIGITS - 1;
        while (entries[digit] < k)
            k -= entries[digit--];
        rank |= digit << shift;
        if (entries[digit] == k)
            break;
    }
    *equal = k;
    return rank;
}

static void send_top(size_t length, size_t k, const double *field, unsigned char *out)
{
    size_t equal;
    uint64_t least = least_rank_sent(length, field, k, &equal);
    unsigned bits = index_bits(length);
    bit_writer w = {.at = out + k * sizeof *field};
    for (size_t j = 0; j < length; j++) {
        uint64_t rank = rank_of(field[j]);
        if (rank < least || (rank == least && equal == 0))
            continue;
        equal -= rank == least;
        memcpy(out, &field[j], sizeof *field);
        out += sizeof *field;
        put_bits(&w, j, bits);
    }
    end_bits(&w);
}

static void add_top(size_t length, size_t k, const unsigned char *packed, double *sum)
{
    unsigned bits = index_bits(length);
    bit_reader r = {.at = packed + k * sizeof *sum, .left = whole_bytes(k * bits)};
    for (size_t n = 0; n < k; n++) {
        double value;
        memcpy(&value, packed + n * sizeof value, sizeof value);
        uint64_t index = get_bits(&r, bits);
        if (index < length) /* a sender may be hostile */
            sum[index] += value;
    }
}

/* ---- random --------------------------------------------------------------------------------------- */

/* Distinct indices below `length`: a random first one and a random step that has no factor in common with the
 * length. Each index comes with the same probability, and nothing is remembered. */
typedef struct index_walk {
    size_t at;
    size_t step;
    size_t length;
} index_walk;

static size_t common_factor(size_t a, size_t b)
{
    while (b > 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static index_walk begin_walk(saddle_rng *draw, size_t length)
{
    index_walk walk = {.at = (size_t)saddle_rng_below(draw, length), .length = length};
    do
        walk.step = (size_t)saddle_rng_below(draw, length);
    while (common_factor(walk.step, length) != 1);
    return walk;
}

static size_t next_index(index_walk *walk)
{
    size_t index = walk->at;
    size_t before_end = walk->length - walk->step;
    walk->at = index >= before_end ? index - before_end : index + walk->step;
    return index;
}

/* ---- a field -------------------------------------------------------------------------------------- */

/* Returns the bytes of a field if it is packed even where that makes it longer. */
static size_t packed_bytes(const saddle_compression *rule, size_t length)
{
    size_t k = saddle_compressed_entries(rule, length);
    switch (rule->kind) {
    case SADDLE_COMPRESS_QUANTIZE:
        return sizeof(double) + whole_bytes(length * rule->bits);
    case SADDLE_COMPRESS_TOP:
        return k * sizeof(double) + whole_bytes(k * index_bits(length));
    case SADDLE_COMPRESS_RANDOM:
        return k * sizeof(double);
    default:
        return length * sizeof(double);
    }
}

static bool is_packed(const saddle_compression *rule, size_t length)
{
    return packed_bytes(rule, length) < length * sizeof(double);
}

size_t saddle_compressed_bytes(const saddle_compression *rule, size_t length)
{
    return is_packed(rule, length) ? packed_bytes(rule, length) : length * sizeof(double);
}

size_t saddle_compressed_numbers(const saddle_compression *rule, size_t length)
{
    if (!is_packed(rule, length))
        return length;
    return rule->kind == SADDLE_COMPRESS_QUANTIZE ? 1 : saddle_compressed_entries(rule, length);
}

void saddle_compress(const saddle_compression *rule, saddle_rng *draw, size_t length,
                     const double *field, unsigned char *out)
{
    if (!is_packed(rule, length)) {
        memcpy(out, field, length * sizeof *field);
    } else if (rule->kind == SADDLE_COMPRESS_QUANTIZE) {
        quantize(rule->bits, length, field, out);
    } else if (rule->kind == SADDLE_COMPRESS_TOP) {
        send_top(length, saddle_compressed_entries(rule, length), field, out);
    } else {
        index_walk walk = begin_walk(draw, length);
        for (size_t n = 0; n < saddle_compressed_entries(rule, length); n++)
            memcpy(out + n * sizeof *field, &field[next_index(&walk)], sizeof *field);
    }
}

void saddle_compressed_add(const saddle_compression *rule, saddle_rng *draw, size_t length,
                           const unsigned char *packed, double *sum)
{
    bool whole = !is_packed(rule, length);
    if (!whole && rule->kind == SADDLE_COMPRESS_QUANTIZE) {
        add_quantized(rule->bits, length, packed, sum);
    } else if (!whole && rule->kind == SADDLE_COMPRESS_TOP) {
        add_top(length, saddle_compressed_entries(rule, length), packed, sum);
    } else {
        index_walk walk = {.step = 1, .length = length};
        if (!whole)
            walk = begin_walk(draw, length);
        size_t count = whole ? length : saddle_compressed_entries(rule, length);
        for (size_t n = 0; n < count; n++) {
            double value;
            memcpy(&value, packed + n * sizeof value, sizeof value);
            sum[next_index(&walk)] += value;
        }
    }
}
