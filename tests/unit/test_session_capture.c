/*
 * What leaves an owner: all messages of three agents are captured before they are encrypted, and compared with the
 * table of docs/privacy.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saddle/saddle.h>

#include "core/print.h"
#include "data/dataset.h"
#include "instance/instance.h"
#include "peer_network.h"
#include "peers/session_state.h"
#include "run/run.h"
#include "support.h"

enum { AGENTS = 3, ROWS = 40, KINDS = SADDLE_MESSAGE_KINDS, MOST_NUMBERS = 2000 };
static const char *const kind_name[] = {"",        "`hello`",  "`record`", "`missing`",
                                        "`round`", "`again`",  "`done`",   "`left`",
                                        "`check`", "`answer`", "`refused`"};
_Static_assert(sizeof kind_name / sizeof *kind_name == KINDS, "a name for every kind of message");

/* ---- the capture ------------------------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const saddle_sockets_table *real;
static saddle_sockets_table capturing;
static struct {
    size_t count;
    size_t shortest; /* bodies */
    size_t longest;
} sent[KINDS];
static double *number; /* in all bodies of records and rounds */
static size_t numbers;
static size_t room;

static void keep_numbers(const unsigned char *body, size_t size)
{
    for (size_t k = 0; k + sizeof *number <= size; k += sizeof *number) {
        if (numbers == room) {
            room = 2 * room + 1024;
            number = realloc(number, room * sizeof *number);
            ck_assert_ptr_nonnull(number);
        }
        memcpy(&number[numbers++], body + k, sizeof *number);
    }
}

static bool send_captured(saddle_sockets *sockets, size_t to, const void *head, size_t head_bytes,
                          const void *body, size_t body_bytes)
{
    unsigned kind = ((const unsigned char *)head)[6];
    pthread_mutex_lock(&lock);
    ck_assert_uint_lt(kind, KINDS);
    ck_assert_uint_eq(head_bytes, SADDLE_MESSAGE_HEADER);
    if (sent[kind].count++ == 0 || body_bytes < sent[kind].shortest)
        sent[kind].shortest = body_bytes;
    if (body_bytes > sent[kind].longest)
        sent[kind].longest = body_bytes;
    if (kind == SADDLE_MESSAGE_RECORD || kind == SADDLE_MESSAGE_ROUND)
        keep_numbers(body, body_bytes);
    pthread_mutex_unlock(&lock);
    return real->send(sockets, to, head, head_bytes, body, body_bytes);
}

static bool was_sent(double value)
{
    size_t k = 0;
    while (k < numbers && number[k] != value && number[k] != -value)
        k++;
    return k < numbers;
}

/* ---- the runs --------------------------------------------------------------------------------- */

static double age[AGENTS][ROWS];
static double scaled[AGENTS][MOST_NUMBERS]; /* what the instance makes of the rows */
static size_t scaled_count[AGENTS];
static size_t published; /* numbers of a round */

static void write_rows(size_t agent)
{
    char path[64];
    snprintf(path, sizeof path, "part-%zu.csv", agent);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("age,colour,label\n", f);
    for (size_t row = 0; row < ROWS; row++) {
        age[agent][row] = 7.7 * (double)agent + 0.123456789 * (double)((row * 17) % ROWS + 1);
        saddle_fprintf(f, "%.17g,%s,%d\n", age[agent][row], row % 2 != 0 ? "red" : "blue",
                       (row * 7 + agent) % 3 == 0);
    }
    fclose(f);
}

static void keep_rows(const saddle_dataset *data, size_t agent)
{
    size_t count = data->dense != NULL ? data->rows * data->features : data->nonzeros;
    const double *value = data->dense != NULL ? data->dense : data->value;
    for (size_t k = 0; k < count && k < MOST_NUMBERS; k++)
        scaled[agent][scaled_count[agent]++] = value[k];
}

static void solve(peer *self)
{
    saddle_peer_engine engine = saddle_peer_engine_of(self->session);
    saddle_instance *instance = NULL;
    const saddle_own_outputs outputs = {.model = NULL};
    self->status =
        saddle_instance_create_on(&instance, &engine.kind, self->network->plan, &self->error);
    if (self->status == SADDLE_OK) {
        keep_rows(instance->parts->shard[self->number], self->number);
        published = 2 * (instance->problem->x_dim + instance->problem->y_dim) + 5;
        self->status =
            saddle_run_own(instance, self->network->plan, &outputs, NULL, NULL, &self->error);
    }
    saddle_instance_free(instance);
}

