/* `saddle theory`: shows what is proved about PRECISION and PRECISION+ for an instance. */
#include "cli.h"
#include "instance/instance.h"
#include "json_output.h"

/* The default accuracy. */
#define DEFAULT_EPSILON 0.1

static const saddle_option *const own[] = {&cli_option_config, &cli_option_json, NULL};
static CLI_PLAN_FIELDS(library, CLI_FIELDS(problem), CLI_FIELDS(network.agents),
                       CLI_FIELDS(network.topology), CLI_FIELDS(network.mixing), CLI_FIELDS(start),
                       CLI_FIELDS(steps.tau), CLI_FIELDS(steps.c_gamma),
                       CLI_FIELDS(steps.c_epsilon), CLI_FIELDS(steps.epsilon),
                       CLI_FIELDS(engine.threads));

/* Begins a section: a JSON object, or a heading. Here and below, `j` is NULL for text. */
static void begin_section(saddle_json *j, const char *key, const char *heading)
{
    if (j != NULL)
        saddle_json_put(j, "%s: {", key);
    else
        cli_print("%s\n", heading);
}

static void end_section(saddle_json *j)
{
    if (j != NULL)
        saddle_json_put(j, "}");
}

/* Prints a number: a JSON member, or a line with its name and meaning. */
static void line(saddle_json *j, const char *key, const char *name, double value,
                 const char *meaning)
{
    if (j != NULL) {
        saddle_json_put(j, "%s: %g", key, value);
        return;
    }
    char text[CLI_NUMBER];
    if (!isfinite(value))
        saddle_snprintf(text, sizeof text, "none");
    else
        saddle_snprintf(text, sizeof text, "%.6g", value);
    cli_print("  %-13s  %-12s  ", name, text);
    cli_wrap(31, 31, "%s", meaning);
}

static void print_constants(saddle_json *j, const saddle_theory *t, bool by_size)
{
    begin_section(j, "constants",
                  by_size ? "Problem and network (agents weighted by size)"
                          : "Problem and network");
    line(j, "lipschitz", "L", t->lipschitz,
         t->estimated ? "Lipschitz constant of every sample's gradient (an estimate, not a bound)"
                      : "Lipschitz constant of every sample's gradient over X x Y");
    line(j, "mu", "mu", t->strong_concavity, "strong concavity of F in y");
    if (j != NULL)
        saddle_json_put(j, "estimated %d", t->estimated);
    line(j, "kappa", "kappa = L/mu", t->lipschitz / t->strong_concavity, "condition number");
    line(j, "lambda", "lambda", t->lambda, "second largest |eigenvalue| of the mixing matrix");
    end_section(j);
}

static void print_steps(saddle_json *j, const saddle_theory *t, const saddle_steps *practical)
{
    char text[128];
    begin_section(j, "steps", "\nStep sizes with the best guarantee (used by --steps theory)");
    line(j, "tau", "tau", t->tau, "proximal weight (--tau)");
    line(j, "alpha", "alpha", t->alpha, "1/L, gradient step in y");
    line(j, "eta", "eta", t->eta, "step in y");
    line(j, "nu", "nu", t->nu, "step in x");
    line(j, "q", "q", (double)t->q,
         "iterations between refreshes: ceil(sqrt(n)), n the largest n_i");
    line(j, "batch", "batch", (double)t->batch,
         "smallest mini-batch: ceil(sqrt(n_i)), n_i the smallest");
    saddle_snprintf(text, sizeof text, "what --steps practical uses: %.3g times as large",
                    practical->eta / t->eta);
    line(j, "practical_eta", "practical eta", practical->eta, text);
    saddle_snprintf(text, sizeof text, "what --steps practical uses: %.3g times as large",
                    practical->nu / t->nu);
    line(j, "practical_nu", "practical nu", practical->nu, text);
    end_section(j);
}

/* Prints the number of iterations that a guarantee requires, or why there is no number. */
static void print_iterations(saddle_json *j, const saddle_theory *t, bool plus)
{
    const saddle_guarantee *g = plus ? &t->precision_plus : &t->precision;
    char text[256];
    if (!g->holds)
        saddle_snprintf(text, sizeof text, "no guarantee: these steps need --c-gamma above %.3g",
                        t->least_c_gamma);
    else if (isnan(t->value_gap))
        saddle_snprintf(text, sizeof text, "unknown: %s",
                        t->estimated
                            ? "L or mu is an estimate"
                            : "no lower bound of Q is known for this problem and these sets");
    else if (isnan(g->iterations))
        saddle_snprintf(text, sizeof text,
                        "out of reach: the level is above epsilon^2; raise --c-epsilon");
    else
        saddle_snprintf(
            text, sizeof text,
            "after this many iterations the mean metric is at most epsilon^2, epsilon = %g%s",
            t->epsilon, plus ? ", the level included" : "");
    line(j, "iterations", "iterations", g->iterations, text);
    if (j != NULL)
        saddle_json_put(j, "meaning %s", text);
}

static void print_guarantee(saddle_json *j, const saddle_theory *t, bool plus, double c_epsilon)
{
    const saddle_guarantee *g = plus ? &t->precision_plus : &t->precision;
    char heading[128];
    const char *name = plus ? "PRECISION+" : "PRECISION";
    if (j == NULL && !g->holds) {
        cli_print("\n%s: no guarantee; these steps need --c-gamma above %.3g\n", name,
                  t->least_c_gamma);
        return;
    }
    saddle_snprintf(heading, sizeof heading,
                    "\n%s: the metric summed over T iterations is at most the sum of", name);
    begin_section(j, plus ? "precision_plus" : "precision", heading);
    line(j, "value", "objective", g->value,
         "times Q(xbar) - Q* at the start, where Q(x) = max over y of F(x, y) + h(x)");
    line(j, "y_gap", "y gap", g->y_gap, "times |ybar - y*|^2 at the start");
    line(j, "trackers", "trackers", g->trackers,
         "times the squared distance of the first trackers from their mean");
    if (plus) {
        line(j, "refresh", "refresh", g->refresh, "times the squared error of the first refreshes");
        line(j, "level", "level", g->level * t->epsilon / c_epsilon,
             "times T: the mean metric may stay at this level for any T");
    }
    line(j, "total", "total", g->total,
         plus ? "their sum for this start, without the level" : "their sum for this start");
    print_iterations(j, t, plus);
    end_section(j);
}

