/* Holding a file or a directory that is written over time, so that two runs cannot write to one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/print.h"
#include "core/status.h"
#include "files/file.h"

/* Read a line of /proc/locks, such as "1: FLOCK  ADVISORY  WRITE 7181 fd:01:31872 0 EOF": the process that
 * holds the file of a device and inode in this way; 0: another one, or it is not known. */
static long read_lock(const char *line, const struct stat *file)
{
    const char *at = strstr(line, ": FLOCK");
    at = at != NULL ? strstr(at, " WRITE ") : NULL;
    if (at == NULL)
        return 0;
    char *end;
    long process = strtol(at + strlen(" WRITE "), &end, 10);
    unsigned long first = strtoul(end, &end, 16);
    unsigned long second = *end == ':' ? strtoul(end + 1, &end, 16) : 0;
    unsigned long long inode = *end == ':' ? strtoull(end + 1, &end, 10) : 0;
    bool same =
        first == major(file->st_dev) && second == minor(file->st_dev) && inode == file->st_ino;
    return same && process > 0 ? process : 0;
}

/* The process that holds a file, as the kernel lists it; 0: it is not known. */
static long holder_of(int descriptor)
{
    struct stat status;
    char line[256];
    long found = 0;
    FILE *locks = fstat(descriptor, &status) == 0 ? fopen("/proc/locks", "re") : NULL;
    while (locks != NULL && found == 0 && fgets(line, sizeof line, locks) != NULL)
        found = read_lock(line, &status);
    if (locks != NULL)
        fclose(locks);
    return found;
}

/* Lock an open file in a way, LOCK_EX or LOCK_SH, that another run may forbid. */
static saddle_status lock(int descriptor, int way, const char *path, const char *option,
                          saddle_error *error)
{
    int result;
    do
        result = flock(descriptor, way | LOCK_NB);
    while (result != 0 && errno == EINTR);
    /* A file system that knows no locks is taken as it is. */
    if (result == 0 || errno != EWOULDBLOCK)
        return SADDLE_OK;
    char who[64] = "another run";
    long holder = holder_of(descriptor);
    if (holder == (long)getpid())
        saddle_snprintf(who, sizeof who, "another run of this process");
    else if (holder > 0)
        saddle_snprintf(who, sizeof who, "another run, process %ld", holder);
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "%s%s'%s' is being written by %s; wait for its end, or give another path",
                       option, *option != '\0' ? ": " : "", path, who);
}

saddle_status saddle_hold(int descriptor, const char *path, const char *option, saddle_error *error)
{
    return lock(descriptor, LOCK_EX, path, option, error);
}

saddle_status saddle_check_held(const char *path, const char *option, saddle_error *error)
{
    /* Two that look at the same moment do not hold it against each other. */
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0)
        return SADDLE_OK;
    struct stat status;
    bool regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    saddle_status found = regular ? lock(descriptor, LOCK_SH, path, option, error) : SADDLE_OK;
    close(descriptor);
    return found;
}

saddle_status saddle_hold_directory(DIR **out, const char *path, const char *option,
                                    saddle_error *error)
{
    *out = opendir(path);
    /* One that may be written to but not read cannot be held. */
    return *out != NULL ? saddle_hold(dirfd(*out), path, option, error) : SADDLE_OK;
}

void saddle_let_go(DIR *held)
{
    if (held != NULL)
        closedir(held);
}
