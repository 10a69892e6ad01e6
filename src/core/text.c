#include "core/base.h"

uint32_t saddle_next_letter(const char **at, const char *end)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *byte = (const unsigned char *)*at;
    unsigned more = byte[0] >= 0xF0 ? 3 : byte[0] >= 0xE0 ? 2 : byte[0] >= 0xC0 ? 1 : 0;
    uint32_t letter = more == 0 ? byte[0] : byte[0] & (0x3Fu >> more);
    unsigned k = 1;
    while (k <= more && *at + k < end && (byte[k] & 0xC0) == 0x80)
        letter = letter << 6 | (byte[k++] & 0x3F);
    bool surrogate = letter >= 0xD800 && letter < 0xE000;
    bool complete = k == more + 1 && byte[0] < 0xF8 && (byte[0] < 0x80 || more > 0);
    *at += complete ? k : 1;
    return complete && letter >= least[more] && letter <= 0x10FFFF && !surrogate ? letter : 0xFFFD;
}

bool saddle_is_invisible(uint32_t letter)
{
    return letter < ' ' || (letter >= 0x7F && letter < 0xA0) || letter == 0x061C ||
           letter == 0x200E || letter == 0x200F || (letter >= 0x2028 && letter <= 0x202E) ||
           (letter >= 0x2066 && letter <= 0x2069);
}

size_t saddle_show_letter(const char **at, const char *end, char out[SADDLE_SHOWN_SIZE])
{
    const char *from = *at;
    uint32_t letter = saddle_next_letter(at, end);
    size_t bytes = (size_t)(*at - from);
    bool invalid = letter == 0xFFFD && (bytes != 3 || memcmp(from, "\xEF\xBF\xBD", 3) != 0);
    if (invalid)
        *at = from + 1;
    if (invalid || (saddle_is_invisible(letter) && bytes == 1))
        return (size_t)saddle_snprintf(out, SADDLE_SHOWN_SIZE, "\\x%02x", (unsigned char)*from);
    if (saddle_is_invisible(letter))
        return (size_t)saddle_snprintf(out, SADDLE_SHOWN_SIZE, "\\u%04x", (unsigned)letter);
    memcpy(out, from, bytes);
    out[bytes] = '\0';
    return bytes;
}

void saddle_put_shown(FILE *out, const char *text)
{
    const char *end = text + strlen(text);
    while (text < end) {
        char shown[SADDLE_SHOWN_SIZE];
        saddle_show_letter(&text, end, shown);
        fputs(shown, out);
    }
}

size_t saddle_show_text(char *out, size_t size, const char *text)
{
    const char *end = text + strlen(text);
    size_t used = 0;
    *out = '\0';
    while (text < end) {
        char shown[SADDLE_SHOWN_SIZE];
        size_t bytes = saddle_show_letter(&text, end, shown);
        if (used + bytes >= size)
            break;
        memcpy(out + used, shown, bytes + 1);
        used += bytes;
    }
    return used;
}

saddle_excerpt saddle_excerpt_of(const char *at, const char *end)
{
    saddle_excerpt excerpt = {.text = ""};
    char *to = excerpt.text;
    const char *last = excerpt.text + sizeof excerpt.text - sizeof "...";
    end = end != NULL ? end : at + strlen(at);
    while (at < end) {
        char shown[SADDLE_SHOWN_SIZE];
        size_t bytes = saddle_show_letter(&at, end, shown);
        if (to + bytes > last) {
            memcpy(to, "...", sizeof "...");
            break;
        }
        memcpy(to, shown, bytes);
        to += bytes;
    }
    return excerpt;
}

void saddle_append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list list;
    va_start(list, format);
    saddle_vsnprintf(text + used, size - used, format, list);
    va_end(list);
}

