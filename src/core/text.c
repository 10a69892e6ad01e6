#include "core/text.h"

#include <stdio.h>
#include <string.h>

saddle_excerpt saddle_excerpt_of(const char *at, const char *end)
{
    saddle_excerpt excerpt;
    size_t length = end != NULL ? (size_t)(end - at) : strlen(at);
    size_t room = sizeof excerpt.text - 4;
    size_t kept = length < room ? length : room;
    for (size_t k = 0; k < kept; k++)
        excerpt.text[k] = (char)(at[k] >= ' ' && at[k] <= '~' ? at[k] : '?');
    snprintf(excerpt.text + kept, sizeof excerpt.text - kept, "%s", length > room ? "..." : "");
    return excerpt;
}

bool saddle_split(saddle_fields *out, const char *text)
{
    size_t length = strlen(text);
    out->count = 0;
    if (length >= sizeof out->buffer)
        return false;
    memcpy(out->buffer, text, length + 1);
    char *rest = out->buffer;
    for (;;) {
        if (out->count == SADDLE_MAX_FIELDS)
            return false;
        out->field[out->count++] = rest;
        char *colon = strchr(rest, ':');
        if (colon == NULL)
            return true;
        *colon = '\0';
        rest = colon + 1;
    }
}

/* Levenshtein distance of words of up to 63 characters; longer ones are far from everything. */
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
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
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

const char *saddle_closest(const char *word, const char *const *candidate, size_t count)
{
    const char *best = NULL;
    size_t distance = strlen(word) / 3 + 2;
    for (size_t i = 0; i < count; i++) {
        size_t d = edit_distance(word, candidate[i]);
        if (d < distance) {
            distance = d;
            best = candidate[i];
        }
    }
    return best;
}
