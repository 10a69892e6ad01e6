/*
 * What the fuzz targets share: bytes as a file, and what must hold of every refusal and every data
 * set that a reader makes. A broken promise ends the program, which is what a fuzzer looks for.
 */
#ifndef SADDLE_FUZZ_H
#define SADDLE_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include <saddle/data.h>

#include "data/input.h"

/* libFuzzer's entry. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* End the program, saying what was promised, unless `kept`. */
void fuzz_promise(bool kept, const char *what);

/* The path of a file in memory that holds the bytes; valid until the next call. */
const char *fuzz_file(const uint8_t *bytes, size_t size);

/* A failed call: nothing was made, and one printable line says why. */
void fuzz_check_refusal(saddle_status status, const void *out, const saddle_error *error);

/* A reader of text. */
typedef saddle_status fuzz_reader(saddle_dataset **out, const char *name, const saddle_input *in,
                                  const saddle_data_options *options, saddle_error *error);
/* Have it read the bytes after the first, which chooses among the options. */
void fuzz_read(fuzz_reader *read, const uint8_t *bytes, size_t size);

/* A data set that was made: sizes agree, columns ascend, numbers are finite. */
void fuzz_check_dataset(const saddle_dataset *data);

#endif