static void print_printed(saddle_json *j, const saddle_printed_theorems *p)
{
    begin_section(
        j, "printed",
        "\nTheorems 1 and 2 as printed; their proofs do not support them (docs/theory.md)");
    line(j, "alpha", "alpha", p->alpha, "1/(4L)");
    line(j, "eta_bound", "eta bound", p->eta_bound, "Theorem 1 requires eta to be at most this");
    line(j, "nu_bound", "nu bound", p->nu_bound,
         "and nu at most this; the values below use half of both");
    line(j, "c1", "C1", p->C1, "coefficient of x consensus");
    line(j, "c2", "C2", p->C2, "of x stationarity");
    line(j, "c2_carried", "C2 corrected", p->C2_carried,
         "C2 with the factor 4 nu L^2 / (beta mu eta alpha) that the proof drops; a guarantee "
         "needs it above 0");
    line(j, "c2_plus", "C2'", p->C2_plus, "of x stationarity in Theorem 2 (--c-gamma)");
    line(j, "c3", "C3", p->C3, "of y consensus");
    line(j, "c4", "C4", p->C4, "of |y~ - ybar|^2, which must be above 0 as well");
    line(j, "rate", "rate", p->rate, "min(C1, C2, C3, nu L^2/2)");
    line(j, "c_gamma_bound", "c_gamma bound", p->c_gamma_bound,
         "Theorem 2 requires c_gamma above this");
    end_section(j);
}

/* ---- the command --------------------------------------------------------------------------- */

/* The results. */
typedef struct findings {
    const cli_arguments *arguments;
    saddle_theory theory;
    saddle_steps practical;
    bool by_size;
} findings;

static void print_theory(saddle_json *j, const findings *f)
{
    double c_epsilon = f->practical.c_epsilon;
    print_constants(j, &f->theory, f->by_size);
    print_steps(j, &f->theory, &f->practical);
    if (j != NULL)
        saddle_json_put(j, "epsilon %g c_gamma %g c_epsilon %g", f->theory.epsilon,
                        f->practical.c_gamma, c_epsilon);
    print_guarantee(j, &f->theory, false, c_epsilon);
    print_guarantee(j, &f->theory, true, c_epsilon);
    print_printed(j, &f->theory.printed);
    if (j == NULL && f->theory.precision.iterations > 1e9) {
        putchar('\n');
        cli_wrap(
            0, 0,
            "The guarantee covers the worst problem with these constants; in practice much longer "
            "steps, such as the practical ones above, converge in far fewer iterations.");
    }
}

static void print_json(const findings *f)
{
    saddle_json j;
    cli_json_begin(&j, f->arguments->command);
    cli_json_given(&j, f->arguments);
    print_theory(&j, f);
    cli_json_end(&j);
}

/* Evaluates the theorems, with the tau of a run with practical steps and the plan's epsilon. */
static saddle_status evaluate(findings *out, const saddle_instance *instance,
                              const saddle_plan *plan, saddle_error *error)
{
    saddle_steps *practical = &out->practical;
    double epsilon = isnan(plan->steps.epsilon) ? DEFAULT_EPSILON : plan->steps.epsilon;
    out->by_size = instance->plan->problem.agent_weights == SADDLE_WEIGHTS_BY_SIZE;
    SADDLE_TRY(saddle_instance_steps(instance, plan, practical, error));
    return saddle_theory_evaluate(instance, practical->tau, epsilon, practical->c_epsilon,
                                  practical->c_gamma, &out->theory, error);
}

static int run(const cli_arguments *arguments)
{
    const saddle_plan *plan = &arguments->plan;
    findings f = {.arguments = arguments};
    saddle_error error;
    SADDLE_OWNED_BY(saddle_instance_free_at) saddle_instance *instance = NULL;
    CLI_TRY(saddle_instance_create(&instance, plan, &error));
    cli_warn_unused(plan, instance, NULL, 0);
    CLI_TRY(evaluate(&f, instance, plan, &error));
    if (((const cli_common *)arguments->own)->json)
        print_json(&f);
    else
        print_theory(NULL, &f);
    return CLI_OK;
}

const cli_command cli_theory = {
    .name = "theory",
    .operands = "",
    .summary = "show step sizes with a proof of convergence, and the iterations needed",
    .details =
        "Evaluates Theorems 1 and 2 of the PRECISION paper, which are about PRECISION and "
        "PRECISION+, for a problem, a network and a start: first with corrected proofs, then as "
        "printed. Links are reliable and messages are not compressed. "
        "The accuracy is --epsilon (default 0.1): the mean metric is to be at most epsilon^2. "
        "`saddle run --steps theory` uses these step sizes, and the experiment `theorem` of "
        "`python3 "
        "-m saddle.reproduce` measures what the theorems bound. The steps are so short that only "
        "well-conditioned problems make progress, such as --problem quadratic --lipschitz 3.16 "
        "--mu 1.05 --noise 0.1 --topology complete --samples 10000 --tau 50 --c-epsilon 1e4.",
    .library = library,
    .own = own,
    .own_bytes = sizeof(cli_common),
    .run = run,
};
