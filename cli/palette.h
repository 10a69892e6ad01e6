/*
 * How algorithms look: the same name, colour and dashes in every picture, on paper and on screen.
 *
 * The colours are Okabe and Ito's and Tol's, which readers with any of the common kinds of colour
 * blindness can tell apart. Thirteen are more than colours alone can carry: those that come close to
 * each other differ in their dashes.
 */
#ifndef SADDLE_CLI_PALETTE_H
#define SADDLE_CLI_PALETTE_H

#include <stddef.h>

typedef struct palette_entry {
    const char *algorithm; /* its name for --algorithm */
    const char *title;     /* as papers write it: "PRECISION+" */
    const char *light;     /* "#rrggbb" on a white ground */
    const char *dark;      /* on a black one */
    const char *dashes;    /* lengths of strokes and gaps, "6 3"; "" for a solid line */
} palette_entry;

/* The entry of an algorithm; for one that is not known, or NULL, the look at `place`. */
const palette_entry *palette_find(const char *algorithm, size_t place);
/* Where several curves are one algorithm's, with different settings, they share its colour, each paler
 * than the one before and with dashes of its own. `repeat`: how many came before. */
const char *palette_dashes(const palette_entry *entry, size_t repeat);
/* How much of the colour is left, of 100; the rest is ground. */
int palette_strength(size_t repeat);
/* All entries. */
const palette_entry *palette_list(size_t *count);

#endif
