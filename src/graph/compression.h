/* How messages are compressed: the text of the option compress, and the mixing rate that goes with it. */
#ifndef SADDLE_GRAPH_COMPRESSION_H
#define SADDLE_GRAPH_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include <saddle/status.h>

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
    double rate;     /* gamma, by which differences between replicas are weighed; in (0, 1] */
    bool backs_off;  /* agents lower their rates when replicas fall behind: it was chosen here */
} saddle_compression;

/* Read a text; `rate` NaN: chosen here. */
saddle_status saddle_compression_read(saddle_compression *out, const char *text, double rate,
                                      saddle_error *error);

/* gamma of an algorithm with or without sums that make up for what is not sent. */
double saddle_compression_rate(const saddle_compression *rule, bool sums);

#endif
