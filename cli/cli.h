/*
 * What the files of the program share.
 *
 * The program is a thin layer over <saddle/saddle.h>: it reads arguments into settings, calls the
 * library, and prints. One table of commands (commands.c) and the tables of options drive parsing,
 * help, the manual page and completion, so that they cannot disagree.
 */
#ifndef SADDLE_CLI_H
#define SADDLE_CLI_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <saddle/lab.h>

#include "files/path_list.h"
#include "instance/plan.h"
#include "instance/plan_options.h"

#include "lab/number_text.h"

/* ---- exit codes ---------------------------------------------------------------------------- */

/* Code, meaning. The one list behind the enum, the help and the manual page. */
#define CLI_EXIT_LIST(X)                                                                      \
    X(CLI_OK, 0, "success")                                                                   \
    X(CLI_FAILED, 1, "failure: input or output, memory, or a numerical method")               \
    X(CLI_BAD_INPUT, 2, "wrong option, file, number, graph or size; unsupported combination") \
    X(CLI_DIVERGED, 3, "the run diverged: a value is not finite")                             \
    X(CLI_CHECK_FAILED, 4, "a self-check found the computation to be wrong")                  \
    X(CLI_STALLED, 5, "a process of an MPI job did not respond for --stall-seconds")          \
    X(CLI_UNMET, 6, "the run ended before the condition of --stop-when was met")              \
    X(CLI_INTERRUPTED, 130, "interrupted by Ctrl-C or a termination signal")

enum cli_exit {
#define CLI_EXIT_ENUM(name, code, text) name = (code),
    CLI_EXIT_LIST(CLI_EXIT_ENUM)
#undef CLI_EXIT_ENUM
};
_Static_assert(CLI_STALLED == SADDLE_EXIT_STALLED, "the library ends the job with this code");

/* The exit code that goes with a status. */
int cli_exit_code(saddle_status status);
/* Print the error's one line on stderr, dashes before the option that it is about, and return its exit
 * code. */
int cli_fail(const saddle_error *error);

/* ---- commands ------------------------------------------------------------------------------ */

/* For cli_command::most: any number. */
#define CLI_ANY SIZE_MAX

typedef struct cli_arguments cli_arguments;

/* A field of the plan or a group of them; a list ends with CLI_NO_FIELDS. */
typedef struct cli_fields {
    size_t offset;
    size_t bytes;
} cli_fields;

/* The fields plan.member, such as `network` or `start.seed`. The options of single problems count as
 * `problem.own`, those of single algorithms as `algorithm.own`. */
#define CLI_FIELDS(member)                                                   \
    {                                                                        \
        offsetof(saddle_plan, member), sizeof(((saddle_plan *)NULL)->member) \
    }
#define CLI_NO_FIELDS \
    {                 \
        0, 0          \
    }

/* One command. */
typedef struct cli_command {
    const char *name;            /* "run"; two words for one of a family, "data fetch" */
    const char *operands;        /* "TOPOLOGY"; in brackets when it may be left out; "" for none */
    size_t least, most;          /* how many operands there must be */
    const char *summary;         /* one line */
    const char *details;         /* a paragraph or more for the help, or NULL */
    const char *const *basics;   /* names of the options that --help shows; NULL: all of them */
    const char *const *examples; /* for --help; NULL-terminated, or NULL */
    const char *words; /* what the operand may be, for completion: "a|b|c", "@FILE" or NULL */
    const cli_fields *library;       /* fields of the plan whose options it takes; or NULL */
    const cli_fields *undecided;     /* those of them whose default does not hold here, or NULL */
    const saddle_option *const *own; /* options of its own; NULL-terminated, or NULL */
    size_t own_bytes;                /* of the struct that they fill */
    const saddle_option *joined; /* the one whose values, if it is repeated, are joined; or NULL */
    int (*run)(const cli_arguments *arguments); /* returns the exit code */
} cli_command;

