/* `saddle theory`: what Theorems 1 and 2 of the paper promise for an experiment. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "core/print.h"
#include "core/status.h"
#include "result_tables.h"

#define GROUP "Verification"

typedef struct options {
    cli_common common;
    bool verify;
    uint64_t repeats;
} options;

static const saddle_option verify_option = SADDLE_FLAG(
    SADDLE_OWN(options, verify, RUN), "verify", GROUP, "no",
    "Run PRECISION and PRECISION+ with these step sizes, for --iterations or 10000, and "
    "compare the mean metric and the potential with their bounds. Exit status 4 if one is "
    "violated.");
static const saddle_option repeats_option =
    SADDLE_INTEGER(SADDLE_OWN(options, repeats, RUN), "repeats", GROUP, "10", 1, THEOREM_MOST_SEEDS,
                   "K", "With --verify: seeds seed, seed+1, ..., seed+K-1.");
static const saddle_option *const own[] = {&verify_option, &repeats_option, &cli_option_config,
                                           NULL};
static const cli_fields library[] = {CLI_FIELDS(problem),
                                     CLI_FIELDS(network),
                                     CLI_FIELDS(start),
                                     CLI_FIELDS(steps.tau),
                                     CLI_FIELDS(steps.c_gamma),
                                     CLI_FIELDS(steps.c_epsilon),
                                     CLI_FIELDS(steps.epsilon),
                                     CLI_FIELDS(engine.threads),
                                     CLI_FIELDS(limits.iterations),
                                     CLI_NO_FIELDS};

static void line(const char *name, double value, const char *meaning)
{
    char text[CLI_NUMBER];
    if (isnan(value))
        saddle_snprintf(text, sizeof text, "none");
    else
        saddle_snprintf(text, sizeof text, "%.6g", value);
    cli_print("  %-13s  %-12s  ", name, text);
    cli_wrap(stdout, meaning, 31, 31, cli_width(STDOUT_FILENO));
}

static void print_constants(const saddle_theory *t, bool by_size)
{
    cli_print("Problem and network%s\n", by_size ? ", agents count by size" : "");
    line("L", t->lipschitz,
         t->estimated ? "Lipschitz constant of every sample's gradient: estimated, not a bound"
                      : "Lipschitz constant of every sample's gradient over X x Y");
    line("mu", t->strong_concavity, "strong concavity of F in y");
    line("kappa = L/mu", t->lipschitz / t->strong_concavity, "condition number");
    line("lambda", t->lambda, "second largest |eigenvalue| of the mixing matrix");
    line("c1", t->c1, "(1 - lambda^2) / (1 + lambda^2)");
    line("beta", t->beta, "min(tau/12, 1/3)");
}

static void print_steps(const saddle_theory *t, const saddle_steps *practical)
{
    char text[128];
    cli_print("\nStep sizes\n");
    line("tau", t->tau, "proximal weight assumed (--tau)");
    line("alpha", t->alpha, "1/(4L), gradient step in y");
    line("eta bound", t->eta_bound, "Theorem 1 holds for eta up to this");
    line("nu bound", t->nu_bound, "Theorem 1 holds for nu up to this, at the eta below");
    line("eta", t->eta, "half its bound, what --steps theory uses");
    line("nu", t->nu, "half its bound, what --steps theory uses");
    line("q", (double)t->q, "iterations between refreshes, ceil(sqrt(n))");
    saddle_snprintf(text, sizeof text, "what --steps practical uses: %.3g times as large",
                    practical->eta / t->eta);
    line("practical eta", practical->eta, text);
    saddle_snprintf(text, sizeof text, "what --steps practical uses: %.3g times as large",
                    practical->nu / t->nu);
    line("practical nu", practical->nu, text);
}

static void print_coefficients(const saddle_theory *t)
{
    cli_print("\nCoefficients of the descent at these steps\n");
    line("C1", t->C1, "of x consensus");
    line("C2", t->C2, "of x stationarity");
    line("C2'", t->C2_plus, "of x stationarity in Theorem 2 (PRECISION+, --c-gamma)");
    line("C3", t->C3, "of y consensus");
    line("C4", t->C4, "of |y~ - ybar|^2");
    line("rate", t->rate, "min(C1, C2, C3, nu L^2/2)");
    line("rate'", t->rate_plus, "the same with C2'");
    line("p0 - Q*", t->gap, "potential at the start above the lower bound of Q");
}

/* A guarantee: what the number means, or why there is none. */
static void print_guarantee(const saddle_theory *t, bool plus)
{
    double rate = plus ? t->rate_plus : t->rate;
    double iterations = plus ? t->iterations_plus : t->iterations;
    char text[256];
    if (plus && !(rate > 0.0) && t->rate > 0.0)
        saddle_snprintf(
            text, sizeof text,
            "vacuous: C2' is not positive; it is for --c-gamma above %.3g and these steps",
            t->error_factor / t->C2);
    else if (!(rate > 0.0))
        saddle_snprintf(text, sizeof text, "vacuous: a coefficient above is not positive");
    else if (isnan(t->gap))
        saddle_snprintf(text, sizeof text,
                        "unknown: no lower bound of Q is known for this problem over these sets");
    else if (isnan(iterations))
        saddle_snprintf(text, sizeof text,
                        "out of reach: the floor is above epsilon^2; raise --c-epsilon");
    else
        saddle_snprintf(text, sizeof text,
                        "after this many iterations of %s the mean metric is at most epsilon^2%s",
                        plus ? "PRECISION+" : "PRECISION", plus ? ", the floor included" : "");
    line(plus ? "Theorem 2" : "Theorem 1", iterations, text);
}