/* Captures a run. */
static void capture(void)
{
    const char *const settings[][2] = {
        {"topology", "path"}, {"agents", "3"},  {"data", "part-%d.csv"},        {"problem", "auc"},
        {"iterations", "5"},  {"gap", "never"}, {"algorithm", "precision-auto"}};
    saddle_plan plan;
    saddle_error error = {.message = ""};
    peer_network n;
    saddle_plan_defaults(&plan, sizeof plan);
    saddle_test_enter_directory();
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        assert_ok(saddle_plan_set(&plan, settings[k][0], settings[k][1], &error), error);
    make_network(&n, "path", AGENTS);
    n.plan = &plan;
    for (size_t i = 0; i < AGENTS; i++) {
        write_rows(i);
        open_session(&n, i);
        real = n.peer[i].session->table;
        capturing = *real;
        capturing.send = send_captured;
    }
    for (size_t i = 0; i < AGENTS; i++)
        n.peer[i].session->table = &capturing;
    run_network(&n, solve);
    check_all_good(&n);
    saddle_plan_free(&plan);
    saddle_graph_free(n.graph);
}

TEST(no_entry_of_a_row_leaves_except_the_extremes_of_columns)
{
    capture();
    for (size_t i = 0; i < AGENTS; i++) {
        double least = INFINITY;
        double most = -INFINITY;
        for (size_t row = 0; row < ROWS; row++) {
            least = fmin(least, age[i][row]);
            most = fmax(most, age[i][row]);
        }
        /* These are found, so that others would be, too. */
        ck_assert(was_sent(least) && was_sent(most));
        for (size_t row = 0; row < ROWS; row++)
            ck_assert_msg(age[i][row] == least || age[i][row] == most || !was_sent(age[i][row]),
                          "%.17g of agent %zu was sent", age[i][row], i);
        size_t looked_for = 0;
        for (size_t k = 0; k < scaled_count[i]; k++)
            if (scaled[i][k] != rint(scaled[i][k])) {
                looked_for++;
                ck_assert_msg(!was_sent(scaled[i][k]), "%.17g of agent %zu was sent", scaled[i][k],
                              i);
            }
        ck_assert_uint_ge(looked_for, ROWS - 1);
    }
    free(number);
    number = NULL;
}

/* ---- the page --------------------------------------------------------------------------------- */

/* Returns whether the page's table has a row for a message, whose body is as it says. */
static bool page_has(const char *name, const char *body)
{
    char line[1024];
    bool found = false;
    FILE *f = fopen(TEST_PRIVACY_PAGE, "r");
    ck_assert_ptr_nonnull(f);
    while (!found && fgets(line, sizeof line, f) != NULL)
        found = strncmp(line, "| `", 3) == 0 && strstr(line, name) != NULL &&
                (strstr(line, name) < strchr(line + 2, '|')) && strstr(line, body) != NULL;
    fclose(f);
    return found;
}

TEST(the_page_lists_all_messages)
{
    static const char *const body[KINDS] = {"",
                                            "version",
                                            "at the start",
                                            "a bit for each agent",
                                            "x, y and the trackers",
                                            "nothing",
                                            "nothing",
                                            "nothing",
                                            "version",
                                            "time",
                                            "nothing"};
    for (unsigned kind = 1; kind < KINDS; kind++)
        ck_assert_msg(page_has(kind_name[kind], body[kind]), "no row %s with '%s'", kind_name[kind],
                      body[kind]);
    ck_assert(!page_has("`other`", ""));
    capture();
    size_t hello = SADDLE_POSITION + strlen(saddle_version());
    ck_assert(sent[SADDLE_MESSAGE_HELLO].shortest == hello &&
              sent[SADDLE_MESSAGE_HELLO].longest == hello);
    ck_assert_uint_gt(sent[SADDLE_MESSAGE_RECORD].count, 0);
    ck_assert_uint_eq(sent[SADDLE_MESSAGE_MISSING].longest,
                      sent[SADDLE_MESSAGE_MISSING].count > 0 ? 1 : 0);
    ck_assert_uint_gt(sent[SADDLE_MESSAGE_ROUND].shortest, 0);
    ck_assert_uint_eq(sent[SADDLE_MESSAGE_ROUND].longest, published * sizeof(double));
    for (unsigned kind = SADDLE_MESSAGE_AGAIN; kind <= SADDLE_MESSAGE_LEFT; kind++)
        ck_assert_uint_eq(sent[kind].longest, 0);
    for (unsigned kind = SADDLE_MESSAGE_CHECK; kind < KINDS; kind++)
        ck_assert_uint_eq(sent[kind].count, 0);
    free(number);
    number = NULL;
}
