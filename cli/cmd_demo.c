/* `saddle demo`: repeats the paper's comparison on built-in data and writes a report. */
#include "cli.h"
#include "draw/trace_list.h"

typedef struct options {
    const char *output;
} options;

static const saddle_option *const own[] = {
    CLI_OPTION(TEXT, options, output, "output", "Demo", "saddle-demo", "DIR",
               "Directory for the traces and report.html. It is created if missing."),
    NULL};

/* Data of the size of a9a, 6512 samples at each of 5 agents, with the paper's network and steps. */
#define COMPARISON                                                                               \
    "--algorithms", "precision,precision+,prox-gt-sgda,prox-dsgda", "--problem",                 \
        "robust-logistic", "--data", "synthetic:32560", "--agents", "5", "--topology", "er:0.6", \
        "--nu", "0.1", "--eta", "0.1", "--iterations", "1500", "--trace-every", "5", "--levels", \
        "1e-1,1e-2,1e-4,1e-8,1e-16", "--seed", "1"

static int run(const cli_arguments *arguments)
{
    const char *directory = ((const options *)arguments->own)->output;
    char report[TRACE_PATH];
    saddle_snprintf(report, sizeof report, "%s/report.html", directory);
    const char *const words[] = {COMPARISON,    "--output", directory,
                                 "--overwrite", "--report", report};
    enum { WORDS = sizeof words / sizeof *words };
    char *argv[WORDS];
    for (size_t k = 0; k < WORDS; k++)
        argv[k] = (char *)(uintptr_t)words[k];
    cli_print("Four algorithms on logistic regression with adversarial sample weights, 5 agents:\n"
              "  saddle compare");
    for (size_t k = 0; k < WORDS; k++)
        cli_print(" %s", words[k]);
    cli_print("\n\n");
    saddle_error error;
    SADDLE_OWNED_BY(cli_release_arguments) cli_arguments comparison = {.command = &cli_compare};
    CLI_TRY(cli_read_arguments(&comparison, &cli_compare, WORDS, argv, &error));
    int code = cli_compare.run(&comparison);
    if (code == CLI_OK)
        cli_print("\nNext: open %s in a browser; `saddle plot %s`; `saddle help`\n", report,
                  directory);
    return code;
}

const cli_command cli_demo = {
    .name = "demo",
    .operands = "",
    .summary = "compare four algorithms on built-in data and make a report",
    .details = "Runs PRECISION, PRECISION+ and two baselines on the problem of the PRECISION "
               "paper, with built-in data and 5 agents. This takes a few seconds.",
    .own = own,
    .own_bytes = sizeof(options),
    .run = run,
};