/* All commands; `*count` receives their number. */
const cli_command *const *cli_commands(size_t *count);
/* The command that argv begins with; *used receives how many words its name takes. NULL: none. */
const cli_command *cli_find_command(int argc, char *const *argv, int *used);
/* Refuse argv[0], or argv[1] after the name of a family, and return the exit code. */
int cli_unknown_command(int argc, char *const *argv);
/* Whether some command is called "family SOMETHING". */
bool cli_is_family(const char *family);

extern const cli_command cli_demo, cli_run, cli_compare, cli_tune, cli_eval, cli_predict,
    cli_checkpoint, cli_plot, cli_watch, cli_report, cli_reproduce, cli_theory, cli_graph,
    cli_data_list, cli_data_info, cli_data_convert, cli_data_split, cli_data_generate,
    cli_data_fetch, cli_algorithms, cli_problems, cli_sets, cli_topologies, cli_check_grad,
    cli_completion, cli_man, cli_help;

/* ---- options ------------------------------------------------------------------------------- */

/* The fields of the plan that say how a data set is read. */
extern const cli_fields cli_data_fields[];
/* The basic options of commands that run algorithms. */
extern const char *const cli_run_basics[];

/* What the own options of several commands fill: the first member of a command's struct of options. */
typedef struct cli_common {
    const char *config; /* NULL: none */
    const char *report; /* NULL: none */
    bool quiet;
    bool json;
} cli_common;

/* Options that several commands have. */
extern const saddle_option cli_option_config, cli_option_quiet, cli_option_report, cli_option_json;

/* A field of a command's `options` whose text is mostly one of "a|b|c", which completion offers. */
#define CLI_OWN_OFFERED(field, list) SADDLE_OWN(options, field, RUN), .choices = (list)
/* What curves can be drawn over, and what can be drawn. */
#define CLI_AXES "samples|rounds|messages|bytes|seconds|iterations"
#define CLI_COLUMNS \
    "metric|loss|primal|x_stationarity|x_consensus|y_consensus|y_gap|stationarity|potential"

/* Whether a list of fields has the field at an offset of the plan. NULL: an empty list. */
bool cli_has_field(const cli_fields *list, size_t offset);
/* The same for the field of one of the library's options. */
bool cli_has_option(const cli_fields *list, const saddle_option *option);
/* Whether a command takes an option. */
bool cli_takes(const cli_command *command, const saddle_option *option);

/* All options of the library and the command's own. Free with saddle_settings_free(). */
saddle_status cli_settings(saddle_settings **out, const cli_command *command, saddle_error *error);
/* The kind of word that the value of an option is, "@FILE" or "a|b|c"; "": nothing is known. */
const char *cli_option_words(const saddle_option *option);

/* What the user said. */
struct cli_arguments {
    const cli_command *command;
    saddle_plan
        plan;     /* what was given of the library's options; its settings have the own ones, too */
    void *own;    /* the command's struct of options, filled in; owned */
    size_t count; /* of operands */
    const char **operand; /* the words are argv's; the list is owned */
    bool help;            /* asked for with --help or --help-all */
    bool help_all;        /* the latter */
};

/* Read what follows the command's name, and the configuration file. */
saddle_status cli_read_arguments(cli_arguments *out, const cli_command *command, int argc,
                                 char *const *argv, saddle_error *error);
/* Free what reading them made. */
void cli_release_arguments(cli_arguments *arguments);

/* Whether the user gave the option of a field of the plan, such as limits.iterations. */
#define CLI_GIVEN(plan, field) saddle_plan_given((plan), offsetof(saddle_plan, field))

/* Warn, one line each, about a column of the data with large values, and about options that were given but that
 * neither the problem nor any of the algorithms uses. */
void cli_warn_unused(const saddle_plan *plan, const saddle_instance *instance,
                     const saddle_algorithm *const *algorithm, size_t count);
