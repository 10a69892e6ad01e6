/* `saddle algorithms|problems|sets|topologies`: lists what is built in, and describes one. */
#include <unistd.h>

#include "cli.h"
#include "files/plugin.h"

/* Prints two fields of all entries of a list of pointers. */
#define PRINT_LIST(title, entry, list, name, summary)                     \
    do {                                                                  \
        size_t count_;                                                    \
        const entry *const *list_ = list(&count_);                        \
        cli_table *table_ = cli_table_create("ll");                       \
        for (size_t k_ = 0; k_ < count_; k_++)                            \
            cli_table_words(table_, list_[k_]->name, list_[k_]->summary); \
        puts(title);                                                      \
        cli_table_print(table_);                                          \
    } while (0)

/* Appends the range of a number, such as " Range: above 0, at most 1."; nothing for other kinds. */
static void append_range(const saddle_option *option, char *out, size_t size)
{
    bool number = option->kind == SADDLE_OPTION_INTEGER || option->kind == SADDLE_OPTION_REAL;
    bool low = number && isfinite(option->minimum);
    /* Larger maxima are limits of the representation, which users need not see. */
    bool high = number && option->maximum < 0x1p32;
    if (!low && !high)
        return;
    saddle_append(out, size, " Range:");
    if (low)
        saddle_append(out, size, " %s %.15g", option->above_minimum ? "above" : "at least",
                      option->minimum);
    if (high)
        saddle_append(out, size, "%s at most %.16g", low ? "," : "", option->maximum);
    saddle_append(out, size, ".");
}

/* Prints options with ranges and defaults. A plug-in's option that has the name of a built-in one is
 * written name=VALUE, as after the colon. `algorithm` is NULL for problems and sets. */
static void print_options(const cli_arguments *arguments, const saddle_algorithm *algorithm,
                          const saddle_option *const *option)
{
    cli_print("\nOptions\n");
    for (; *option != NULL; option++) {
        char heading[128];
        char text[CLI_OPTION_TEXT];
        const saddle_option *known = saddle_plan_find(&arguments->plan, (*option)->name);
        if (known != NULL && known != *option)
            saddle_snprintf(heading, sizeof heading, "%s=%s", (*option)->name, (*option)->metavar);
        else
            cli_option_heading(*option, heading, sizeof heading);
        cli_option_text(*option, algorithm, true, text, sizeof text);
        append_range(*option, text, sizeof text);
        cli_print_explained(heading, text);
    }
}

/* ---- plug-ins ------------------------------------------------------------------------------ */

/* Describes an entry of the table that a plug-in exports: name, summary and options. */
static void describe_entry(const cli_arguments *arguments, const char *option, const char *name,
                           const char *summary, const saddle_algorithm *algorithm,
                           const saddle_option *const *options)
{
    cli_print("%s: %s\n", name != NULL ? name : "(no name)",
              summary != NULL ? summary : "a plug-in");
    if (options != NULL)
        print_options(arguments, algorithm, options);
    cli_print("  Use it as %s %s%s\n", option, arguments->operand[0],
              options != NULL ? "" : "[:OPTIONS]");
}

/* Says where the samples of a problem come from. */
static const char *source_of(const saddle_problem_class *problem)
{
    return problem->needs_data ? "Its samples are the rows of --data."
                               : "It generates its own samples from --seed.";
}

/* Describes a plug-in. */
static int describe_plugin(const cli_arguments *arguments)
{
    saddle_error error;
    saddle_plugin_object *plugin = NULL;
    CLI_TRY(saddle_plugin_open(&plugin, arguments->operand[0], &error));
    const saddle_plugin_table *it = plugin->exported;
    if (it->problem != NULL) {
        describe_entry(arguments, "--problem", it->problem->name, it->problem->summary, NULL,
                       it->problem->options);
        cli_print("  %s\n", source_of(it->problem));
    }
    if (it->algorithm != NULL)
        describe_entry(arguments, "--algorithm", it->algorithm->name, it->algorithm->summary,
                       it->algorithm, it->algorithm->options);
    if (it->set != NULL)
        describe_entry(arguments, "--x-set or --y-set", it->set->term.name, it->set->term.summary,
                       NULL, it->set->term.options);
    if (it->regularizer != NULL)
        describe_entry(arguments, "--regularizer", it->regularizer->term.name,
                       it->regularizer->term.summary, NULL, it->regularizer->term.options);
    cli_flush();
    saddle_plugin_close(plugin);
    return CLI_OK;
}