bool saddle_split(saddle_fields *out, const char *text)
{
    size_t length = strlen(text);
    out->count = 0;
    if (length >= sizeof out->buffer)
        return false;
    memcpy(out->buffer, text, length + 1);
    for (char *rest = out->buffer; rest != NULL;) {
        if (out->count == SADDLE_MAX_FIELDS)
            return false;
        out->field[out->count++] = strsep(&rest, ":");
    }
    return true;
}

/* Folds a letter for comparison: lower case, and _ becomes -. */
static char folded(char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        return (char)(letter - 'A' + 'a');
    return letter == '_' ? '-' : letter;
}

/* Returns the Levenshtein distance of two words, ignoring case; words over 63 characters are far from all others. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[64];
    size_t la = strlen(a);
    size_t lb = strlen(b);
    if (la >= 64 || lb >= 64)
        return SIZE_MAX;
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t above = row[j];
            size_t best = diagonal + (folded(a[i - 1]) != folded(b[j - 1]));
            if (above + 1 < best)
                best = above + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = above;
            row[j] = best;
        }
    }
    return row[lb];
}

/* Returns whether a word abbreviates a name, except perhaps for its last letter, as iters does iterations. */
static bool abbreviates(const char *word, const char *name)
{
    size_t length = strlen(word);
    size_t alike = 0;
    while (alike < length && folded(word[alike]) == folded(name[alike]))
        alike++;
    return alike >= 3 && alike + 1 >= length;
}

const char *saddle_closest(const char *word, const char *const *candidate, size_t count)
{
    const char *best = NULL;
    size_t distance = strlen(word) / 3 + 2;
    for (size_t i = 0; i < count; i++) {
        size_t d = edit_distance(word, candidate[i]);
        if (d > 2 && abbreviates(word, candidate[i]))
            d = 2;
        /* Of names at the same distance, one that begins with the same letter: beta for bata, not data. */
        bool closer = d == distance && best != NULL && folded(*best) != folded(*word) &&
                      folded(*candidate[i]) == folded(*word);
        if (d < distance || closer) {
            distance = d;
            best = candidate[i];
        }
    }
    return best;
}

saddle_suggestion saddle_suggest(const char *word, const char *const *name, size_t count)
{
    saddle_suggestion suggestion = {.text = ""};
    const char *meant = saddle_closest(word, name, count);
    if (meant != NULL)
        saddle_snprintf(suggestion.text, sizeof suggestion.text, "; did you mean '%s'?", meant);
    return suggestion;
}

const char *saddle_next_item(const char **rest, size_t *length)
{
    const char *item = *rest;
    if (item == NULL)
        return NULL;
    *length = strcspn(item, ",");
    *rest = item[*length] == ',' ? item + *length + 1 : NULL;
    return item;
}

bool saddle_parse_integer_in(const char *text, size_t length, uint64_t *out)
{
    char number[32] = "";
    if (length >= sizeof number)
        return false;
    memcpy(number, text, length);
    return saddle_parse_integer(number, out);
}

bool saddle_mark_list(const char *text, size_t first, size_t count, bool *mark)
{
    size_t length;
    for (const char *item; (item = saddle_next_item(&text, &length)) != NULL;) {
        uint64_t value = 0;
        if (!saddle_parse_integer_in(item, length, &value) || value < first ||
            value - first >= count || mark[value - first])
            return false;
        mark[value - first] = true;
    }
    return true;
}

const char *saddle_bytes_text(double bytes, char out[SADDLE_REAL_SIZE])
{
    static const char *const unit[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    if (bytes < 1000.0) {
        saddle_snprintf(out, SADDLE_REAL_SIZE, "%.0f B", bytes);
        return out;
    }
    size_t k = 0;
    for (bytes /= 1000.0; bytes >= 999.5 && k + 1 < sizeof unit / sizeof *unit; k++)
        bytes /= 1000.0;
    int decimals = bytes < 9.995 ? 2 : bytes < 99.95 ? 1 : 0;
    saddle_snprintf(out, SADDLE_REAL_SIZE, "%.*f %s", decimals, bytes, unit[k]);
    return out;
}
