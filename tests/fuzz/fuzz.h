/*
 * What the fuzz targets share: bytes as a file, and properties of every failure and every data set that
 * a reader returns. A violated property ends the program, which the fuzzer detects.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <saddle/data.h>

#include "data/readers.h"

/* libFuzzer's entry point. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Ends the program with a message unless `kept`. */
void fuzz_promise(bool kept, const char *what);

/* Returns the path of a file in memory with these bytes; valid until the next call. */
const char *fuzz_file(const uint8_t *bytes, size_t size);

/* Checks a failed call: nothing was created, and one printable line gives the reason. */
void fuzz_check_refusal(saddle_status status, const void *out, const saddle_error *error);

/* A reader of text. */
typedef saddle_status fuzz_reader(saddle_dataset **out, const char *name, const saddle_input *in,
                                  const saddle_data_options *options, saddle_error *error);
/* Reads the bytes after the first one, which selects options. */
void fuzz_read(fuzz_reader *read, const uint8_t *bytes, size_t size);

/* Checks a data set that was created: sizes agree, columns ascend, numbers are finite. */
void fuzz_check_dataset(const saddle_dataset *data);
