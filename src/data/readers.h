/* The readers of the file formats, and the position-carrying complaint they share. */
#ifndef SADDLE_DATA_READERS_H
#define SADDLE_DATA_READERS_H

#include <saddle/data.h>

#include "core/status.h"
#include "core/text.h"
#include "data/input.h"

/* What is wrong with a text file, and where. */
typedef struct saddle_parse_error {
    size_t line;   /* from 1; 0: nothing is wrong */
    size_t column; /* bytes from 1 */
    char text[256];
} saddle_parse_error;

/* Record what is wrong at `at` in the line that starts at `line`. Returns false, for callers. */
bool saddle_parse_fail(saddle_parse_error *failure, const char *line, const char *at,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Refuse the file for it: "FILE:LINE:COLUMN: what". */
static inline saddle_status saddle_parse_refuse(const saddle_parse_error *found, const char *path,
                                                saddle_error *error)
{
    return saddle_fail_at(error, path, found->line, found->column, "%s", found->text);
}

/* The text after a UTF-8 byte order mark, if there is one. */
const char *saddle_skip_mark(const saddle_input *in);
/* End of the line that starts at `at`: its newline, or `end`. */
const char *saddle_line_end(const char *at, const char *end);
/* The same without the blanks and the carriage return before it. */
const char *saddle_trim_end(const char *at, const char *line_end);
/* First character of [at, end) that is neither blank nor tab, or end. */
static inline const char *saddle_skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* Each fills a fresh *out, whose name is `name`; on failure *out is left NULL. */
saddle_status saddle_read_libsvm(saddle_dataset **out, const char *name, const saddle_input *in,
                                 const saddle_data_options *options, saddle_error *error);
saddle_status saddle_read_csv(saddle_dataset **out, const char *name, const saddle_input *in,
                              const saddle_data_options *options, saddle_error *error);
/* The columns of a CSV file as observed, not settled. */
saddle_status saddle_scan_csv(saddle_columns **out, const saddle_input *in,
                              const saddle_data_options *options, saddle_error *error);
saddle_status saddle_read_idx(saddle_dataset **out, const char *name, const saddle_input *in,
                              const saddle_data_options *options, saddle_error *error);

saddle_status saddle_read_numpy(saddle_dataset **out, const char *name, const saddle_input *in,
                                const saddle_data_options *options, saddle_error *error);

/* All files of a pattern, such as part-%d.csv, as one data set. */
saddle_status saddle_load_several(saddle_dataset **out, const char *pattern,
                                  const saddle_data_options *options, saddle_error *error);

/* The labels that go with a file of images: images-idx3 -> labels-idx1, packed or not, in the images'
 * directory. To be freed; NULL and a refusal when there are none. */
saddle_status saddle_idx_find_labels(const char *images, char **out, saddle_error *error);
/* Whether the input begins as an .npy or an .npz file does. */
bool saddle_looks_like_numpy(const saddle_input *in);
/* Whether the input begins as an IDX file does. */
bool saddle_looks_like_idx(const saddle_input *in);
/* Whether the first line of text holds separators and no INDEX:VALUE. */
bool saddle_looks_like_csv(const saddle_input *in);

#endif
