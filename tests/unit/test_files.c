/* Files that appear completely or not at all, files that a run has locked, and what is synced to the disk when. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/memory.h"
#include "files/file.h"
#include "files/npz.h"
#include "support.h"

static saddle_error error;

/* ---- intercepted calls ------------------------------------------------------------------------ */

/* Pretends that the file system has no unnamed files. */
static atomic_bool only_names;
/* Records "sync PATH" and "rename PATH", in order, if not NULL. */
static FILE *calls;

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    mode_t mode = makes ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (atomic_load(&only_names) && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int fsync(int file)
{
    char place[64];
    char path[4096] = "";
    snprintf(place, sizeof place, "/proc/self/fd/%d", file);
    if (calls != NULL && readlink(place, path, sizeof path - 1) > 0)
        fprintf(calls, "sync %s\n", strncmp(path + 1, "#", 1) == 0 ? "file" : path);
    return (int)syscall(SYS_fsync, file);
}

int rename(const char *from, const char *to)
{
    if (calls != NULL)
        fprintf(calls, "rename %s\n", to);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* ---- helpers ---------------------------------------------------------------------------------- */

static size_t entries(const char *directory)
{
    size_t count = 0;
    DIR *stream = opendir(directory);
    ck_assert_ptr_nonnull(stream);
    for (const struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream))
        count += entry->d_name[0] != '.';
    closedir(stream);
    return count;
}

static void write_text(FILE *f, const void *text)
{
    fputs(text, f);
}

static saddle_status save(const char *path, const char *text)
{
    return saddle_output_save(path, write_text, text, &error);
}

static mode_t mode_of(const char *path)
{
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    return status.st_mode & 07777;
}

/* ---- files that appear completely ------------------------------------------------------------- */

/* _i: whether the file system has no unnamed files. */
TEST_LOOP(planted_links_are_not_followed, 0, 2)
{
    saddle_test_enter_directory();
    atomic_store(&only_names, _i == 1);
    char planted[64];
    saddle_test_write("victim", "precious");
    snprintf(planted, sizeof planted, "new.%ld.tmp", (long)getpid());
    ck_assert_int_eq(symlink("victim", planted), 0);
    ck_assert_int_eq(symlink("victim", "new.tmp"), 0);
    assert_ok(save("new", "model"), error);
    assert_file_holds("victim", "precious");
    assert_file_holds("new", "model");
    ck_assert_uint_eq(entries("."), 4);
}

enum { SAVES = 300, NUMBERS = 4000 };

static saddle_status save_numbers(double value)
{
    static const char path[] = "model.npz";
    double *number = saddle_alloc(NUMBERS, sizeof *number);
    for (size_t k = 0; k < NUMBERS; k++)
        number[k] = value;
    const saddle_array array = {"xbar", SADDLE_ARRAY_REAL, 1, {NUMBERS, 0}, .data = number};
    saddle_error own;
    saddle_status status = saddle_npz_write(path, &array, 1, &own);
    saddle_free(number);
    return status;
}

/* Returns whether the model can be read and comes from a single save. */
static bool is_whole(void)
{
    double *number = NULL;
    size_t rank;
    size_t shape[2];
    saddle_error own;
    bool whole = saddle_numpy_read("model.npz", "xbar", &number, &rank, shape, &own) == SADDLE_OK &&
                 shape[0] == NUMBERS;
    for (size_t k = 1; whole && k < NUMBERS; k++)
        whole = number[k] == number[0];
    saddle_free(number);
    return whole;
}

static atomic_int lost;

static void *save_often(void *first)
{
    for (int k = 0; k < SAVES; k++)
        if (save_numbers(*(const double *)first + k) != SADDLE_OK)
            atomic_fetch_add(&lost, 1);
    return NULL;
}

TEST_LOOP(two_threads_save_one_file, 0, 2)
{
    saddle_test_enter_directory();
    atomic_store(&only_names, _i == 1);
    double first[2] = {1.0, 1e6};
    pthread_t thread[2];
    ck_assert_int_eq(save_numbers(0.0), SADDLE_OK);
    for (int k = 0; k < 2; k++)
        ck_assert_int_eq(pthread_create(&thread[k], NULL, save_often, &first[k]), 0);
    int torn = 0;
    for (int k = 0; k < SAVES; k++)
        torn += !is_whole();
    for (int k = 0; k < 2; k++)
        pthread_join(thread[k], NULL);
    ck_assert_int_eq(torn, 0);
    ck_assert_int_eq(atomic_load(&lost), 0);
    ck_assert(is_whole());
    ck_assert_uint_eq(entries("."), 1);
}

/* Saves as process 1 of its own namespace, as in a container. Exits with 77 where namespaces are not available. */
static void save_as_process_one(double first)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        _exit(77);
    pid_t one = fork();
    if (one == 0) {
        int bad = getpid() == 1 ? 0 : 2;
        for (int k = 0; bad == 0 && k < SAVES; k++)
            bad = save_numbers(first + k) != SADDLE_OK;
        _exit(bad);
    }
    int ending = 0;
    _exit(one > 0 && waitpid(one, &ending, 0) == one && WIFEXITED(ending) ? WEXITSTATUS(ending)
                                                                          : 3);
}

