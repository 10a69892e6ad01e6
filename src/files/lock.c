/* Locks on files and directories that a run writes over time, so that two runs cannot write to the same one. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "files/file.h"

/* Parses a line of /proc/locks, such as "1: FLOCK  ADVISORY  WRITE 7181 fd:01:31872 0 EOF". Returns the
 * process that holds this lock on `file`; 0 when the line is about another file or the process is
 * unknown. */
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

/* Returns the process that holds a lock on a file according to the kernel; 0 when unknown. */
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

/* Takes a lock of type `way`, LOCK_EX or LOCK_SH; fails if another run's lock excludes it. */
static saddle_status lock(int descriptor, int way, const char *path, const char *option,
                          saddle_error *error)
{
    int result;
    do
        result = flock(descriptor, way | LOCK_NB);
    while (result != 0 && errno == EINTR);
    /* Continue without a lock on a file system that does not support locks. */
    if (result == 0 || errno != EWOULDBLOCK)
        return SADDLE_OK;
    char who[64] = "another run";
    long holder = holder_of(descriptor);
    if (holder == (long)getpid())
        saddle_snprintf(who, sizeof who, "another run of this process");
    else if (holder > 0)
        saddle_snprintf(who, sizeof who, "another run, process %ld", holder);
    return saddle_refuse(
        error, "%s%s'%s' is being written by %s; wait until it has ended, or give another path",
        option, *option != '\0' ? ": " : "", path, who);
}

saddle_status saddle_lock_file(int descriptor, const char *path, const char *option,
                               saddle_error *error)
{
    return lock(descriptor, LOCK_EX, path, option, error);
}

saddle_status saddle_check_unlocked(const char *path, const char *option, saddle_error *error)
{
    /* A shared lock, so that two processes that check at the same time do not exclude each other. */
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0)
        return SADDLE_OK;
    struct stat status;
    bool regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    saddle_status found = regular ? lock(descriptor, LOCK_SH, path, option, error) : SADDLE_OK;
    close(descriptor);
    return found;
}

saddle_status saddle_lock_directory(DIR **out, const char *path, const char *option,
                                    saddle_error *error)
{
    *out = opendir(path);
    /* A directory that is writable but not readable cannot be locked. */
    return *out != NULL ? saddle_lock_file(dirfd(*out), path, option, error) : SADDLE_OK;
}

void saddle_unlock_directory(DIR *directory)
{
    if (directory != NULL)
        closedir(directory);
}
