/*
 * Dividing rows at random into parts of given shares, with each label in the same shares: rows are
 * shuffled, sorted by label with a stable sort, and dealt out so that after every row each part has its
 * share to within one row.
 */
#include "core/compare.h"
#include "core/rng.h"
#include "data/dataset.h"

/* A row with its sort keys. */
typedef struct labelled {
    double label;
    size_t place; /* position after shuffling */
    size_t row;
} labelled;

static int by_label(const void *a, const void *b)
{
    const labelled *left = a;
    const labelled *right = b;
    if (left->label != right->label)
        return left->label < right->label ? -1 : 1;
    return (left->place > right->place) - (left->place < right->place);
}

/* Lists the rows in random order, grouped by label if `stratify` is set. `order` is scratch memory. */
static void order_rows(const saddle_division *how, const double *label, size_t rows, size_t *order,
                       labelled *all)
{
    saddle_rng rng;
    saddle_rng_init(&rng, how->seed, SADDLE_RNG_PARTITION, 1, 0);
    for (size_t k = 0; k < rows; k++)
        order[k] = k;
    saddle_rng_shuffle(&rng, order, rows);
    for (size_t k = 0; k < rows; k++)
        all[k] = (labelled){how->stratify ? label[order[k]] : 0.0, k, order[k]};
    qsort(all, rows, sizeof *all, by_label);
}

/* Returns the part that is furthest behind its share of `dealt` rows. */
static size_t neediest(const double *share, const size_t *size, size_t parts, size_t dealt)
{
    size_t best = 0;
    double most = -1.0;
    for (size_t p = 0; p < parts; p++) {
        double lack = share[p] * (double)(dealt + 1) - (double)size[p];
        if (lack > most) {
            most = lack;
            best = p;
        }
    }
    return best;
}

/* Lists the rows of part 0, then those of part 1, and so on. */
static void sort_by_part(const labelled *all, const size_t *part, size_t *size, size_t rows,
                         size_t parts, size_t *row)
{
    size_t at = 0;
    /* size[p] is first where part p begins, then where it ends, and finally its size. */
    for (size_t p = 0; p < parts; p++) {
        size_t own = size[p];
        size[p] = at;
        at += own;
    }
    for (size_t k = 0; k < rows; k++)
        row[size[part[k]]++] = all[k].row;
    for (size_t p = parts; p > 1; p--)
        size[p - 1] -= size[p - 2];
}

/* Sorts every part's rows; fails if a part has none. `row` lists the parts' rows one after another. */
static saddle_status sort_parts(const saddle_division *how, const char *name, size_t rows,
                                size_t *row, const size_t *size, saddle_error *error)
{
    if (how->parts > rows)
        return saddle_refuse(error, "'%s' has %zu row%s, too few for %zu parts; make fewer parts",
                             name, rows, SADDLE_PLURAL(rows), how->parts);
    for (size_t p = 0; p < how->parts; p++) {
        if (size[p] == 0)
            return saddle_refuse(error,
                                 "a part with the share %g gets none of the %zu row%s of '%s'; "
                                 "give it a larger share, or make fewer parts",
                                 how->share[p], rows, SADDLE_PLURAL(rows), name);
        qsort(row, size[p], sizeof *row, saddle_compare_sizes);
        row += size[p];
    }
    return SADDLE_OK;
}

/* Refuses shares that are not positive or do not sum to 1, but for rounding errors. */
static saddle_status check_shares(const saddle_division *how, saddle_error *error)
{
    double sum = 0.0;
    if (how->parts == 0)
        return saddle_refuse(error, "--parts: give at least 1 (got 0)");
    for (size_t p = 0; p < how->parts; p++) {
        if (!(how->share[p] > 0.0))
            return saddle_refuse(error, "share: give part %zu a share above 0 (got %g)", p,
                                 how->share[p]);
        sum += how->share[p];
    }
    if (fabs(sum - 1.0) <= 1e-9)
        return SADDLE_OK;
    return saddle_refuse(
        error, "share: the shares of the parts sum to %.10g; give shares that sum to 1", sum);
}

saddle_status saddle_split_rows(const saddle_division *how, const char *name, const double *label,
                                size_t rows, size_t *row, size_t *size, saddle_error *error)
{
    SADDLE_TRY(check_shares(how, error));
    SADDLE_OWNED labelled *all = saddle_alloc(rows, sizeof *all);
    SADDLE_OWNED size_t *part = saddle_alloc(rows, sizeof *part);
    if (all == NULL || part == NULL)
        return saddle_no_memory(error, "the parts");
    memset(size, 0, how->parts * sizeof *size);
    order_rows(how, label, rows, part, all);
    for (size_t k = 0; k < rows; k++) {
        part[k] = neediest(how->share, size, how->parts, k);
        size[part[k]]++;
    }
    sort_by_part(all, part, size, rows, how->parts, row);
    return sort_parts(how, name, rows, row, size, error);
}

saddle_status saddle_dataset_split(const saddle_dataset *data, const double *share, size_t parts,
                                   bool stratify, uint64_t seed, saddle_dataset **out,
                                   saddle_error *error)
{
    SADDLE_REQUIRE(error, data, share, out);
    const saddle_division how = {share, parts, stratify, seed};
    for (size_t p = 0; p < parts; p++)
        out[p] = NULL;
    SADDLE_OWNED size_t *size = saddle_alloc(parts, sizeof *size);
    SADDLE_OWNED size_t *row = saddle_alloc(data->rows, sizeof *row);
    saddle_status status =
        size != NULL && row != NULL
            ? saddle_split_rows(&how, data->name, data->label, data->rows, row, size, error)
            : saddle_no_memory(error, "the parts");
    for (size_t p = 0, first = 0; status == SADDLE_OK && p < parts; first += size[p++])
        status = saddle_dataset_select(&out[p], data, row + first, size[p], error);
    for (size_t p = 0; p < parts; p++)
        saddle_dataset_finish(&out[p], status);
    return status;
}