static void print_guarantees(const saddle_theory *t, double c_epsilon)
{
    cli_print("\nGuarantees for epsilon = %g\n", t->epsilon);
    print_guarantee(t, false);
    print_guarantee(t, true);
    line("c_gamma bound", t->c_gamma_bound, "Theorem 2 as printed asks for a c_gamma above this");
    line("floor", t->error_factor * t->epsilon / c_epsilon,
         "what Theorem 2's mean metric may keep, whatever the number of iterations");
    if (t->iterations > 1e9 || t->iterations_plus > 1e9) {
        putchar('\n');
        cli_wrap(stdout,
                 "The bounds hold for the worst problem with these constants; in practice far "
                 "larger steps converge in far fewer iterations: compare the practical ones above.",
                 0, 0, cli_width(STDOUT_FILENO));
    }
}

/* ---- verification -------------------------------------------------------------------------- */

/* Compare bounds with measurements; `theory` is that of the first seed. */
static int run_verification(const cli_arguments *arguments, const saddle_theory *theory)
{
    static theorem_check theorem[2]; /* some 20 kB each; a program verifies once */
    saddle_error error;
    const char *why;
    const options *chosen = arguments->own;
    size_t repeats = (size_t)chosen->repeats;
    const volatile sig_atomic_t *interrupt = cli_catch_interrupts();
    theorem[1].plus = true;
    if (!saddle_theorem_applies(theory, false, &why)) {
        saddle_fail(&error, SADDLE_UNSUPPORTED, "--verify: the theorems promise nothing here: %s",
                    why);
        return cli_fail(&error);
    }
    if (!saddle_theorem_applies(theory, true, &why))
        cli_warn("Theorem 2 promises nothing here: %s", why);
    for (size_t r = 0; r < repeats && !*interrupt; r++) {
        cli_progress("seed %zu of %zu", r + 1, repeats);
        saddle_status status = saddle_theorem_measure(
            theorem, &arguments->plan, arguments->plan.start.seed + r, interrupt, &error);
        cli_progress_clear();
        if (status != SADDLE_OK)
            return cli_fail(&error);
    }
    bool violated = false;
    for (size_t k = 0; k < 2; k++)
        if (theorem[k].seeds > 0) {
            cli_print_theorem(&theorem[k]);
            violated = violated || saddle_theorem_violated(&theorem[k]);
        }
    if (*interrupt)
        return CLI_INTERRUPTED;
    return violated ? CLI_CHECK_FAILED : CLI_OK;
}

/* ---- the command --------------------------------------------------------------------------- */

static int run(const cli_arguments *arguments)
{
    const options *chosen = arguments->own;
    const saddle_plan *plan = &arguments->plan;
    saddle_error error;
    saddle_instance *instance = NULL;
    saddle_theory theory;
    saddle_steps practical;
    saddle_status status = saddle_instance_create(&instance, plan, &error);
    if (status == SADDLE_OK) {
        cli_warn_unused(plan, instance, NULL, 0);
        status = saddle_theorem_theory(instance, plan, &practical, &theory, &error);
    }
    int code = CLI_OK;
    if (status == SADDLE_OK) {
        print_constants(&theory, instance->plan->problem.agent_weights == SADDLE_WEIGHTS_BY_SIZE);
        print_steps(&theory, &practical);
        print_coefficients(&theory);
        print_guarantees(&theory, plan->steps.c_epsilon);
    } else {
        code = cli_fail(&error);
    }
    saddle_instance_free(instance);
    if (code == CLI_OK && chosen->verify)
        code = run_verification(arguments, &theory);
    return code;
}

const cli_command cli_theory = {
    .name = "theory",
    .operands = "",
    .summary = "step sizes and iteration counts that the theorems give",
    .details = "Evaluates Theorems 1 (PRECISION) and 2 (PRECISION+) for a problem, a network and a "
               "start. --epsilon is the accuracy, 0.1 when not given: the mean metric shall be at "
               "most epsilon^2. `saddle run --steps theory` uses the step sizes shown. --verify "
               "measures what they bound; their steps are so short that only a well-conditioned "
               "problem moves, such as --problem quadratic --lipschitz 3.16 --mu 1.05 --tau 5.6 "
               "--agents 20 --topology complete --samples 16 --c-gamma 1000.",
    .library = library,
    .own = own,
    .own_bytes = sizeof(options),
    .run = run,
};
