/*
 * Declarations that the files of the program share.
 *
 * The program is a thin layer over <saddle/saddle.h>: it reads arguments into settings, calls the
 * library, and prints. One table of commands (commands.c) and the tables of options drive parsing,
 * help, the manual page and completion, so that they cannot disagree.
 */
#pragma once

#include <signal.h>

#include <saddle/lab.h>

#include "core/base.h"
#include "files/path_list.h"
#include "instance/instance.h"
#include "instance/plan_options.h"
#include "lab/trace_build.h"
#include "run/result.h"

/* ---- exit codes ---------------------------------------------------------------------------- */

/* Name, code and meaning: the one list behind the enum, the help and the manual page. */
#define CLI_EXIT_LIST(X)                                                                          \
    X(CLI_OK, 0, "success")                                                                       \
    X(CLI_FAILED, 1, "input or output failed, memory ran out, or a numerical method failed")      \
    X(CLI_BAD_INPUT, 2, "an option, file or size is invalid, or the options do not fit together") \
    X(CLI_DIVERGED, 3, "the run diverged")                                                        \
    X(CLI_CHECK_FAILED, 4, "a self-check failed")                                                 \
    X(CLI_STALLED, 5, "a process of an MPI job did not respond for --stall-seconds")              \
    X(CLI_UNMET, 6, "the run ended before the condition of --stop-when was met")                  \
    X(CLI_INTERRUPTED, 130, "interrupted by Ctrl-C or a termination signal")

enum cli_exit {
#define CLI_EXIT_ENUM(name, code, text) name = (code),
    CLI_EXIT_LIST(CLI_EXIT_ENUM)
#undef CLI_EXIT_ENUM
};
_Static_assert(CLI_STALLED == SADDLE_EXIT_STALLED, "the library ends the job with this code");

/* Returns the exit code of a status. */
int cli_exit_code(saddle_status status);
/* Prints the error on one line of stderr and returns its exit code. */
int cli_fail(const saddle_error *error);
/* Prints a message about invalid input in the same way; returns CLI_BAD_INPUT. */
int cli_refuse(const char *format, ...) SADDLE_PRINTF(1, 2);
/* Ends a command whose step failed. The step fills the local variable `error`. */
#define CLI_TRY(step)                \
    do {                             \
        if ((step) != SADDLE_OK)     \
            return cli_fail(&error); \
    } while (0)

/* ---- commands ------------------------------------------------------------------------------ */

/* Runs the program with the arguments of main(); returns its exit code. The library of the Python
 * package exports it, so that the program of that package is main() alone. */
SADDLE_API int saddle_main(int argc, char **argv);

typedef struct cli_arguments cli_arguments;

/* A field of the plan or a group of them; a list ends with one of 0 bytes. */
typedef struct cli_fields {
    size_t offset;
    size_t bytes;
} cli_fields;

/* The fields plan.member, such as `network` or `start.seed`. The options of single problems count as
 * `problem.own`, those of single algorithms as `algorithm.own`. */
/* clang-format off */
#define CLI_FIELDS(member) {offsetof(saddle_plan, member), sizeof(((saddle_plan *)NULL)->member)}
/* clang-format on */
/* Defines a list of them. */
#define CLI_PLAN_FIELDS(list, ...) const cli_fields list[] = {__VA_ARGS__, {0, 0}}

/* One command. */
typedef struct cli_command {
    const char *name;     /* "run"; two words for a member of a family: "data fetch" */
    const char *operands; /* "A B", "[A]" if it is optional, "A..." for one or more; "" for none */
    size_t most;          /* number of words, if it is not that of `operands`; 0: it is */
    const char *summary;  /* one line */
    const char *details;  /* a paragraph or more for the help, or NULL */
    const char *moved;    /* where a command is that is no longer here, or NULL */
    const char *const *basics;   /* names of the options that --help shows; NULL: all of them */
    const char *const *examples; /* for --help; NULL-terminated, or NULL */
    const char *values;        /* values of the operand, for completion: "a|b|c", "@FILE" or NULL */
    const cli_fields *library; /* fields of the plan whose options it takes, or NULL */
    const cli_fields *undecided;     /* those of them whose default does not apply here, or NULL */
    const saddle_option *const *own; /* the command's own options; NULL-terminated, or NULL */
    size_t own_bytes;                /* size of the struct that they fill */
    const saddle_option *joined; /* the option whose values are joined if it is repeated, or NULL */
    int (*run)(const cli_arguments *arguments); /* returns the exit code */
} cli_command;

