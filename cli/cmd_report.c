/* `saddle report`: makes one HTML page about traces. */
#include "cli.h"
#include "draw/report.h"

typedef struct options {
    cli_common common;
    const char *output;
    const char *title; /* NULL: made from the first trace */
} options;

static const saddle_option *const own[] = {
    CLI_FILES(OUTPUT, options, output, "output", SADDLE_OUTPUT_HEADING, "report.html", "FILE",
              "File of the page; -o is the same."),
    CLI_OPTION(TEXT, options, title, "title", SADDLE_OUTPUT_HEADING, "", "TEXT",
               "Title of the page. Not given: problem and data of the first trace."),
    NULL};

static int run(const cli_arguments *arguments)
{
    saddle_error error;
    const options *chosen = arguments->own;
    const char *path = chosen->output;
    CLI_TRY(cli_check_trace_output(arguments, "--output", path, &error));
    CLI_TRY(report_of_files(arguments->operand, arguments->count,
                            (report_page){.title = chosen->title}, path, &error));
    cli_print("report written to %s\n", path);
    return CLI_OK;
}

const cli_command cli_report = {
    .name = "report",
    .operands = "TRACE|DIR...",
    .summary = "make an HTML page about traces: curves, costs, settings",
    .details = "The page is one self-contained file with curves, costs, network, settings and "
               "data; it needs only a browser and no internet connection. Curves can be shown "
               "against samples (IFO calls), rounds, bytes, seconds and iterations, and show their "
               "values when you point at them. In the picture of the network, agents are coloured "
               "by how far their x and y are from the mean. Traces that differ only in their seed "
               "become one curve with a band. A directory "
               "stands for all traces in it. Traces of different problems or data get separate "
               "sections.",
    .values = "@FILE",
    .own = own,
    .own_bytes = sizeof(options),
    .run = run,
};
