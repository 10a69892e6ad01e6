#include "cli.h"
static int run(const cli_arguments *a)
{
    (void)a;
    return 0;
}
const cli_command cli_watch = {
    .name = "watch", .operands = "TRACE", .least = 1, .most = 1, .summary = "w", .run = run};