TEST_LOOP(processes_of_one_number_save_one_file, 0, 2)
{
    saddle_test_enter_directory();
    atomic_store(&only_names, _i == 1);
    pid_t child[2];
    ck_assert_int_eq(save_numbers(0.0), SADDLE_OK);
    for (int k = 0; k < 2; k++) {
        child[k] = fork();
        if (child[k] == 0)
            save_as_process_one(k == 0 ? 1.0 : 1e6);
    }
    int torn = 0;
    for (int k = 0; k < SAVES; k++)
        torn += !is_whole();
    bool skipped = false;
    for (int k = 0; k < 2; k++) {
        int ending = 0;
        ck_assert_int_eq(waitpid(child[k], &ending, 0), child[k]);
        ck_assert(WIFEXITED(ending));
        skipped = skipped || WEXITSTATUS(ending) == 77;
        ck_assert(WEXITSTATUS(ending) == 77 || WEXITSTATUS(ending) == 0);
    }
    ck_assert_int_eq(torn, 0);
    ck_assert_uint_eq(entries("."), 1);
    if (skipped)
        saddle_test_skip("namespaces of processes are not allowed here");
}

TEST_LOOP(links_and_permissions_stay, 0, 2)
{
    saddle_test_enter_directory();
    atomic_store(&only_names, _i == 1);
    umask(027);
    assert_ok(save("new", "1"), error);
    ck_assert_int_eq(mode_of("new"), 0640);
    saddle_test_write("private", "old");
    ck_assert_int_eq(chmod("private", 0600), 0);
    ck_assert_int_eq(symlink("private", "link"), 0);
    assert_ok(save("link", "2"), error);
    assert_file_holds("private", "2");
    ck_assert_int_eq(mode_of("private"), 0600);
    struct stat status;
    ck_assert(lstat("link", &status) == 0 && S_ISLNK(status.st_mode));
    saddle_test_write("open", "old");
    ck_assert_int_eq(chmod("open", 0666), 0);
    assert_ok(save("open", "3"), error);
    ck_assert_int_eq(mode_of("open"), 0666);
}

TEST(what_cannot_be_replaced_is_refused)
{
    saddle_test_enter_directory();
    ck_assert_int_eq(symlink("nowhere", "dead"), 0);
    ck_assert_int_eq(symlink("itself", "itself"), 0);
    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    assert_refused(save("dead", ""), error, SADDLE_BAD_INPUT,
                   "cannot write 'dead': it is a link to a file that does not exist");
    assert_refused(save("itself", ""), error, SADDLE_BAD_INPUT, "cannot write 'itself': ");
    assert_refused(save("pipe", ""), error, SADDLE_BAD_INPUT, "it is a device or a pipe");
    assert_refused(save("/dev/null", ""), error, SADDLE_BAD_INPUT, "it is a device or a pipe");
    assert_refused(save(".", ""), error, SADDLE_BAD_INPUT, "it is a directory");
    assert_refused(save("none/file", ""), error, SADDLE_BAD_INPUT,
                   "cannot write 'none/file': No such file or directory");
    ck_assert_uint_eq(entries("."), 3);
    if (geteuid() == 0)
        return; /* root may do everything */
    saddle_test_write("kept", "old");
    ck_assert_int_eq(chmod("kept", 0400), 0);
    assert_refused(save("kept", ""), error, SADDLE_BAD_INPUT, "Permission denied");
    ck_assert_int_eq(chmod("kept", 0600), 0);
    ck_assert_int_eq(chmod(".", 0500), 0);
    assert_refused(save("kept", ""), error, SADDLE_BAD_INPUT, "Permission denied");
    ck_assert_int_eq(chmod(".", 0700), 0);
    assert_file_holds("kept", "old");
}

