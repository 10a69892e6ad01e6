/* `saddle algorithms|problems|sets|topologies`: what there is. */
#include <string.h>
#include <unistd.h>

#include "cli.h"

static void print_infos(const char *title, const saddle_set_info *info, size_t count)
{
    printf("%s\n", title);
    cli_table *table = cli_table_create("ll");
    for (size_t k = 0; k < count; k++) {
        cli_table_add(table, "%s", info[k].synopsis);
        cli_table_add(table, "%s", info[k].summary);
    }
    cli_table_print(table);
}

/* Options with ranges and defaults, in full. */
static void print_options(const saddle_option *const *option)
{
    printf("\nOptions\n");
    cli_table *table = cli_table_create("ll");
    for (; *option != NULL; option++) {
        char heading[128];
        char text[1024];
        cli_option_heading(*option, heading, sizeof heading);
        cli_option_text(*option, text, sizeof text);
        cli_table_add(table, "%s", heading);
        cli_table_add(table, "%s", text);
    }
    cli_table_print(table);
}

static int run_algorithms(const cli_arguments *arguments)
{
    if (arguments->count == 1) {
        const saddle_algorithm *one;
        saddle_error error;
        if (saddle_algorithm_find(&one, arguments->operand[0], &error) != SADDLE_OK)
            return cli_fail(&error);
        printf("%s: %s\n%s\n", one->name, one->summary, one->citation);
        print_options(one->options);
        return CLI_OK;
    }
    size_t count;
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    cli_table *table = cli_table_create("ll");
    for (size_t k = 0; k < count; k++) {
        cli_table_add(table, "%s", list[k]->name);
        cli_table_add(table, "%s. %s.", list[k]->summary, list[k]->citation);
    }
    printf("Algorithms\n");
    cli_table_print(table);
    return CLI_OK;
}

static int run_problems(const cli_arguments *arguments)
{
    if (arguments->count == 1) {
        const saddle_problem_class *one;
        saddle_error error;
        if (saddle_problem_find(&one, arguments->operand[0], &error) != SADDLE_OK)
            return cli_fail(&error);
        printf("%s: %s\n%s\n", one->name, one->summary,
               one->needs_data ? "Made from --data." : "Makes its own instance from --seed.");
        print_options(one->options);
        return CLI_OK;
    }
    size_t count;
    const saddle_problem_class *const *list = saddle_problem_list(&count);
    cli_table *table = cli_table_create("ll");
    for (size_t k = 0; k < count; k++) {
        cli_table_add(table, "%s", list[k]->name);
        cli_table_add(table, "%s", list[k]->summary);
    }
    printf("Problems\n");
    cli_table_print(table);
    return CLI_OK;
}

static int run_sets(const cli_arguments *arguments)
{
    (void)arguments;
    size_t count;
    const saddle_set_info *info = saddle_set_list(&count);
    print_infos("Sets, for --x-set and --y-set", info, count);
    info = saddle_regularizer_list(&count);
    putchar('\n');
    print_infos("Regularizers, for --regularizer", info, count);
    return CLI_OK;
}

static int run_topologies(const cli_arguments *arguments)
{
    (void)arguments;
    size_t count;
    const saddle_set_info *info = saddle_topology_list(&count);
    print_infos("Topologies, for --topology", info, count);
    info = saddle_mixing_list(&count);
    putchar('\n');
    print_infos("Mixing rules, for --mixing", info, count);
    return CLI_OK;
}

const cli_command cli_algorithms = {
    .name = "algorithms",
    .operands = "[NAME]",
    .most = 1,
    .summary = "list the algorithms, or the options of one",
    .words = "@ALGORITHM",
    .run = run_algorithms,
};
const cli_command cli_problems = {
    .name = "problems",
    .operands = "[NAME]",
    .most = 1,
    .summary = "list the problems, or the options of one",
    .words = "@PROBLEM",
    .run = run_problems,
};
const cli_command cli_sets = {
    .name = "sets",
    .operands = "",
    .summary = "list the constraint sets and regularizers",
    .run = run_sets,
};
const cli_command cli_topologies = {
    .name = "topologies",
    .operands = "",
    .summary = "list the topologies and mixing rules",
    .run = run_topologies,
};
