#include "files/program.h"
#include "core/base.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

int saddle_start_program(pid_t *child, const char *const *argv, int input, int output, int errors)
{
    const int from[] = {input, output, errors};
    posix_spawn_file_actions_t actions;
    int reason = posix_spawn_file_actions_init(&actions);
    if (reason != 0)
        return reason;
    for (int k = 0; reason == 0 && k < 3; k++)
        reason = posix_spawn_file_actions_adddup2(&actions, from[k], k);
    /* posix_spawnp() does not change the arguments; its type is older than const. */
    union {
        const char *const *given;
        char *const *wanted;
    } arguments = {.given = argv};
    if (reason == 0)
        reason = posix_spawnp(child, argv[0], &actions, NULL, arguments.wanted, environ);
    posix_spawn_file_actions_destroy(&actions);
    return reason;
}

int saddle_wait_for_program(pid_t child)
{
    int ending = 0;
    while (waitpid(child, &ending, 0) < 0 && errno == EINTR)
        ;
    return ending;
}