/* Warn of options of reading data that the files of a data set have no use for. */
void cli_warn_unread(const saddle_plan *plan, const saddle_dataset *data);

/* Messages are about options of this command from now on. */
void cli_set_command(const cli_command *command);

/* ---- console ------------------------------------------------------------------------------- */

/* Make the standard descriptors safe to use and SIGPIPE harmless. */
void cli_console_open(void);
/* From now on print nothing: this process is one of several, and another one speaks. */
void cli_silence(void);
/* "saddle: ..." on stderr, one line. */
void cli_say(const char *format, ...) SADDLE_PRINTF(1, 2);
/* printf to standard output for readers, not for data: letters that act on a terminal, which names of files
 * and heads of traces may hold, are shown as \x1b or \u202e. So do all functions here. */
void cli_print(const char *format, ...) SADDLE_PRINTF(1, 2);
/* Send what was printed; false once stdout has failed. */
bool cli_flush(void);
/* Send what was printed; ask the run to end when nobody is left to print for. */
void cli_flush_or_stop(void);
/* Interrupt the work once nobody reads stdout any more, also while nothing is printed. */
void cli_stop_without_reader(void);
/* Whether stdout has failed because its reader has gone. */
bool cli_reader_gone(void);
/* Flush and turn a failed stdout into an exit code; to be called once, at the end. */
int cli_console_close(int code);
/* Columns of the terminal, 80 when it is none; between 40 and 120. */
int cli_width(int descriptor);
/* Print text wrapped at blanks, newlines kept, every line but the first indented; the first one
 * starts at column `column`. */
void cli_wrap(FILE *stream, const char *text, int column, int indent, int width);
/* "saddle: warning: ..." on stderr. */
void cli_warn(const char *format, ...) SADDLE_PRINTF(1, 2);
/* All warnings so far, as they were printed; `*count` receives their number. */
const char *const *cli_warnings(size_t *count);
/* Pass on a warning of the library; an option that it begins with gets its dashes. */
void cli_warn_of(const char *message);
/* A line that is rewritten in place on stderr; nothing when stderr is no terminal. */
void cli_progress(const char *format, ...) SADDLE_PRINTF(1, 2);
/* Remove the line. */
void cli_progress_clear(void);
/* Whether stderr is a terminal. */
bool cli_has_progress(void);

/* Room for a number as text. */
#define CLI_NUMBER NUMBER_TEXT
/* Seconds as "1.23 s", "2m 05s", "3h 20m". */
const char *cli_duration(double seconds, char out[CLI_NUMBER]);

/* A table with columns as wide as their widest cell. */
typedef struct cli_table cli_table;
/* One letter per column: l or r for its alignment. NULL when memory is short. */
cli_table *cli_table_create(const char *alignment);
/* Append a cell, row by row. */
void cli_table_add(cli_table *table, const char *format, ...) SADDLE_PRINTF(2, 3);
/* Append several cells, each a text. */
#define cli_table_words(table, ...) \
    cli_table_add_words((table), (const char *const[]){__VA_ARGS__, NULL})
void cli_table_add_words(cli_table *table, const char *const *word);
/* Print it indented by two blanks, the last column wrapped, and free it. */
void cli_table_print(cli_table *table);

/* ---- several processes --------------------------------------------------------------------- */

/* Join the other processes if the command line names an engine of several, before anything can fail;
 * all but one print nothing from then on. Fails in all of them alike, when they do not fit together. */
saddle_status cli_join_early(int argc, char *const *argv, saddle_error *error);
/* The same for an engine that a configuration file names. Warn of a job of several processes that
 * each do all of the work. */
saddle_status cli_join(const cli_arguments *arguments, saddle_error *error);
/* The processes that were joined; NULL: this one is alone. Borrowed. */
const saddle_world *cli_world(void);
/* Whether this process writes the files. */
bool cli_leads(void);
/* The status of the first process that failed, in all of them, with its message. What only the
 * leading process does ends with this, lest the others wait for ever. */
