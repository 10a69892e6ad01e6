/* Holding a file or a directory that is written over time, so that two runs cannot write to one. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/status.h"
#include "files/file.h"

/* The process that holds a file, as the kernel lists it; 0: it is not known. */
static long holder_of(int descriptor)
{
    struct stat status;
    char line[256];
    long found = 0;
    FILE *locks = fopen("/proc/locks", "re");
    if (locks == NULL)
        return 0;
    bool known = fstat(descriptor, &status) == 0;
    while (known && found == 0 && fgets(line, sizeof line, locks) != NULL) {
        long process;
        unsigned device[2];
        uint64_t file;
        if (sscanf(line, "%*d: FLOCK %*s WRITE %ld %x:%x:%" SCNu64, &process, &device[0],
                   &device[1], &file) == 4 &&
            device[0] == major(status.st_dev) && device[1] == minor(status.st_dev) &&
            file == status.st_ino && process > 0)
            found = process;
    }
    fclose(locks);
    return found;
}

saddle_status saddle_hold(int descriptor, const char *path, const char *option, saddle_error *error)
{
    int result;
    do
        result = flock(descriptor, LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR);
    /* A file system that knows no locks is taken as it is. */
    if (result == 0 || errno != EWOULDBLOCK)
        return SADDLE_OK;
    char who[64] = "another run";
    long holder = holder_of(descriptor);
    if (holder == (long)getpid())
        snprintf(who, sizeof who, "another run of this process");
    else if (holder > 0)
        snprintf(who, sizeof who, "another run, process %ld", holder);
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "%s: '%s' is being written by %s; wait for its end, or give another path",
                       option, path, who);
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
