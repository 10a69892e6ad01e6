/* How messages are compressed: the text of the option compress, and the mixing rate that goes with it. */
#pragma once

#include "core/base.h"

typedef enum saddle_compression_kind {
    SADDLE_COMPRESS_NONE,     /* doubles */
    SADDLE_COMPRESS_QUANTIZE, /* a few bits for each entry, relative to the largest */
    SADDLE_COMPRESS_TOP,      /* the largest entries */
    SADDLE_COMPRESS_RANDOM    /* random entries */
} saddle_compression_kind;

typedef struct saddle_compression {
    saddle_compression_kind kind;
    unsigned bits;   /* of an entry: quantize */
    double fraction; /* of the entries: top and random */
    double rate; /* the mixing rate gamma, in (0, 1]; NaN: saddle_compression_rate() chooses it */
    bool backs_off; /* agents lower their rates when replicas fall behind: it was not given */
} saddle_compression;

/* Parses the option compress; with a `rate` of NaN, saddle_compression_rate() chooses the rate. */
saddle_status saddle_compression_read(saddle_compression *out, const char *text, double rate,
                                      saddle_error *error);

/* Returns the mixing rate: the given one, or one that suits the share of the entries that is sent, with or
 * without tracked sums that make up for what is not sent. */
double saddle_compression_rate(const saddle_compression *rule, double share, bool sums);