saddle_status cli_agree(saddle_status status, saddle_error *error);
/* Whether the flag is set in any process: they must stop together. */
bool cli_interrupted(const volatile sig_atomic_t *flag);
/* Leave the others, at the end of the program; `failed` says whether it was a bad one. */
void cli_leave(bool failed);

/* ---- help ---------------------------------------------------------------------------------- */

/* The overview: all commands. */
void cli_print_overview(FILE *stream);
/* Greets a user who gives no command, with three commands to begin with. */
void cli_print_greeting(void);
/* The commands of a family. */
void cli_print_family(const char *family);
/* The help of a command: of `arguments`, which say how much is wanted, and which problem and algorithm. */
int cli_print_help(const cli_arguments *arguments);
/* How long the first sentence of an option's help is, without its full stop. */
int cli_first_sentence(const saddle_option *option);
/* The heading of an option: "--nu STEP". */
void cli_option_heading(const saddle_option *option, char *out, size_t size);
/* Calls `heading` for every group of options and `visit` for each of its options. NULL for a command:
 * all options. */
void cli_walk_options(const saddle_settings *settings, const cli_command *command,
                      void (*heading)(const char *group),
                      void (*visit)(const cli_command *command, const saddle_option *option));
/* Its help, with its default if that holds: "Step in x. Default: auto." */
void cli_option_text(const saddle_option *option, bool holds, char *out, size_t size);

/* `saddle __complete WORDS...`: what the last word can be, for completion in a shell. */
int cli_complete(int argc, char *const *argv);

/* ---- runs ---------------------------------------------------------------------------------- */

/* From now on Ctrl-C and termination set the flag that this returns; a second one kills. */
const volatile sig_atomic_t *cli_catch_interrupts(void);
/* What to say on stderr if a termination signal comes, to be given before they are caught; "": nothing. */
void cli_say_on_termination(const char *text);
/* Set the flag as a signal would. */
void cli_interrupt(void);

/* Refuse a path, unless it is NULL or empty, that could not be written to; `what` says whose it is, such as
 * "--trace". A stream may also go to a device or a pipe. Nothing is created. */
saddle_status cli_check_output(const char *what, const char *path, bool stream,
                               saddle_error *error);
/* Add every file that a run with these arguments reads, their configuration file included. */
void cli_add_inputs(const cli_arguments *arguments, saddle_path_list *inputs);

/* Refuse an output that cannot be written or is one of the command's operands, which are traces. */
saddle_status cli_check_trace_output(const cli_arguments *arguments, const char *what,
                                     const char *path, saddle_error *error);
/* Refuse a path, unless it is NULL, that is the file or the device that --json prints to. */
saddle_status cli_check_not_stdout(const char *what, const char *path, saddle_error *error);
/* Refuse a directory that could not be made or written into. */
saddle_status cli_check_directory(const char *what, const char *path, saddle_error *error);
/* Progress of a run on a terminal. */
typedef struct cli_meter {
    const char *label;   /* before the numbers; "" for none */
    uint64_t iterations; /* the most there will be */
    double metric;       /* of the last row */
    const char *run;     /* before the run's warnings; "" for none */
    bool hidden;         /* warn, and show nothing else */
} cli_meter;
/* Show where the run is. */
void cli_meter_show(const cli_meter *meter, uint64_t iteration, double seconds);
/* Hooks of a run that has a meter and prints nothing else. The meter must outlive it. */
saddle_hooks cli_meter_hooks(cli_meter *meter, const volatile sig_atomic_t *interrupt);

/* "  LABEL: N iterations, TIME, metric M: STOP" on stdout, for those who watch a log. */
void cli_report_run(const char *label, const saddle_row *last, saddle_stop stop);
/* "saddle: diverged at iteration ..." on stderr. */
void cli_report_divergence(const saddle_result *result, const char *prefix);

#endif
