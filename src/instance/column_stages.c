/*
 * Stages of an instance: columns and labels, if each agent has its own file.
 *
 * The texts of a column of CSV files must become the same features at all agents, and missing values
 * must get the same substitutes. So agents exchange what their columns contain: names, texts and how
 * often each occurs, and sums of numbers. A problem needs signs, classes or numbers; the rule that
 * converts labels depends on the labels of all agents.
 */
#include "data/columns.h"
#include "data/dataset.h"
#include "files/pattern.h"
#include "instance/instance.h"

/* This many different labels must be measurements, not classes. */
#define MOST_LABELS 100000

/* ---- columns --------------------------------------------------------------------------------- */

/* Scans the files of the agents in this process. */
saddle_status saddle_stage_scan_columns(saddle_instance *e, saddle_error *error)
{
    const saddle_world *world = e->world;
    const saddle_plan *plan = e->plan;
    if (!saddle_data_is_divided(e) || plan->problem.shards != NULL)
        return SADDLE_OK;
    SADDLE_TRY(saddle_in_field("--data", saddle_pattern_check(plan->problem.data, error), error));
    e->parts->scanned = saddle_alloc(world->agents, sizeof(saddle_columns *));
    SADDLE_TRY(saddle_check_memory(e->parts->scanned, "the columns", error));
    saddle_data_options options = saddle_plan_data_options(plan);
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < world->local; k++) {
        size_t agent = world->here[k];
        saddle_error why = {.message = ""};
        SADDLE_OWNED char *name = saddle_agent_file(plan, agent);
        SADDLE_TRY(saddle_check_memory(name, "a file name", error));
        status = saddle_dataset_scan(&e->parts->scanned[agent], name, &options, &why);
        if (status != SADDLE_OK)
            saddle_refuse_agent_file(agent, name, &why, error);
    }
    return status;
}

/* Returns an agent's columns as text, to be freed, in all processes. NULL with a length of 0
 * means that it has none; NULL with another length means that memory is short in some process.
 * Collective. */
static char *share_text(const saddle_instance *e, size_t agent, uint64_t *length)
{
    const saddle_world *world = e->world;
    const saddle_columns *own = e->parts->scanned[agent];
    bool here = world->home[agent] == world->rank;
    char *text = here && own != NULL ? saddle_columns_print(own, true) : NULL;
    *length = !here || own == NULL ? 0 : text != NULL ? strlen(text) + 1 : UINT64_MAX;
    world->share(world, world->home[agent], sizeof *length, length);
    if (*length == 0 || *length == UINT64_MAX)
        return NULL;
    if (!here)
        text = calloc((size_t)*length, 1);
    double lacking = text == NULL ? 1.0 : 0.0;
    world->largest(world, 1, &lacking);
    if (lacking > 0.0 || text == NULL) {
        free(text);
        return NULL;
    }
    world->share(world, world->home[agent], (size_t)*length, text);
    /* A peer's text may lack its end. */
    text[*length - 1] = '\0';
    return text;
}

/* Merges an agent's columns into those of the agents before it. */
static saddle_status add_columns(saddle_instance *e, size_t agent, const char *text,
                                 saddle_error *error)
{
    saddle_columns *columns = NULL;
    saddle_error why = {.message = ""};
    SADDLE_TRY(saddle_columns_parse(&columns, text, error));
    if (e->parts->columns == NULL) {
        e->parts->columns = columns;
        return SADDLE_OK;
    }
    saddle_status status = saddle_columns_merge(e->parts->columns, columns, &why);
    saddle_columns_free(columns);
    if (status == SADDLE_OK)
        return status;
    SADDLE_OWNED char *name = saddle_pattern_name(e->plan->problem.data, agent);
    saddle_fail(error, status, "agent %zu, '%s': %s", agent,
                SADDLE_EXCERPT(name != NULL ? name : ""), why.message);
    return status;
}

