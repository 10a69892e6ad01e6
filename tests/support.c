#include "support.h"

#include <errno.h>
#include <ftw.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/print.h"

/* ctest's SKIP_RETURN_CODE. */
#define SKIPPED 77

const char *saddle_test_data(const char *file)
{
    static char path[4096];
    const char *directory = getenv("SADDLE_DATA");
    if (directory == NULL)
        return NULL;
    saddle_snprintf(path, sizeof path, "%s/%s", directory, file);
    return access(path, R_OK) == 0 ? path : NULL;
}

/* Shared with the processes that Check runs tests in. */
static int *skipped;

bool test_long(void)
{
    return getenv("SADDLE_TEST_LONG") != NULL;
}

bool test_chosen(size_t row, size_t column)
{
    return column % 3 == row % 3 || test_long();
}

void saddle_test_skip(const char *why)
{
    saddle_fprintf(stdout, "skip: %s\n", why);
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
    saddle_snprintf(directory, sizeof directory, "%s", path);
}

const char *saddle_test_directory(void)
{
    if (directory[0] == '\0') {
        const char *base = getenv("TMPDIR");
        saddle_snprintf(directory, sizeof directory, "%s/saddle-test-XXXXXX",
                        base != NULL ? base : "/tmp");
        if (mkdtemp(directory) == NULL)
            ck_abort_msg("cannot make a directory for the test");
        directory_owner = getpid();
        atexit(remove_directory);
    }
    return directory;
}

void saddle_test_enter_directory(void)
{
    ck_assert_int_eq(chdir(saddle_test_directory()), 0);
}

void saddle_test_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

void assert_file_holds(const char *path, const char *expected)
{
    char text[256] = "";
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "'%s' is not there", path);
    size_t count = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    ck_assert_uint_eq(count, strlen(expected));
    ck_assert_str_eq(text, expected);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
}

/* Writes the charmap of ASCII, which is all that the locale needs. */
static void write_characters(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        abort();
    fputs("<code_set_name> ASCII\n<mb_cur_min> 1\n<mb_cur_max> 1\n<escape_char> /\nCHARMAP\n",
          file);
    for (unsigned c = 0; c < 128; c++)
        saddle_fprintf(file, "<U%04X> /x%02x\n", c, c);
    fputs("END CHARMAP\n", file);
    if (fclose(file) != 0)
        abort();
}

bool saddle_test_take_comma(void)
{
    char place[] = "/tmp/saddle-locale-XXXXXX";
    char path[sizeof place + 16];
    char command[256];
    if (mkdtemp(place) == NULL)
        return false;
    saddle_snprintf(path, sizeof path, "%s/comma", place);
    write_text(path, "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\n"
                     "END LC_NUMERIC\n");
    saddle_snprintf(path, sizeof path, "%s/ascii", place);
    write_characters(path);
    saddle_snprintf(command, sizeof command,
                    "cd %s && localedef -c -i ./comma -f ./ascii ./xx_XX >/dev/null 2>&1", place);
    setenv("LOCPATH", place, 1);
    bool taken = system(command) >= 0 && setlocale(LC_ALL, "xx_XX") != NULL &&
                 strcmp(localeconv()->decimal_point, ",") == 0;
    /* The loaded locale stays in memory. */
    nftw(place, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return taken;
}

/* The only case of all tests; constructors call this before main() runs. */
static TCase *all_tests(void)
{
    static TCase *tests;
    if (tests == NULL) {
        /* ctest sets the time limits: how long a test takes depends on how busy the machine is. */
        setenv("CK_DEFAULT_TIMEOUT", "600", 0);
        setenv("CK_TIMEOUT_MULTIPLIER", "10", 0);
        tests = tcase_create("all");
    }
    return tests;
}

void test_add(const TTest *test, int first, int end)
{
    tcase_add_loop_test(all_tests(), test, first, end);
}

void test_add_fixture(bool every, void (*before)(void), void (*after)(void))
{
    if (every)
        tcase_add_checked_fixture(all_tests(), before, after);
    else
        tcase_add_unchecked_fixture(all_tests(), before, after);
}

int main(void)
{
    if (getenv("SADDLE_TEST_COMMA") != NULL && !saddle_test_take_comma()) {
        saddle_fprintf(stdout, "skip: no locale with a decimal comma can be made here\n");
        return SKIPPED;
    }
    skipped =
        mmap(NULL, sizeof *skipped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (skipped == MAP_FAILED)
        return EXIT_FAILURE;
    Suite *suite = suite_create(program_invocation_short_name);
    suite_add_tcase(suite, all_tests());
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    int run = srunner_ntests_run(runner);
    srunner_free(runner);
    saddle_fprintf(stdout, "checks: %d passed, %d failed\n", run - failed - *skipped, failed);
    if (failed > 0 || run == 0)
        return EXIT_FAILURE;
    return run == *skipped ? SKIPPED : EXIT_SUCCESS;
}