/* All commands, in the order in which they are shown; NULL-terminated. */
extern const cli_command *const cli_commands[];
/* The command that argv begins with, or NULL; *used receives the number of words in its name. */
const cli_command *cli_find_command(int argc, char *const *argv, int *used);
/* Reports that argv[0], or argv[1] after the name of a family, is not a command; returns the
 * exit code. */
int cli_unknown_command(int argc, char *const *argv);
/* Returns the second word of the name of a command of this family; NULL for other commands. */
const char *cli_member_of(const cli_command *command, const char *family);
/* Returns whether there is a family of this name. */
bool cli_is_family(const char *family);

extern const cli_command cli_demo, cli_run, cli_compare, cli_tune, cli_eval, cli_predict,
    cli_checkpoint, cli_plot, cli_watch, cli_report, cli_reproduce, cli_theory, cli_graph,
    cli_data_list, cli_data_info, cli_data_convert, cli_data_split, cli_data_generate,
    cli_data_fetch, cli_algorithms, cli_problems, cli_sets, cli_topologies, cli_check_grad,
    cli_peer_demo, cli_peer_keygen, cli_peer_init, cli_peer_check, cli_peer_run, cli_peer_status,
    cli_completion, cli_man, cli_help;

/* ---- options ------------------------------------------------------------------------------- */

/* The fields of the plan that control how a data set is read. */
extern const cli_fields cli_data_fields[];
/* The basic options of commands that run algorithms. */
extern const char *const cli_run_basics[];

/* Options that several commands have: the first member of a command's struct of options. */
typedef struct cli_common {
    const char *config; /* NULL: none */
    const char *report; /* NULL: none */
    bool quiet;
    bool json;
} cli_common;

extern const saddle_option cli_option_config, cli_option_quiet, cli_option_report, cli_option_json;

/* An option in the list of a command's own options: CLI_OPTION(TEXT, options, title, "title", ...) fills
 * options::title, with the other arguments as of SADDLE_TEXT(). */
#define CLI_OPTION(kind, type, field, ...) \
    &(const saddle_option)SADDLE_##kind(SADDLE_OWN(type, field, RUN), __VA_ARGS__)
/* An option of a command whose value names files; `kind` is that of ::saddle_option_files. */
#define CLI_FILES(kind, type, field, ...) \
    &(const saddle_option)SADDLE_TEXT(CLI_OWN_FILES(kind, type, field), __VA_ARGS__)
#define CLI_OWN_FILES(kind, type, field) SADDLE_OWN(type, field, RUN), .files = SADDLE_FILES_##kind
/* A field of a command's `options` for which completion offers "a|b|c"; other texts are allowed. */
#define CLI_OWN_OFFERED(field, list) SADDLE_OWN(options, field, RUN), .choices = (list)
/* The quantities that plots offer for the horizontal and for the vertical axis. */
#define CLI_AXES "samples|rounds|messages|bytes|seconds|iterations"
#define CLI_COLUMNS \
    "metric|loss|primal|x_stationarity|x_consensus|y_consensus|y_gap|stationarity|potential"

/* Whether a list contains the field at an offset of the plan. NULL: an empty list. */
bool cli_has_field(const cli_fields *list, size_t offset);
/* The same for the field of a library option. */
bool cli_has_option(const cli_fields *list, const saddle_option *option);
/* Whether a command takes an option. */
bool cli_takes(const cli_command *command, const saddle_option *option);

/* A plan with all options of the library and the command's own. Free with saddle_plan_free(). */
saddle_status cli_plan(saddle_plan *out, const cli_command *command, saddle_error *error);
/* The values of an option, "@FILE" or "a|b|c"; "" if nothing is known about them. */
const char *cli_option_values(const saddle_option *option);

/* The parsed command line. */
struct cli_arguments {
    const cli_command *command;
    saddle_plan plan;     /* its options include the command's own */
    void *own;            /* the command's struct of options; owned */
    size_t count;         /* number of operands */
    const char **operand; /* the words belong to argv; the array is owned */
    bool help;            /* --help or --help-all was given */
    bool help_all;        /* --help-all was given */
};

/* Reads the words after the command's name, and the configuration file. */
saddle_status cli_read_arguments(cli_arguments *out, const cli_command *command, int argc,
                                 char *const *argv, saddle_error *error);
/* Frees what cli_read_arguments() allocated. */
void cli_release_arguments(cli_arguments *arguments);