/* Whether the operand is the path of a plug-in. */
static bool names_plugin(const cli_arguments *arguments)
{
    return arguments->count == 1 && strchr(arguments->operand[0], '/') != NULL;
}

/* ---- algorithms ---------------------------------------------------------------------------- */

/* On a narrower terminal each algorithm has a block instead of rows in tables. */
#define TABLE_WIDTH 72

static const char *yes_no(bool value)
{
    return value ? "yes" : "no";
}

/* Adds a row: a name and a formatted text. */
static void add_trait(cli_table *table, const char *name, const char *format, ...)
    SADDLE_PRINTF(3, 4);
static void add_trait(cli_table *table, const char *name, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    saddle_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cli_table_words(table, name, text);
}

/* "constraints on x, constraints on y and nonsmooth h" */
static const char *handled(const saddle_traits *t, char out[128])
{
    static const char *const word[] = {"constraints on x", "constraints on y", "nonsmooth h"};
    const bool has[] = {t->x_set, t->y_set, t->regularizer};
    size_t left = (size_t)t->x_set + t->y_set + t->regularizer;
    saddle_snprintf(out, 128, "%s", left == 0 ? "neither constraints nor h" : "");
    for (size_t k = 0, seen = 0; k < 3; k++)
        if (has[k]) {
            const char *before = seen == 0 ? "" : seen + 1 == left ? " and " : ", ";
            saddle_append(out, 128, "%s%s", before, word[k]);
            seen++;
        }
    return out;
}

/* Prints what an algorithm can do and what it costs, in words. */
static void print_traits(const saddle_algorithm *algorithm)
{
    const saddle_traits *t = &algorithm->traits;
    char list[128];
    cli_table *table = cli_table_create("ll");
    cli_table_words(table, "runs",
                    t->centralized ? "centralized: at one agent, which has all data"
                                   : "decentralized: at every agent of the network");
    cli_table_words(table, "handles", handled(t, list));
    cli_table_words(table, "gradients",
                    t->stochastic ? "stochastic: of drawn samples" : "full: of all local samples");
    cli_table_words(table, "iterates",
                    t->feasible ? "always in X and Y" : "in X and Y if the steps are short enough");
    if (t->assumes != NULL)
        cli_table_words(table, "assumes", t->assumes);
    add_trait(table, "IFO calls", "in an iteration%s: %s", t->centralized ? "" : " at agent i",
              t->ifo);
    add_trait(table, "rounds", "%s per iteration", t->rounds);
    if (t->centralized)
        cli_table_words(table, "message", "none");
    else
        add_trait(table, "message", "%s doubles (8 bytes each) to each neighbour per round",
                  t->message);
    if (strcmp(t->samples, "-") != 0)
        add_trait(table, "samples", "IFO calls to reach accuracy eps (published): %s", t->samples);
    else
        cli_table_words(table, "samples", "no published bound");
    if (strcmp(t->communication, "-") != 0)
        add_trait(table, "communication", "rounds to reach accuracy eps (published): %s",
                  t->communication);
    cli_table_print(table);
}

static void print_one(const saddle_algorithm *algorithm)
{
    cli_wrap(0, 0, "%s: %s\n%s", algorithm->name, algorithm->summary, algorithm->citation);
    print_traits(algorithm);
}

/* Prints a note under a table. */
static void print_note(const char *text)
{
    fputs("  ", stdout);
    cli_wrap(2, 2, "%s", text);
}

