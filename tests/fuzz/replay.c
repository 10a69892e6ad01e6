/*
 * Runs a fuzz target on files without libFuzzer, so that every build with tests tries the inputs that are kept:
 * replay_TARGET DIRECTORY..., where a directory may be missing.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

/* libFuzzer's limit. */
#define MOST_BYTES 8192

static size_t replay(const char *directory, const char *name)
{
    /* A block of the exact size, so that AddressSanitizer sees what reads beyond it. */
    static uint8_t all[MOST_BYTES];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    fuzz_promise(file != NULL, path);
    size_t size = fread(all, 1, sizeof all, file);
    fclose(file);
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    fuzz_promise(bytes != NULL, "there is memory");
    for (size_t k = 0; k < size; k++)
        bytes[k] = all[k];
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return 1;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    for (int a = 1; a < argc; a++) {
        DIR *directory = opendir(argv[a]);
        if (directory == NULL)
            continue;
        for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
            if (entry->d_name[0] != '.')
                count += replay(argv[a], entry->d_name);
        closedir(directory);
    }
    printf("checks: %zu passed, %d failed\n", count, count == 0);
    return count == 0;
}