TEST_LOOP(names_may_be_as_long_as_names_can_be, 0, 2)
{
    saddle_test_enter_directory();
    atomic_store(&only_names, _i == 1);
    char name[256];
    memset(name, 'n', sizeof name);
    name[255] = '\0';
    assert_ok(save(name, "long"), error);
    assert_file_holds(name, "long");
    ck_assert_uint_eq(entries("."), 1);
}

/* A process that is killed while it writes leaves the old file and nothing else. */
TEST(a_kill_leaves_nothing_behind)
{
    saddle_test_enter_directory();
    struct stat status;
    int probe = open(".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (probe < 0) {
        saddle_test_skip("this file system has no unnamed files");
        return;
    }
    ck_assert_int_eq(fstat(probe, &status), 0);
    close(probe);
    saddle_test_write("kept", "old");
    pid_t child = fork();
    if (child == 0) {
        saddle_output out;
        if (saddle_output_open(&out, "kept", &error) != SADDLE_OK)
            _exit(1);
        fputs("half of it", out.stream);
        fflush(out.stream);
        kill(getpid(), SIGKILL);
    }
    int ending = 0;
    ck_assert_int_eq(waitpid(child, &ending, 0), child);
    ck_assert(WIFSIGNALED(ending));
    assert_file_holds("kept", "old");
    ck_assert_uint_eq(entries("."), 1);
}

/* ---- what is on the disk ---------------------------------------------------------------------- */

/* Starts recording calls; end_recording() returns them, and the caller frees them. */
static char *recorded;
static size_t recorded_bytes;

static void begin_recording(void)
{
    calls = open_memstream(&recorded, &recorded_bytes);
    ck_assert_ptr_nonnull(calls);
}

static char *end_recording(void)
{
    FILE *ended = calls;
    calls = NULL;
    ck_assert_int_eq(fclose(ended), 0);
    return recorded;
}

/* Returns the directory of the test as the kernel names it. */
static const char *here(void)
{
    static char path[4096];
    ck_assert_ptr_nonnull(getcwd(path, sizeof path));
    return path;
}

TEST_LOOP(a_file_is_on_the_disk_before_its_name, 0, 2)
{
    saddle_test_enter_directory();
    atomic_store(&only_names, _i == 1);
    begin_recording();
    assert_ok(save("new", "1"), error);
    char *order = end_recording();
    char *lines[4] = {strtok(order, "\n"), strtok(NULL, "\n"), strtok(NULL, "\n"),
                      strtok(NULL, "\n")};
    char directory[5000];
    snprintf(directory, sizeof directory, "sync %s", here());
    ck_assert_ptr_nonnull(lines[2]);
    ck_assert_ptr_null(lines[3]);
    ck_assert_int_eq(strncmp(lines[0], "sync ", 5), 0);
    ck_assert_str_ne(lines[0], directory);
    ck_assert_str_eq(lines[1], "rename new");
    ck_assert_str_eq(lines[2], directory);
    free(order);
}

TEST(a_new_directory_is_on_the_disk)
{
    saddle_test_enter_directory();
    static const char *const path[] = {"one", "./two/", "three//"};
    char expected[5000];
    snprintf(expected, sizeof expected, "sync %s\n", here());
    for (size_t k = 0; k < sizeof path / sizeof *path; k++) {
        begin_recording();
        assert_ok(saddle_make_directory("test", path[k], &error), error);
        char *order = end_recording();
        ck_assert_str_eq(order, expected);
        free(order);
    }
    begin_recording();
    assert_ok(saddle_make_directory("test", "one", &error), error);
    char *order = end_recording();
    ck_assert_str_eq(order, "");
    free(order);
}

/* ---- files that grow -------------------------------------------------------------------------- */

