#include "cli.h"
static int run(const cli_arguments *a)
{
    (void)a;
    return 0;
}
const cli_command cli_report = {.name = "report",
                                .operands = "TRACE...",
                                .least = 1,
                                .most = CLI_ANY,
                                .summary = "w",
                                .run = run};
