/*
 * IDX, the format of MNIST: two zero bytes, a type, a rank, one size per dimension (32 bits, big-endian),
 * then the entries. Images are unsigned bytes of rank 2 or more and become byte / 255; labels are unsigned
 * bytes of rank 1 in a separate file. Either file may be gzip'd.
 *
 * Sizes are compared with the length of the file before memory is allocated, so a header that announces
 * billions of images does no harm.
 */
#include <unistd.h>

#include "data/dataset.h"
#include "data/readers.h"
#include "files/file.h"

#define UNSIGNED_BYTE 0x08
#define MOST_RANK 8

struct header {
    unsigned rank;
    size_t rows;     /* the first size */
    size_t features; /* the product of the others */
    const unsigned char *entry;
};

bool saddle_looks_like_idx(const saddle_input *in)
{
    const unsigned char *magic = (const unsigned char *)in->bytes;
    return in->size >= 4 && magic[0] == 0 && magic[1] == 0 && magic[2] >= 0x08 &&
           magic[2] <= 0x0e && magic[3] >= 1;
}

/* Reads the sizes. The caller has checked that the header is complete. */
static saddle_status read_sizes(const saddle_input *in, struct header *header, saddle_error *error)
{
    header->rows = 0;
    header->features = 1;
    for (unsigned k = 0; k < header->rank; k++) {
        const unsigned char *word = (const unsigned char *)in->bytes + 4 + 4 * (size_t)k;
        size_t size =
            (size_t)word[0] << 24 | (size_t)word[1] << 16 | (size_t)word[2] << 8 | (size_t)word[3];
        if (size == 0)
            return saddle_refuse(error, "'%s': size %u is 0; it must be positive", in->path, k + 1);
        if (k == 0)
            header->rows = size;
        else if (size > UINT32_MAX / header->features)
            return saddle_refuse(error, "'%s': an image has more than %lu pixels, the maximum",
                                 in->path, (unsigned long)UINT32_MAX);
        else
            header->features *= size;
    }
    return SADDLE_OK;
}

/* Checks that there are as many entries as the header says and nothing after them. */
static saddle_status check_length(const saddle_input *in, struct header *header,
                                  saddle_error *error)
{
    size_t begin = 4 + 4 * (size_t)header->rank;
    header->entry = (const unsigned char *)in->bytes + begin;
    /* Both factors are below 2^32, so the product does not overflow. */
    uint64_t wanted = (uint64_t)header->rows * header->features;
    if (in->size - begin < wanted)
        return saddle_refuse(
            error,
            "'%s' is cut short: %zu bytes after the header, %llu announced; download it again",
            in->path, in->size - begin, (unsigned long long)wanted);
    if (in->size - begin > wanted)
        return saddle_refuse(
            error, "'%s' has more than the %llu bytes that its header announces; download it again",
            in->path, (unsigned long long)wanted);
    return SADDLE_OK;
}

static saddle_status read_header(const saddle_input *in, struct header *header, saddle_error *error)
{
    const unsigned char *magic = (const unsigned char *)in->bytes;
    if (in->size < 4)
        return saddle_refuse(error, "'%s' is cut short; download it again", in->path);
    if (magic[0] != 0 || magic[1] != 0)
        return saddle_refuse(error, "'%s' is not an IDX file: it starts with %02x %02x, not 00 00",
                             in->path, magic[0], magic[1]);
    if (magic[2] != UNSIGNED_BYTE)
        return saddle_refuse(error,
                             "'%s' has IDX type 0x%02x; only unsigned bytes (0x08) can be read",
                             in->path, magic[2]);
    if (magic[3] < 1 || magic[3] > MOST_RANK)
        return saddle_refuse(error, "'%s' has IDX rank %u; it must be 1 to %d", in->path, magic[3],
                             MOST_RANK);
    header->rank = magic[3];
    if (in->size < 4 + 4 * (size_t)header->rank)
        return saddle_refuse(error, "'%s' is cut short; download it again", in->path);
    SADDLE_TRY(read_sizes(in, header, error));
    return check_length(in, header, error);
}

