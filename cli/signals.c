/* Ctrl-C and termination: the first asks a run to end, the second ends the program. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "core/text.h"

static volatile sig_atomic_t interrupted;

/* What is said on termination. Written before the signals are caught. */
static char termination_message[1024];

static void on_signal(int number)
{
    int before = errno;
    interrupted = 1;
    /* There is nobody to tell when stderr is gone, too. */
    if (number == SIGTERM &&
        write(STDERR_FILENO, termination_message, strlen(termination_message)) < 0)
        errno = before;
    errno = before;
}

void cli_say_on_termination(const char *text)
{
    static const char begin[] = "saddle: ";
    char *to = termination_message;
    *to = '\0';
    if (*text == '\0')
        return;
    memcpy(to, begin, sizeof begin);
    to += sizeof begin - 1;
    to += saddle_show_text(to, sizeof termination_message - sizeof begin, text);
    memcpy(to, "\n", 2);
}

const volatile sig_atomic_t *cli_catch_interrupts(void)
{
    /* Also where the caller had them ignored, as shells do for background jobs: a signal that is
     * sent to a run on purpose shall end it. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* A terminal that goes away ends a run, too, unless nohup says that it shall not. */
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
    return &interrupted;
}

void cli_interrupt(void)
{
    interrupted = 1;
}
