/* Ctrl-C and termination: the first signal asks a run to end, the second ends the program. */
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t interrupted;

/* The message on termination, written before the signals are caught. */
static char termination_message[1024];

static void on_signal(int number)
{
    int before = errno;
    interrupted = 1;
    /* If stderr is gone as well, nothing can be reported. */
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
    /* Catch them even if the caller ignored them, as shells do for background jobs: a signal
     * that is sent to a run on purpose must end it. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* Closing the terminal also ends a run, unless it was started with nohup. */
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
    return &interrupted;
}

void cli_interrupt(void)
{
    interrupted = 1;
}