/* Writes the entries, divided by a number, to `out`. */
static void read_entries(const struct header *header, double divisor, double *out)
{
    for (size_t k = 0; k < header->rows * header->features; k++)
        out[k] = (double)header->entry[k] / divisor;
}

/* Returns the file at `path`, or the same with or without .gz; takes ownership of `path`. NULL when
 * neither exists. */
static char *existing_twin(char *path)
{
    if (path == NULL || access(path, F_OK) == 0)
        return path;
    size_t length = strlen(path);
    char *twin = saddle_has_ending(path, ".gz") ? saddle_format("%.*s", (int)(length - 3), path)
                                                : saddle_format("%s.gz", path);
    if (twin != NULL && access(twin, F_OK) != 0) {
        saddle_free(twin);
        twin = NULL;
    }
    saddle_free(path);
    return twin;
}

saddle_status saddle_idx_find_labels(const char *images, char **out, saddle_error *error)
{
    const char *slash = strrchr(images, '/');
    const char *file = slash != NULL ? slash + 1 : images;
    const char *word = strstr(file, "images");
    *out = NULL;
    if (word == NULL)
        return saddle_refuse(error,
                             "no labels for '%s': its name contains no 'images' to replace by "
                             "'labels'; give the label file's path, or none",
                             images);
    const char *rest = word + strlen("images");
    bool ranked = strncmp(rest, "-idx", 4) == 0 && rest[4] != '\0';
    char *path = saddle_format("%.*slabels%s%s", (int)(word - images), images,
                               ranked ? "-idx1" : "", ranked ? rest + 5 : rest);
    SADDLE_TRY(saddle_check_memory(path, "a file name", error));
    if (access(path, F_OK) != 0)
        saddle_refuse(error,
                      "no labels for '%s': found no '%s', with or without .gz; put it there, or "
                      "give the label file's path, or none",
                      images, path);
    *out = existing_twin(path);
    return *out != NULL ? SADDLE_OK : SADDLE_BAD_INPUT;
}

static saddle_status read_labels(const saddle_input *images, const saddle_data_options *options,
                                 saddle_dataset *data, saddle_error *error)
{
    SADDLE_OWNED char *found = NULL;
    SADDLE_OWNED_BY(saddle_input_close) saddle_input in = {0};
    struct header header = {0};
    if (options->labels != NULL && strcmp(options->labels, "none") == 0)
        return SADDLE_OK;
    if (options->labels == NULL)
        SADDLE_TRY(saddle_idx_find_labels(images->path, &found, error));
    SADDLE_TRY(saddle_input_open(&in, found != NULL ? found : options->labels, error));
    SADDLE_TRY(read_header(&in, &header, error));
    if (header.rank != 1)
        return saddle_refuse(error, "'%s' has IDX rank %u; a label file has rank 1", in.path,
                             header.rank);
    if (header.rows != data->rows)
        return saddle_refuse(error,
                             "'%s' has %zu label%s but '%s' has %zu image%s; give matching files",
                             in.path, header.rows, SADDLE_PLURAL(header.rows), images->path,
                             data->rows, SADDLE_PLURAL(data->rows));
    read_entries(&header, 1.0, data->label);
    return SADDLE_OK;
}

saddle_status saddle_read_idx(saddle_dataset **out, const char *name, const saddle_input *in,
                              const saddle_data_options *options, saddle_error *error)
{
    *out = NULL;
    struct header header = {0};
    SADDLE_TRY(read_header(in, &header, error));
    if (header.rank < 2)
        return saddle_refuse(error,
                             "'%s' has IDX rank 1, so it holds labels; give the file of the images",
                             in->path);
    SADDLE_TRY(
        saddle_dataset_new(out, name, header.rows, header.features, SADDLE_DENSE, false, error));
    read_entries(&header, 255.0, (*out)->dense);
    saddle_dataset_count_nonzeros(*out);
    return saddle_dataset_finish(out, read_labels(in, options, *out, error));
}
