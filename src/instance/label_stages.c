/*
 * Stages of an instance: labels. A problem needs signs, classes or numbers; the rule that converts
 * labels depends on the labels of all agents.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "data/columns.h"
#include "data/dataset.h"
#include "instance/instance.h"

/* This many different labels must be measurements, not classes. */
#define MOST_LABELS 100000

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
    saddle_fail(error, SADDLE_BAD_INPUT, "%.700s (label %s)", said.message, list);
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
    /* Texts of the label column may be given by name. */
    char *wanted = *field != NULL ? saddle_columns_label_list(e->parts->columns, *field) : NULL;
    if (wanted == NULL && *field != NULL)
        return saddle_no_memory(error, "the labels");
    saddle_status status = saddle_labels_settle(kind, wanted, classes, count, &rule, error);
    if (status == SADDLE_BAD_INPUT)
        explain_labels(e->parts->columns, error);
    if (status == SADDLE_OK && rule != NULL) {
        *field = rule;
        status = saddle_plan_refresh(plan, error);
    }
    saddle_free(wanted);
    saddle_free(rule);
    return status;
}

const char *saddle_plan_label_rule(const saddle_plan *plan, saddle_label_kind kind)
{
    return kind == SADDLE_LABELS_CLASSES ? plan->problem.classes : plan->problem.positive;
}

saddle_status saddle_instance_label(saddle_instance *e, saddle_dataset *data, saddle_error *error)
{
    double *classes = NULL;
    size_t count = 0;
    saddle_status status = saddle_dataset_classes(data, &classes, &count, error);
    SADDLE_THEN(status, settle_labels(e, classes, count, error));
    saddle_free(classes);
    SADDLE_THEN(status,
                saddle_labels_apply(e->kind->labels,
                                    saddle_plan_label_rule(e->plan, e->kind->labels), data, error));
    return status;
}

/* Lists the distinct labels of the agents in this process, and allocates memory for those of
 * all. */
saddle_status saddle_stage_list_labels(saddle_instance *e, saddle_error *error)
{
    struct saddle_instance_parts *parts = e->parts;
    const saddle_world *world = e->world;
    size_t rows = 0;
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
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "data: there are %d or more different labels, but problem %s needs "
                           "classes; give labels of classes, not measurements",
                           MOST_LABELS, e->kind->name);
    saddle_status status = settle_labels(e, parts->classes, count, error);
    for (size_t k = 0; status == SADDLE_OK && k < e->world->local; k++)
        status =
            saddle_labels_apply(e->kind->labels, saddle_plan_label_rule(e->plan, e->kind->labels),
                                parts->shard[e->world->here[k]], error);
    return status;
}