/* Says which columns were scaled, warns about columns that should be, and about given options that
 * neither the problem nor any of the algorithms uses. One line each. */
void cli_warn_unused(const saddle_plan *plan, const saddle_instance *instance,
                     const saddle_algorithm *const *algorithm, size_t count);
/* Warns about given options for reading data that do not apply to the format of the files. */
void cli_warn_unread(const saddle_plan *plan, unsigned formats);

/* ---- console ------------------------------------------------------------------------------- */

/* Opens standard descriptors that are closed, and makes write errors visible as error codes
 * instead of signals. */
void cli_console_open(void);
/* Stops all output of this process, because another process of the job prints. */
void cli_silence(void);
/* Prints "saddle: ..." on one line of stderr. */
void cli_say(const char *format, ...) SADDLE_PRINTF(1, 2);
/* printf to standard output, for people rather than data: characters that control a terminal,
 * which file names and trace heads may contain, are shown as \x1b or \u202e. All functions here
 * do so. */
void cli_print(const char *format, ...) SADDLE_PRINTF(1, 2);
/* Flushes stdout; false once stdout has failed. */
bool cli_flush(void);
/* Flushes stdout; interrupts the run if its reader is gone. */
void cli_flush_or_stop(void);
/* Interrupts the run if the reader of stdout is gone, even while nothing is printed. */
void cli_stop_without_reader(void);
/* Whether stdout failed because its reader is gone. */
bool cli_reader_gone(void);
/* Flushes stdout and returns the exit code, an error if stdout failed. Call it once, at the end. */
int cli_console_close(int code);
/* Width of the terminal, from 40 to 120; 80 if the descriptor is not a terminal. */
int cli_width(int descriptor);
/* Prints text wrapped at spaces to the width of the terminal, keeping newlines. The first line starts at `column`, all
 * others are indented by `indent`. */
void cli_wrap(int column, int indent, const char *format, ...) SADDLE_PRINTF(3, 4);
/* Prints " NAME TEXT", wrapped. */
#define cli_print_field(name, ...) (cli_print("  %-10s  ", name), cli_wrap(14, 14, __VA_ARGS__))
/* Prints "saddle: warning: ..." on stderr. */
void cli_warn(const char *format, ...) SADDLE_PRINTF(1, 2);
/* All warnings so far, as they were printed; `*count` receives the number. */
const char *const *cli_warnings(size_t *count);
/* Rewrites the progress line on stderr; does nothing if stderr is not a terminal. */
void cli_progress(const char *format, ...) SADDLE_PRINTF(1, 2);
/* Removes the progress line. */
void cli_progress_clear(void);
/* Whether stderr is a terminal. */
bool cli_has_progress(void);

/* Capacity for a number as text. */
#define CLI_NUMBER SADDLE_REAL_SIZE
/* Seconds as "1.23 s", "2m 05s", "3h 20m". */
const char *cli_duration(double seconds, char out[CLI_NUMBER]);

/* A table with columns as wide as their widest cell. */
typedef struct cli_table cli_table;
/* `alignment` has one letter per column, l or r. Returns NULL if memory is short. */
cli_table *cli_table_create(const char *alignment);
/* Appends a cell; cells are added row by row. */
void cli_table_add(cli_table *table, const char *format, ...) SADDLE_PRINTF(2, 3);
/* Appends several cells, each a text. */
#define cli_table_words(table, ...) \
    cli_table_add_words((table), (const char *const[]){__VA_ARGS__, NULL})
void cli_table_add_words(cli_table *table, const char *const *word);
/* Prints the table indented by two spaces, with the last column wrapped, and frees it. */
void cli_table_print(cli_table *table);

/* ---- several processes --------------------------------------------------------------------- */

/* Joins the other processes of the job if the command line names an engine that has several,
 * before anything can fail. From then on only process 0 prints. If the processes do not fit
 * together, this fails in all of them. */
saddle_status cli_join_early(int argc, char *const *argv, saddle_error *error);
/* The same for an engine that a configuration file names. Warns if the job has several processes
 * that each do all of the work. */
saddle_status cli_join(const cli_arguments *arguments, saddle_error *error);
/* The processes of the job; NULL if this is the only one. Borrowed. */
const saddle_world *cli_world(void);
/* Whether this process writes the files. */
bool cli_leads(void);
/* Returns, in all processes, the status and message of the first that failed. Call it after work
 * that only process 0 does, so that the others do not wait forever. */