TEST(two_writers_of_lines_are_kept_apart)
{
    saddle_test_enter_directory();
    saddle_lines lines;
    saddle_lines second;
    assert_ok(saddle_lines_open(&lines, "trace", "--trace", false, &error), error);
    fputs("row\n", lines.stream);
    assert_ok(saddle_lines_flush(&lines, "the trace", &error), error);
    ck_assert_int_eq(link("trace", "other-name"), 0);
    assert_refused(saddle_lines_open(&second, "other-name", "--trace", false, &error), error,
                   SADDLE_BAD_INPUT, "--trace: 'other-name' is being written by another run");
    assert_refused(saddle_lines_open(&second, "trace", "--output", true, &error), error,
                   SADDLE_BAD_INPUT, "--output: 'trace' is being written by another run");
    assert_file_holds("trace", "row\n");
    pid_t child = fork();
    if (child == 0) {
        saddle_lines own;
        char holder[64];
        snprintf(holder, sizeof holder, ", process %ld;", (long)getppid());
        bool refused =
            saddle_lines_open(&own, "trace", "--trace", false, &error) == SADDLE_BAD_INPUT;
        /* The kernel need not reveal which process it is. */
        bool named = strstr(error.message, holder) != NULL ||
                     strstr(error.message, "by another run;") != NULL;
        _exit(refused && named ? 0 : 1);
    }
    int ending = 0;
    ck_assert_int_eq(waitpid(child, &ending, 0), child);
    ck_assert_int_eq(ending, 0);
    assert_ok(saddle_lines_close(&lines, "the trace", &error), error);
    assert_ok(saddle_lines_open(&second, "trace", "--trace", false, &error), error);
    assert_ok(saddle_lines_close(&second, "the trace", &error), error);
    assert_file_holds("trace", "");
}

/* A file that a run writes is not replaced, whether the run began before the output or after it. */
TEST(what_a_run_writes_is_not_replaced)
{
    saddle_test_enter_directory();
    saddle_lines lines;
    saddle_output early;
    saddle_output late;
    assert_ok(saddle_output_open(&early, "trace", &error), error);
    fputs("model", early.stream);
    assert_ok(saddle_lines_open(&lines, "trace", "--trace", false, &error), error);
    fputs("row\n", lines.stream);
    assert_ok(saddle_lines_flush(&lines, "the trace", &error), error);
    ck_assert_int_eq(symlink("trace", "link"), 0);
    assert_refused(saddle_output_open(&late, "link", &error), error, SADDLE_BAD_INPUT,
                   "'link' is being written by another run");
    assert_refused(saddle_output_commit(&early, &error), error, SADDLE_BAD_INPUT,
                   "'trace' is being written by another run");
    assert_file_holds("trace", "row\n");
    assert_ok(saddle_lines_close(&lines, "the trace", &error), error);
    assert_ok(saddle_output_open(&late, "link", &error), error);
    assert_ok(saddle_output_commit(&late, &error), error);
    assert_file_holds("trace", "");
}

TEST(lines_do_not_wait_for_a_reader)
{
    saddle_test_enter_directory();
    saddle_lines lines;
    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    ck_assert_int_eq(symlink("nowhere", "dead"), 0);
    assert_refused(
        saddle_lines_open(&lines, "pipe", "--trace", false, &error), error, SADDLE_BAD_INPUT,
        "--trace: cannot write 'pipe': it is a pipe that no process reads; start its reader");
    assert_refused(saddle_lines_open(&lines, "dead", "--trace", false, &error), error,
                   SADDLE_BAD_INPUT, "it is a link to a file that does not exist");
    int reader = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ck_assert_int_ge(reader, 0);
    assert_ok(saddle_lines_open(&lines, "pipe", "--trace", false, &error), error);
    /* From here on, writes to a full pipe block. */
    ck_assert_int_eq(fcntl(fileno(lines.stream), F_GETFL) & O_NONBLOCK, 0);
    fputs("row\n", lines.stream);
    assert_ok(saddle_lines_close(&lines, "the trace", &error), error);
    char got[16];
    ck_assert_int_eq(read(reader, got, sizeof got), 4);
    close(reader);
    assert_ok(saddle_lines_open(&lines, "/dev/null", "trace", false, &error), error);
    assert_ok(saddle_lines_close(&lines, "the trace", &error), error);
}
