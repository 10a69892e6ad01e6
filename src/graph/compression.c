#include "graph/compression.h"

#include "core/registry.h"

enum { LEAST_BITS = 2, MOST_BITS = 16 };

typedef struct compression_form {
    const char *synopsis; /* first: it is found by it */
    saddle_compression_kind kind;
} compression_form;

#define FORM(...)             \
    &(const compression_form) \
    {                         \
        __VA_ARGS__           \
    }
static const compression_form *const forms[] = {
    FORM("none", SADDLE_COMPRESS_NONE),
    FORM("quantize:BITS", SADDLE_COMPRESS_QUANTIZE),
    FORM("top:FRACTION", SADDLE_COMPRESS_TOP),
    FORM("random:FRACTION", SADDLE_COMPRESS_RANDOM),
};

/* The factor of the rate for random entries if no sums make up for what is not sent: DPPSP does not converge at
 * half the rate that suits the others. */
#define UNTRACKED 0.25

/* About the largest rates that were found to work on quadratic and a9a, on er:0.6, ring and path:
 * docs/networks-results.md. */
double saddle_compression_rate(const saddle_compression *rule, double share, bool sums)
{
    static const double by_bits[] = {0.7, 0.9};
    if (!isnan(rule->rate))
        return rule->rate;
    switch (rule->kind) {
    case SADDLE_COMPRESS_QUANTIZE:
        return rule->bits < 4 ? by_bits[rule->bits - LEAST_BITS] : 1.0;
    case SADDLE_COMPRESS_TOP:
        return fmin(sqrt(share), 5.0 * share);
    case SADDLE_COMPRESS_RANDOM:
        return fmin(1.0, 2.0 * share) * (sums ? 1.0 : UNTRACKED);
    default:
        return 1.0;
    }
}

static saddle_status read_number(saddle_compression *out, const char *text, saddle_error *error)
{
    uint64_t bits;
    if (out->kind == SADDLE_COMPRESS_QUANTIZE) {
        if (!saddle_parse_integer(text, &bits) || bits < LEAST_BITS || bits > MOST_BITS)
            return saddle_refuse(error, "BITS must be a whole number from %d to %d (got '%s')",
                                 LEAST_BITS, MOST_BITS, SADDLE_EXCERPT(text));
        out->bits = (unsigned)bits;
        return SADDLE_OK;
    }
    if (!saddle_parse_real(text, &out->fraction) || !(out->fraction > 0.0) ||
        !(out->fraction <= 1.0))
        return saddle_refuse(error,
                             "FRACTION, the share of the entries that is sent, must be above 0 and "
                             "at most 1 (got '%s')",
                             SADDLE_EXCERPT(text));
    return SADDLE_OK;
}

saddle_status saddle_compression_read(saddle_compression *out, const char *text, double rate,
                                      saddle_error *error)
{
    const void *found;
    SADDLE_TRY(saddle_registry_find(&found, "compression", text, forms,
                                    sizeof forms / sizeof *forms, error));
    const compression_form *form = found;
    const char *colon = strchr(text, ':');
    bool plain = form->kind == SADDLE_COMPRESS_NONE;
    *out = (saddle_compression){.kind = form->kind, .rate = rate, .backs_off = isnan(rate)};
    if (plain != (colon == NULL))
        return saddle_refuse(error, "'%s' is not of the form %s", SADDLE_EXCERPT(text),
                             form->synopsis);
    return colon != NULL ? read_number(out, colon + 1, error) : SADDLE_OK;
}