/* Prints the comparison: four tables, because one would be wider than a terminal. */
static void print_comparison(const saddle_algorithm *const *list, size_t count)
{
    cli_table *table = cli_table_create("ll");
    cli_table_words(table, "algorithm", "what it is, and where it was published");
    for (size_t k = 0; k < count; k++)
        add_trait(table, list[k]->name, "%s. %s.", list[k]->summary, list[k]->citation);
    puts("Algorithms");
    cli_table_print(table);

    table = cli_table_create("llllll");
    cli_table_words(table, "algorithm", "X", "Y", "h", "gradients", "decentralized");
    for (size_t k = 0; k < count; k++) {
        const saddle_traits *t = &list[k]->traits;
        cli_table_words(table, list[k]->name, yes_no(t->x_set), yes_no(t->y_set),
                        yes_no(t->regularizer), t->stochastic ? "stochastic" : "full",
                        yes_no(!t->centralized));
    }
    puts("\nWhat they handle: constraint sets X and Y, a nonsmooth regularizer h(x)");
    cli_table_print(table);

    table = cli_table_create("llll");
    cli_table_words(table, "algorithm", "rounds", "IFO calls", "doubles in a message");
    for (size_t k = 0; k < count; k++) {
        const saddle_traits *t = &list[k]->traits;
        cli_table_words(table, list[k]->name, t->rounds, t->ifo, t->message);
    }
    puts("\nCost of one iteration");
    cli_table_print(table);
    print_note("An IFO call evaluates the gradient of one sample; the column counts those of agent "
               "i, or all of them if the algorithm is centralized. In a round, an agent sends one "
               "message to each neighbour, together 8 x doubles x neighbours bytes. n_i: samples "
               "of agent i; N: samples of all agents; |S|: samples in a mini-batch; R_i: samples "
               "in a refresh; q: iterations from one refresh to the next; K: "
               "--ascents or --mixing-rounds; L: --local-steps; s: ascent steps in y; M: "
               "--maximizer-steps.");

    table = cli_table_create("lll");
    cli_table_words(table, "algorithm", "IFO calls", "rounds");
    for (size_t k = 0; k < count; k++)
        cli_table_words(table, list[k]->name, list[k]->traits.samples,
                        list[k]->traits.communication);
    puts("\nPublished complexities, to reach accuracy eps");
    cli_table_print(table);
    print_note("eps: accuracy, as the paper of the algorithm defines it; m: agents; n: samples of "
               "an agent, the same for all; N: samples of all agents; kappa: L / mu; chi: (1 - "
               "lambda_m) / (1 - lambda); delta: any positive number; -: no bound known here. The "
               "bound on the rounds of DPOSG is for one iteration.");
}

static int run_algorithms(const cli_arguments *arguments)
{
    if (names_plugin(arguments))
        return describe_plugin(arguments);
    if (arguments->count == 1) {
        const saddle_algorithm *one;
        saddle_error error;
        CLI_TRY(saddle_algorithm_find(&one, arguments->operand[0], &error));
        print_one(one);
        print_options(arguments, one, one->options);
        return CLI_OK;
    }
    size_t count;
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    if (cli_width(STDOUT_FILENO) >= TABLE_WIDTH) {
        print_comparison(list, count);
        return CLI_OK;
    }
    for (size_t k = 0; k < count; k++) {
        if (k > 0)
            putchar('\n');
        print_one(list[k]);
    }
    return CLI_OK;
}

/* ---- problems, sets, topologies ------------------------------------------------------------- */

static int run_problems(const cli_arguments *arguments)
{
    if (names_plugin(arguments))
        return describe_plugin(arguments);
    if (arguments->count == 1) {
        const saddle_problem_class *one;
        saddle_error error;
        CLI_TRY(saddle_problem_find(&one, arguments->operand[0], &error));
        cli_wrap(0, 0, "%s: %s\n%s Formulas and outcomes: docs/problems/%s.md", one->name,
                 one->summary, source_of(one), one->name);
        print_options(arguments, NULL, one->options);
        return CLI_OK;
    }
    PRINT_LIST("Problems, for --problem", saddle_problem_class, saddle_problem_list, name, summary);
    print_note("`saddle problems NAME` shows the options of one and where its samples come from.");
    return CLI_OK;
}

