/* `saddle theory`: shows what is proved about PRECISION and PRECISION+ for an instance. */
#include "cli.h"
#include "json_output.h"
#include "theorem_check.h"

#define GROUP "Verification"

typedef struct options {
    cli_common common;
    bool verify;
    uint64_t repeats;
} options;

static const saddle_option *const own[] = {
    CLI_OPTION(FLAG, options, verify, "verify", GROUP, "no",
               "Run both algorithms and compare the mean metric with its bound. PRECISION and "
               "PRECISION+ run with these step sizes, for --iterations or 10000 iterations. The "
               "exit status is 4 if a bound is violated."),
    CLI_OPTION(INTEGER, options, repeats, "repeats", GROUP, "10", 1, THEOREM_MOST_SEEDS, "K",
               "With --verify: number of runs, with seeds seed, seed+1, ..., seed+K-1."),
    &cli_option_config, &cli_option_json, NULL};
static CLI_PLAN_FIELDS(library, CLI_FIELDS(problem), CLI_FIELDS(network.agents),
                       CLI_FIELDS(network.topology), CLI_FIELDS(network.mixing), CLI_FIELDS(start),
                       CLI_FIELDS(steps.tau), CLI_FIELDS(steps.c_gamma),
                       CLI_FIELDS(steps.c_epsilon), CLI_FIELDS(steps.epsilon),
                       CLI_FIELDS(engine.threads), CLI_FIELDS(limits.iterations));

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

/* ---- verification -------------------------------------------------------------------------- */

/* Measures what the guarantees bound, with all seeds or those before an interrupt; `theory` is
 * that of the first seed. */
static saddle_status measure(theorem_check theorem[2], const cli_arguments *arguments,
                             const saddle_theory *theory, const volatile sig_atomic_t *interrupt,
                             saddle_error *error)
{
    const char *why;
    const options *chosen = arguments->own;
    size_t repeats = (size_t)chosen->repeats;
    theorem[1].plus = true;
    if (!saddle_theorem_applies(theory, false, &why))
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--verify: there is no guarantee to verify: %s", why);
    saddle_status status = SADDLE_OK;
    for (size_t r = 0; status == SADDLE_OK && r < repeats && !*interrupt; r++) {
        cli_progress("seed %zu of %zu", r + 1, repeats);
        status = saddle_theorem_measure(theorem, &arguments->plan, arguments->plan.start.seed + r,
                                        interrupt, error);
        cli_progress_clear();
    }
    if (status == SADDLE_OK && theorem[1].seeds == 0 && theorem[1].unguaranteed > 0)
        cli_warn("PRECISION+ has no guarantee here: %s", theorem[1].why);
    return status;
}

static bool violated(const theorem_check theorem[2])
{
    bool found = false;
    for (size_t k = 0; k < 2; k++)
        found = found || (theorem[k].seeds > 0 && saddle_theorem_violated(&theorem[k]));
    return found;
}

/* The measurements at one number of iterations, over all seeds. */
typedef struct point_means {
    double iterations, metric, bound;
    double worst; /* the largest metric of a seed, as a multiple of its bound */
} point_means;

static point_means means_of(const theorem_check *v, size_t p)
{
    const theorem_point *point = &v->point[p];
    const double *const value[] = {point->average, point->average_bound, point->average_excess};
    statistics_mean over[3];
    for (size_t k = 0; k < 3; k++)
        over[k] = saddle_statistics_summarize(value[k], v->measured, THEOREM_CONFIDENCE);
    return (point_means){point->iterations, over[0].mean, over[1].mean, over[2].most + 1.0};
}

/* Prints the measured means beside their bounds. */
static void print_theorem_points(const theorem_check *v)
{
    cli_table *table = cli_table_create("rrrr");
    cli_table_words(table, "T", "mean metric", "bound", "worst seed");
    for (size_t p = 0; p < THEOREM_POINTS; p++) {
        point_means m = means_of(v, p);
        cli_table_add(table, "%.0f", m.iterations);
        cli_table_add(table, "%.4g", m.metric);
        cli_table_add(table, "%.4g", m.bound);
        cli_table_add(table, "%.3g of the bound", m.worst);
    }
    cli_table_print(table);
    if (saddle_theorem_is_vacuous(v))
        cli_print(
            "The bound is vacuous: after this few iterations it is above the initial metric.\n");
}