/* Merges the columns of all agents, in their order, and decides which features they become. */
saddle_status saddle_stage_share_columns(saddle_instance *e, saddle_error *error)
{
    const saddle_plan *plan = e->plan;
    saddle_status status = SADDLE_OK;
    size_t with = 0;
    if (e->parts->scanned == NULL)
        return SADDLE_OK;
    for (size_t i = 0; i < e->world->agents; i++) {
        uint64_t length = 0;
        char *text = share_text(e, i, &length);
        with += length > 0;
        SADDLE_THEN_IF(status, length > 0 && text == NULL, saddle_no_memory(error, "the columns"));
        SADDLE_THEN_IF(status, text != NULL,
                       saddle_in_field("--data", add_columns(e, i, text, error), error));
        free(text);
    }
    if (status == SADDLE_OK && with > 0 && with < e->world->agents)
        status = saddle_refuse(error,
                               "--data: the files of %zu agents are CSV and those of %zu are not; "
                               "give all agents files of the same format",
                               with, e->world->agents - with);
    SADDLE_THEN_IF(status, with > 0,
                   saddle_in_field(
                       "--data",
                       saddle_columns_settle(e->parts->columns, plan->problem.categories,
                                             plan->problem.missing == SADDLE_MISSING_IMPUTE, error),
                       error));
    e->columns = e->parts->columns;
    return status;
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Adds to an error message which text each label stands for. */
static void explain_labels(const saddle_columns *columns, saddle_error *error)
{
    size_t count = 0;
    const char *const *text = saddle_columns_label_texts(columns, &count);
    saddle_error said = error != NULL ? *error : (saddle_error){.message = ""};
    if (text == NULL || error == NULL)
        return;
    char list[256] = "";
    size_t shown = 0;
    for (; shown < count && strlen(list) < sizeof list / 2; shown++)
        saddle_append(list, sizeof list, "%s%zu is '%.40s'", shown > 0 ? ", " : "", shown,
                      text[shown]);
    if (shown < count)
        saddle_append(list, sizeof list, " and so on");
    saddle_refuse(error, "%.700s (label %s)", said.message, list);
}

/* Decides how labels are converted, given the distinct labels of all agents, and records it in
 * the plan for held-out rows and for users of the saved model. */
static saddle_status settle_labels(saddle_instance *e, const double *classes, size_t count,
                                   saddle_error *error)
{
    saddle_plan *plan = &e->parts->plan;
    saddle_label_kind kind = e->kind->labels;
    const char **field =
        kind == SADDLE_LABELS_CLASSES ? &plan->problem.classes : &plan->problem.positive;
    char *rule = NULL;
    SADDLE_OWNED char *known = NULL;
    /* Texts of the label column may be given by name. */
    SADDLE_OWNED char *wanted =
        *field != NULL ? saddle_columns_label_list(e->parts->columns, *field) : NULL;
    if (wanted == NULL && *field != NULL)
        return saddle_no_memory(error, "the labels");
    saddle_status status = saddle_labels_settle(kind, wanted, classes, count, &rule, &known, error);
    if (status == SADDLE_BAD_INPUT)
        explain_labels(e->parts->columns, error);
    if (status == SADDLE_OK && rule != NULL) {
        if (kind == SADDLE_LABELS_SIGNS)
            plan->problem.classes = known != NULL ? known : "auto";
        *field = rule;
        status = saddle_plan_refresh(plan, error);
    }
    saddle_free(rule);
    return status;
}

saddle_label_rule saddle_plan_label_rule(const saddle_plan *plan, saddle_label_kind kind)
{
    return (saddle_label_rule){
        .kind = kind, .positive = plan->problem.positive, .classes = plan->problem.classes};
}

saddle_status saddle_instance_label(saddle_instance *e, saddle_dataset *data, saddle_error *error)
{
    SADDLE_OWNED double *classes = NULL;
    size_t count = 0;
    SADDLE_TRY(saddle_dataset_classes(data, &classes, &count, error));
    SADDLE_TRY(settle_labels(e, classes, count, error));
    const saddle_label_rule rule = saddle_plan_label_rule(e->plan, e->kind->labels);
    return saddle_labels_apply(&rule, data, error);
}

/* Refuses text as the labels of a problem that needs numbers. */
static saddle_status refuse_texts(const saddle_instance *e, saddle_error *error)
{
    size_t count = 0;
    const char *const *text = saddle_columns_label_texts(e->columns, &count);
    if (text == NULL || e->kind == NULL || e->kind->labels != SADDLE_LABELS_REAL)
        return SADDLE_OK;
    return saddle_refuse(error,
                         "--data: the labels are text, such as '%s', but problem %s needs numbers; "
                         "choose another --label-column or problem",
                         SADDLE_EXCERPT(text[0]), e->kind->name);
}

/* Lists the distinct labels of the agents in this process, and allocates memory for those of
 * all. */
saddle_status saddle_stage_list_labels(saddle_instance *e, saddle_error *error)
{
    struct saddle_instance_parts *parts = e->parts;
    const saddle_world *world = e->world;
    size_t rows = 0;
    SADDLE_TRY(refuse_texts(e, error));
    if (!saddle_data_is_divided(e) || e->kind->labels == SADDLE_LABELS_REAL)
        return SADDLE_OK;
    for (size_t k = 0; k < world->local; k++)
        rows += parts->samples[world->here[k]];
    parts->label = saddle_alloc_doubles(rows);
    parts->classes = saddle_alloc_doubles(MOST_LABELS);
    if (parts->label == NULL || parts->classes == NULL)
        return saddle_no_memory(error, "the labels");
    double *next = parts->label;
    for (size_t k = 0; k < world->local; k++) {
        const saddle_dataset *data = parts->shard[world->here[k]];
        memcpy(next, data->label, data->rows * sizeof *next);
        next += data->rows;
    }
    parts->label_count = saddle_labels_distinct(parts->label, rows);
    return SADDLE_OK;
}

/* Finds the distinct labels of all agents from the largest down: in every round each process
 * offers the largest of its labels that has not been found yet. Returns their number, at most
 * MOST_LABELS; parts->classes receives them in ascending order. Collective. */
static size_t find_classes(struct saddle_instance_parts *parts, const saddle_world *world)
{
    size_t left = parts->label_count;
    size_t count = 0;
    for (;; count++) {
        double own = left > 0 ? parts->label[left - 1] : -INFINITY;
        double largest = own;
        world->largest(world, 1, &largest);
        if (largest == -INFINITY || count == MOST_LABELS)
            break;
        parts->classes[MOST_LABELS - 1 - count] = largest;
        left -= own == largest;
    }
    memmove(parts->classes, parts->classes + MOST_LABELS - count, count * sizeof *parts->classes);
    return count;
}

/* Converts the labels of the agents in this process, by a rule that depends on the labels of all
 * agents. */
saddle_status saddle_stage_share_labels(saddle_instance *e, saddle_error *error)
{
    struct saddle_instance_parts *parts = e->parts;
    if (!saddle_data_is_divided(e) || e->kind->labels == SADDLE_LABELS_REAL)
        return SADDLE_OK;
    size_t count = find_classes(parts, e->world);
    if (count == MOST_LABELS)
        return saddle_refuse(error,
                             "--data: there are %d or more different labels, but problem %s needs "
                             "classes; give labels of classes, not measurements",
                             MOST_LABELS, e->kind->name);
    SADDLE_TRY(settle_labels(e, parts->classes, count, error));
    const saddle_label_rule rule = saddle_plan_label_rule(e->plan, e->kind->labels);
    for (size_t k = 0; k < e->world->local; k++)
        SADDLE_TRY(saddle_labels_apply(&rule, parts->shard[e->world->here[k]], error));
    return SADDLE_OK;
}