/* Explains the set or regularizer of a name, with or without its parameters; false: not this
 * one. */
static bool explain_term(const char *name, const saddle_term_class *term, const char *option)
{
    size_t length = strcspn(name, ":");
    if (strlen(term->name) != length || strncmp(name, term->name, length) != 0)
        return false;
    cli_wrap(0, 0, "%s: %s", term->name, term->summary);
    cli_print("  Use it as %s %s\n", option, term->synopsis);
    return true;
}

static int explain_terms(const char *name)
{
    size_t sets;
    size_t regularizers;
    bool known = false;
    const saddle_set_class *const *set = saddle_set_list(&sets);
    const saddle_regularizer_class *const *h = saddle_regularizer_list(&regularizers);
    for (size_t k = 0; k < sets; k++)
        known = explain_term(name, &set[k]->term, "--x-set or --y-set") || known;
    for (size_t k = 0; k < regularizers; k++)
        known = explain_term(name, &h[k]->term, "--regularizer") || known;
    return known
               ? CLI_OK
               : cli_refuse("'%.100s' is not a set or regularizer; `saddle sets` lists them", name);
}

static int run_sets(const cli_arguments *arguments)
{
    if (names_plugin(arguments))
        return describe_plugin(arguments);
    if (arguments->count == 1)
        return explain_terms(arguments->operand[0]);
    PRINT_LIST("Sets, for --x-set and --y-set", saddle_set_class, saddle_set_list, term.synopsis,
               term.summary);
    PRINT_LIST("\nRegularizers h(x), for --regularizer", saddle_regularizer_class,
               saddle_regularizer_list, term.synopsis, term.summary);
    print_note("x_k is an entry of x (or of y, for --y-set). A projection or proximal step costs "
               "O(dim x) operations, for simplex and l1-ball at most O(dim x log(dim x)).");
    return CLI_OK;
}

static int run_topologies(const cli_arguments *arguments)
{
    (void)arguments;
    PRINT_LIST("Topologies, for --topology", saddle_network_info, saddle_topology_list, synopsis,
               summary);
    PRINT_LIST("\nMixing rules, for --mixing", saddle_network_info, saddle_mixing_list, synopsis,
               summary);
    print_note(
        "M_ij is the weight of the edge between agents i and j in the mixing matrix M, and "
        "M_ii is 1 minus the other weights of row i. The degree of an agent is the number of "
        "its neighbours. L is the Laplacian matrix of the graph, lambda_2 its smallest "
        "positive and lambda_max its largest eigenvalue. The larger the spectral gap of M, "
        "the faster the agents reach consensus; `saddle graph TOPOLOGY` shows it.");
    return CLI_OK;
}

const cli_command cli_algorithms = {
    .name = "algorithms",
    .operands = "[NAME]",
    .summary = "list the algorithms with their costs, or explain one",
    .details =
        "Without NAME: tables of what each algorithm handles, what an iteration costs, and which "
        "complexity is published. With NAME: the same for one algorithm, and its options with "
        "their ranges and defaults. A NAME with a / is the path of a plug-in (a shared object).",
    .values = "@ALGORITHM",
    .run = run_algorithms,
};
const cli_command cli_problems = {
    .name = "problems",
    .operands = "[NAME]",
    .summary = "list the problems, or explain one and its options",
    .details = "A NAME with a / is the path of a plug-in (a shared object).",
    .values = "@PROBLEM",
    .run = run_problems,
};
const cli_command cli_sets = {
    .name = "sets",
    .operands = "[NAME]",
    .summary = "list the constraint sets and regularizers, or explain one",
    .details = "A NAME with a / is the path of a plug-in (a shared object).",
    .values = "@SET",
    .run = run_sets,
};
const cli_command cli_topologies = {
    .name = "topologies",
    .operands = "",
    .summary = "list the topologies and mixing rules",
    .run = run_topologies,
};