saddle_status cli_agree(saddle_status status, saddle_error *error);
/* Whether the flag is set in any process, because they must stop together. */
bool cli_interrupted(const volatile sig_atomic_t *flag);
/* Leaves the job at the end of the program; `failed`: with an error. */
void cli_leave(bool failed);

/* ---- help ---------------------------------------------------------------------------------- */

/* Prints the overview of all commands. */
void cli_print_overview(void);
/* Prints three commands to start with, for a user who gave no command. */
void cli_print_greeting(void);
/* Prints the commands of a family. */
void cli_print_family(const char *family);
/* Prints the help of arguments->command: all of it or the basics, with the options of the
 * problem and algorithm that are given. */
int cli_print_help(const cli_arguments *arguments);
/* Writes the summary of a command as a sentence. */
void cli_summary_sentence(const cli_command *command, char *out, size_t size);
/* Prints the heading of an option and, to its right, a text. */
void cli_print_explained(const char *heading, const char *text);
/* Length of the first sentence of an option's help, without its full stop. */
int cli_first_sentence(const saddle_option *option);
/* Writes the heading of an option: "--nu STEP". */
void cli_option_heading(const saddle_option *option, char *out, size_t size);
/* Calls `heading` for every group of options and `visit` for each option in it. NULL for a
 * command: all options. */
void cli_walk_options(const saddle_plan *plan, const cli_command *command,
                      void (*heading)(const char *group),
                      void (*visit)(const cli_command *command, const saddle_option *option));
/* Capacity for the help of an option with its choices, default and range. */
#define CLI_OPTION_TEXT 2048
/* Writes the help of an option for an algorithm (NULL: for all), with its default if that applies: "Step in x.
 * Default: auto." */
void cli_option_text(const saddle_option *option, const saddle_algorithm *algorithm, bool holds,
                     char *out, size_t size);

/* `saddle __complete WORDS...`: prints the candidates for the last word, for completion in a
 * shell. */
int cli_complete(int argc, char *const *argv);

/* The files of texts/, which the build embeds (cmake/Embed.cmake). */
extern const char cli_completion_bash[], cli_completion_zsh[], cli_completion_fish[];
/* The sections of the manual page before COMMANDS, and those after EXIT STATUS. */
extern const char cli_manual_begin[], cli_manual_end[];

/* ---- runs ---------------------------------------------------------------------------------- */

/* Catches Ctrl-C and termination: the first signal sets the flag that this returns, a second one
 * kills the program. */
const volatile sig_atomic_t *cli_catch_interrupts(void);
/* Sets the text printed on stderr when a termination signal comes; "": nothing. Call it before
 * the signals are caught. */
void cli_say_on_termination(const char *text);
/* Sets the flag as a signal would. */
void cli_interrupt(void);

/* Refuses a path that could not be written to, unless it is NULL or empty. `what` names it in
 * the message, such as "--trace". With `stream` it may be a device or a pipe. Creates nothing. */
saddle_status cli_check_output(const char *what, const char *path, bool stream,
                               saddle_error *error);
/* Refuses an output that cannot be written or that is one of the command's operands, which are
 * traces. */
saddle_status cli_check_trace_output(const cli_arguments *arguments, const char *what,
                                     const char *path, saddle_error *error);
/* Refuses a path, unless it is NULL, that is the same file or device as standard output, where
 * --json prints. */
saddle_status cli_check_not_stdout(const char *what, const char *path, saddle_error *error);
/* Refuses a directory that cannot be created or written into. */
saddle_status cli_check_directory(const char *what, const char *path, saddle_error *error);
/* Progress of a run on a terminal. */
typedef struct cli_meter {
    const char *label;   /* printed before the numbers; "" for none */
    uint64_t iterations; /* the limit */
    double metric;       /* that of the last row */
    const char *run;     /* printed before the run's warnings; "" for none */
    bool hidden;         /* show warnings only */
} cli_meter;
/* Hooks that show the progress of a run on the meter. */
void cli_meter_row(void *meter, const saddle_row *row);
void cli_meter_progress(void *meter, uint64_t iteration, double seconds);
/* Hooks of a run that shows the meter and prints nothing else. The meter must outlive the run. */
saddle_hooks cli_meter_hooks(cli_meter *meter, const volatile sig_atomic_t *interrupt);

/* Prints " LABEL: N iterations, TIME, metric M: STOP" on stdout, a line of a log. */
void cli_report_run(const char *label, const saddle_row *last, saddle_stop stop);
/* Prints "saddle: diverged at iteration ..." on stderr. */
void cli_report_divergence(const saddle_result *result, const char *prefix);
