#include "support.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ctest's SKIP_RETURN_CODE. */
#define SKIPPED 77

const char *saddle_test_data(const char *file)
{
    static char path[4096];
    const char *directory = getenv("SADDLE_DATA");
    if (directory == NULL)
        return NULL;
    snprintf(path, sizeof path, "%s/%s", directory, file);
    return access(path, R_OK) == 0 ? path : NULL;
}

/* Shared with the processes that Check runs tests in. */
static int *skipped;

void saddle_test_skip(const char *why)
{
    printf("skip: %s\n", why);
    fflush(stdout);
    ++*skipped;
}

static char directory[4096];
static pid_t directory_owner;

static int remove_entry(const char *path, const struct stat *status, int flag, struct FTW *place)
{
    (void)status;
    (void)flag;
    (void)place;
    return remove(path);
}

static void remove_directory(void)
{
    if (directory[0] != '\0' && getpid() == directory_owner)
        nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void saddle_test_use_directory(const char *path)
{
    snprintf(directory, sizeof directory, "%s", path);
}

const char *saddle_test_directory(void)
{
    if (directory[0] == '\0') {
        const char *base = getenv("TMPDIR");
        snprintf(directory, sizeof directory, "%s/saddle-test-XXXXXX",
                 base != NULL ? base : "/tmp");
        if (mkdtemp(directory) == NULL)
            ck_abort_msg("cannot make a directory for the test");
        directory_owner = getpid();
        atexit(remove_directory);
    }
    return directory;
}

int main(void)
{
    skipped =
        mmap(NULL, sizeof *skipped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (skipped == MAP_FAILED)
        return EXIT_FAILURE;
    /* Time limits are ctest's: how long a test takes depends on how busy the machine is. */
    setenv("CK_DEFAULT_TIMEOUT", "300", 0);
    setenv("CK_TIMEOUT_MULTIPLIER", "10", 0);
    SRunner *runner = srunner_create(saddle_test_suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    int run = srunner_ntests_run(runner);
    srunner_free(runner);
    printf("checks: %d passed, %d failed\n", run - failed - *skipped, failed);
    if (failed > 0)
        return EXIT_FAILURE;
    return run > 0 && run == *skipped ? SKIPPED : EXIT_SUCCESS;
}
