/* `saddle check-grad`: compares a problem's gradients with finite differences. */
#include <unistd.h>

#include "cli.h"
#include "instance/unused_options.h"
#include "models/model.h"

/* The relative error allowed: larger than what central differences of a smooth function leave. */
#define ALLOWED 1e-5

typedef struct options {
    cli_common common;
    uint64_t points;
} options;

static const saddle_option *const own[] = {
    CLI_OPTION(INTEGER, options, points, "points", "Check", "3", 1, 1e6, "N",
               "Number of random points in X and Y at which to check."),
    &cli_option_config, NULL};
static CLI_PLAN_FIELDS(library, CLI_FIELDS(problem), CLI_FIELDS(network), CLI_FIELDS(start.seed),
                       CLI_FIELDS(engine.threads));

/* Whether rows are scored by a network of ReLUs, which has kinks close to almost any point. */
static bool has_relu(const saddle_instance *e)
{
    return e->kind != NULL && saddle_option_in(e->kind->options, &saddle_activation_option) &&
           strncmp(SADDLE_PLAN_TEXT(e->plan, &saddle_score_option), "mlp:", 4) == 0 &&
           strcmp(SADDLE_PLAN_TEXT(e->plan, &saddle_activation_option), "relu") == 0;
}

static int print_check(const saddle_gradient_check *check, const saddle_instance *e)
{
    const char *problem = e->problem->name;
    const struct {
        const char *what;
        double error;
    } line[] = {{"grad_x, against differences of F_i", check->x_error},
                {"grad_y, against differences of F_i", check->y_error},
                {"difference at two points, against two gradients", check->difference_error},
                {"variance over samples, against single samples", check->variance_error},
                {"mean of single samples, against the full gradient", check->batch_error}};
    bool pass = true;
    cli_print("Gradients of %s, relative errors (at most %g allowed)\n", problem, ALLOWED);
    cli_table *table = cli_table_create("lrl");
    for (size_t k = 0; k < sizeof line / sizeof *line; k++) {
        bool good = line[k].error <= ALLOWED;
        pass = pass && good;
        cli_table_add(table, "%s", line[k].what);
        cli_table_add(table, "%.2e", line[k].error);
        cli_table_add(table, "%s", good ? "ok" : "WRONG");
    }
    cli_table_print(table);
    cli_print("worst at agent %zu: %s\n", check->agent, pass ? "passed" : "FAILED");
    if (check->kinks || has_relu(e))
        cli_wrap(0, 0,
                 "The function has kinks, where its gradient jumps; differences that would cross "
                 "one are shortened. The theory assumes a gradient without jumps; a network with "
                 "--activation elu has one.");
    if (pass)
        return CLI_OK;
    cli_flush();
    cli_say("the gradients of %s at agent %zu do not agree with its values", problem, check->agent);
    return CLI_CHECK_FAILED;
}

static int run(const cli_arguments *arguments)
{
    const options *chosen = arguments->own;
    saddle_error error;
    saddle_gradient_check check;
    SADDLE_OWNED_BY(saddle_instance_free_at) saddle_instance *e = NULL;
    CLI_TRY(saddle_instance_create(&e, &arguments->plan, &error));
    cli_warn_unused(&arguments->plan, e, NULL, 0);
    CLI_TRY(saddle_problem_check_gradient(e->problem, e->x_set, e->y_set, (size_t)chosen->points,
                                          e->seed, &check, &error));
    return print_check(&check, e);
}

const cli_command cli_check_grad = {
    .name = "check-grad",
    .operands = "",
    .summary = "check a problem's gradients against finite differences",
    .details = "Compares each agent's gradient with central differences of its loss, and checks "
               "that the problem's functions for single samples, batches and differences agree.",
    .library = library,
    .own = own,
    .own_bytes = sizeof(options),
    .run = run,
};