/* Prints which seeds were left out, and whether sigma^2 was a bound. */
static void print_theorem_notes(const theorem_check *v)
{
    if (v->failed[0] != '\0')
        cli_print("The metric of %s is not finite.\n", v->failed);
    if (v->unguaranteed > 0)
        cli_wrap(0, 0, "%zu seed%s no guarantee and %s left out: %s.", v->unguaranteed,
                 v->unguaranteed == 1 ? " has" : "s have", v->unguaranteed == 1 ? "was" : "were",
                 v->why);
    if (v->variance_share == 0.0)
        return;
    cli_wrap(
        0, 0,
        "Refreshes used the exact gamma (--gamma exact) and a sigma^2 of %g times the largest "
        "variance at the start. At the end the variance was %s%.3g of that%s.",
        THEOREM_MARGIN, v->variance_share <= 1.0 ? "at most " : "", v->variance_share,
        v->variance_share <= 1.0
            ? ""
            : ": the assumption of the theorem does not hold, so the comparison proves nothing");
}

static void print_theorem(const theorem_check *v)
{
    size_t seeds = v->seeds + v->unguaranteed;
    cli_print("\n%s, means over ", v->plus ? "PRECISION+" : "PRECISION");
    if (v->measured < seeds)
        cli_print("%zu of ", v->measured);
    cli_print("%zu seed%s: ", seeds, seeds == 1 ? "" : "s");
    if (saddle_theorem_violated(v))
        cli_print("the bound is VIOLATED\n");
    else
        cli_print("not contradicted, the bound is %.3g times the measured mean\n",
                  saddle_theorem_ratio(v));
    if (v->measured > 0)
        print_theorem_points(v);
    print_theorem_notes(v);
}

static void add_theorem(saddle_json *j, const theorem_check *v)
{
    saddle_json_put(j, "{ algorithm %s seeds %zu not_finite %zu without_guarantee %zu",
                    v->plus ? "precision+" : "precision", v->seeds, v->seeds - v->measured,
                    v->unguaranteed);
    saddle_json_put(j, "variance_share %g violated %d vacuous %d ratio %g points [",
                    v->variance_share > 0.0 ? v->variance_share : (double)NAN,
                    saddle_theorem_violated(v), saddle_theorem_is_vacuous(v),
                    saddle_theorem_ratio(v));
    for (size_t p = 0; p < THEOREM_POINTS && v->measured > 0; p++) {
        point_means m = means_of(v, p);
        saddle_json_put(j, "{ iterations %g mean_metric %g mean_metric_bound %g worst_seed %g }",
                        m.iterations, m.metric, m.bound, m.worst);
    }
    saddle_json_put(j, "] }");
}

/* ---- the command --------------------------------------------------------------------------- */

/* The results. */
typedef struct findings {
    const cli_arguments *arguments;
    saddle_theory theory;
    saddle_steps practical;
    bool by_size;
    theorem_check theorem[2]; /* about 20 kB each */
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
    saddle_json_put(&j, "verification [");
    for (size_t k = 0; k < 2; k++)
        if (f->theorem[k].seeds > 0)
            add_theorem(&j, &f->theorem[k]);
    saddle_json_put(&j, "]");
    cli_json_end(&j);
}

static int run(const cli_arguments *arguments)
{
    static findings f; /* static because it is large; a program runs one command */
    const options *chosen = arguments->own;
    bool json = chosen->common.json;
    saddle_error error;
    saddle_instance *instance = NULL;
    f.arguments = arguments;
    saddle_status status = saddle_instance_create(&instance, &arguments->plan, &error);
    if (status == SADDLE_OK) {
        cli_warn_unused(&arguments->plan, instance, NULL, 0);
        f.by_size = instance->plan->problem.agent_weights == SADDLE_WEIGHTS_BY_SIZE;
        status = saddle_theorem_theory(instance, &arguments->plan, &f.practical, &f.theory, &error);
    }
    saddle_instance_free(instance);
    if (status == SADDLE_OK && !json)
        print_theory(NULL, &f);
    static const volatile sig_atomic_t never = 0;
    const volatile sig_atomic_t *interrupt = &never;
    if (status == SADDLE_OK && chosen->verify) {
        interrupt = cli_catch_interrupts();
        status = measure(f.theorem, arguments, &f.theory, interrupt, &error);
    }
    if (status != SADDLE_OK)
        return cli_fail(&error);
    if (json)
        print_json(&f);
    for (size_t k = 0; k < 2 && !json; k++)
        if (f.theorem[k].seeds > 0)
            print_theorem(&f.theorem[k]);
    if (*interrupt)
        return CLI_INTERRUPTED;
    return violated(f.theorem) ? CLI_CHECK_FAILED : CLI_OK;
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
        "`saddle run --steps theory` uses these step sizes, and --verify measures what the "
        "theorems bound. The steps are so short that only well-conditioned problems make progress, "
        "such as --problem quadratic --lipschitz 3.16 --mu 1.05 --noise 0.1 --topology complete "
        "--samples 10000 --tau 50 --c-epsilon 1e4.",
    .library = library,
    .own = own,
    .own_bytes = sizeof(options),
    .run = run,
};
