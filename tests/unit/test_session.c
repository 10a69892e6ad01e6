/*
 * Sessions of peers over real connections on the loopback interface, each in a thread: exchanges, runs with the bits of
 * `threads`, and what a session refuses.
 */
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include <saddle/saddle.h>

#include "core/world.h"
#include "instance/instance.h"
#include "peer_network.h"
#include "peers/session_state.h"
#include "run/run.h"
#include "support.h"

/* ---- exchanges -------------------------------------------------------------------------------- */

/* More than one piece. */
enum { LONG = 100000 };

static void fill(void *context, size_t agent, double *out)
{
    (void)context;
    for (size_t k = 0; k < LONG; k++)
        out[k] = 1.0 / (double)(3 + agent * 7 + k % 11);
}

static void exchange(peer *self)
{
    size_t m = self->network->graph->agents;
    saddle_peer_engine engine = saddle_peer_engine_of(self->session);
    saddle_world *world = NULL;
    saddle_world *alone = NULL;
    double *sum = calloc((size_t)2 * LONG, sizeof *sum);
    ck_assert_ptr_nonnull(sum);
    assert_ok(saddle_engine_connect(&engine.kind, &world, self->network->graph, &self->error),
              self->error);
    assert_ok(saddle_world_alone(&alone, m, &self->error), self->error);
    assert_ok(saddle_world_sum(world, LONG, fill, NULL, sum, &self->error), self->error);
    assert_ok(saddle_world_sum(alone, LONG, fill, NULL, sum + LONG, &self->error), self->error);
    ck_assert_mem_eq(sum, sum + LONG, LONG * sizeof *sum);
    int64_t words[3] = {1, -(int64_t)self->number, (int64_t)1 << (8 * self->number)};
    world->add_words(world, 3, words);
    ck_assert_int_eq(words[0], (int64_t)m);
    ck_assert_int_eq(words[1], -(int64_t)(m * (m - 1) / 2));
    ck_assert_int_eq(words[2], (int64_t)(((uint64_t)1 << (8 * m)) / 255));
    double most[2] = {(double)self->number, -(double)self->number};
    world->largest(world, 2, most);
    ck_assert(most[0] == (double)(m - 1) && most[1] == 0.0);
    double *shared = calloc(LONG, sizeof *shared);
    ck_assert_ptr_nonnull(shared);
    if (self->number == m - 1)
        fill(NULL, 1, shared);
    world->share(world, m - 1, LONG * sizeof *shared, shared);
    fill(NULL, 1, sum);
    ck_assert_mem_eq(shared, sum, LONG * sizeof *sum);
    double number[MOST_TEST_PEERS] = {0.0};
    number[self->number] = 0.1 * (double)self->number;
    saddle_world_fill(world, 1, number);
    for (size_t i = 0; i < m; i++)
        ck_assert(number[i] == 0.1 * (double)i);
    /* A failure of one agent reaches all, and names it; its text stays where it is. */
    saddle_error error = {.message = ""};
    saddle_status own =
        self->number == 1 ? saddle_fail(&error, SADDLE_BAD_INPUT, "no rows") : SADDLE_OK;
    ck_assert_int_eq(saddle_world_agree(world, own, &error), SADDLE_BAD_INPUT);
    if (self->number == 1)
        ck_assert_str_eq(error.message, "no rows");
    else
        ck_assert_str_eq(error.message, "agent 1 ended: wrong option, file, number, graph or size; "
                                        "its owner knows more");
    saddle_world_free(world);
    saddle_world_free(alone);
    free(shared);
    free(sum);
}

static const char *const topologies[] = {"path", "ring", "star"};

TEST_LOOP(sums_are_those_of_one_process, 0, (int)(sizeof topologies / sizeof *topologies))
{
    peer_network n;
    make_network(&n, topologies[_i], 4 + (size_t)_i);
    for (size_t i = 0; i < n.graph->agents; i++)
        open_session(&n, i);
    run_network(&n, exchange);
    check_all_good(&n);
    saddle_graph_free(n.graph);
}

/* ---- runs ------------------------------------------------------------------------------------- */

static void solve(peer *self)
{
    snprintf(self->model, sizeof self->model, "session-%zu.npz", self->number);
    solve_peer(self, &(saddle_own_outputs){.model = self->model});
}

static const struct {
    const char *topology;
    const char *problem;
    const char *algorithm;
    const char *iterations;
    const char *more[2];
} runs[] = {{"ring", "quadratic", "precision", "60", {"gap", "never"}},
            {"path", "robust-logistic", "precision-auto", "40", {"gap", "never"}},
            {"star", "fair", "precision+", "40", {"gap", "never"}},
            {"complete", "auc", "gt-gda", "20", {"gap", "never"}},
            {"ring", "group-dro", "dream", "20", {"gap", "never"}},
            {"ring", "quadratic", "precision", "60", {"compress", "quantize:4"}},
            {"path", "quadratic", "prox-gt-sgda", "60", {"compress", "random:0.3"}},
            {"star", "quadratic", "gt-gda", "60", {"compress", "top:0.3"}},
            {"complete", "quadratic", "precision", "60", {"clip-mixing", "liars:1"}},
            {"ring", "quadratic", "prox-dsgda", "60", {"clip-mixing", "radius:0.01"}}};

TEST_LOOP(models_are_those_of_threads, 0, (int)(sizeof runs / sizeof *runs))
{
    saddle_plan plan;
    saddle_error error = {.message = ""};
    saddle_result *result = NULL;
    peer_network n;
    saddle_plan_defaults(&plan, sizeof plan);
    const char *const settings[][2] = {
        {"topology", runs[_i].topology},     {"agents", "5"},
        {"problem", runs[_i].problem},       {"algorithm", runs[_i].algorithm},
        {"iterations", runs[_i].iterations}, {"gap", "never"},
        {runs[_i].more[0], runs[_i].more[1]}};
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        assert_ok(saddle_plan_set(&plan, settings[k][0], settings[k][1], &error), error);
    assert_ok(saddle_solve(NULL, &plan, &result, &error), error);
    make_network(&n, runs[_i].topology, 5);
    n.plan = &plan;
    for (size_t i = 0; i < 5; i++)
        open_session(&n, i);
    run_network(&n, solve);
    check_all_good(&n);
    for (size_t i = 0; i < 5; i++) {
        saddle_saved_model *model = NULL;
        assert_ok(saddle_saved_model_load(&model, n.peer[i].model, &error), error);
        ck_assert_uint_eq(model->agents, 1);
        ck_assert_uint_eq(model->iteration, strtoul(runs[_i].iterations, NULL, 10));
        ck_assert_mem_eq(model->x_mean, result->x + i * result->x_dim,
                         result->x_dim * sizeof(double));
        ck_assert_mem_eq(model->y, result->y + i * result->y_dim, result->y_dim * sizeof(double));
        saddle_saved_model_free(model);
        remove(n.peer[i].model);
    }
    saddle_result_free(result);
    saddle_plan_free(&plan);
    saddle_graph_free(n.graph);
}

static void note_epsilon(void *context, const char *message)
{
    peer *self = context;
    if (strstr(message, "has epsilon") != NULL)
        snprintf(self->warning, sizeof self->warning, "%s", message);
}

static void solve_with_noise(peer *self)
{
    saddle_peer_engine engine = saddle_peer_engine_of(self->session);
    saddle_instance *instance = NULL;
    const saddle_plan *plan = self->network->plan;
    snprintf(self->model, sizeof self->model, "session-%zu.npz", self->number);
    const saddle_own_outputs outputs = {.model = self->model};
    self->status = saddle_instance_create_on(&instance, &engine.kind, plan, &self->error);
    SADDLE_THEN(self->status,
                saddle_run_own(instance, plan, &outputs, note_epsilon, self, &self->error));
    saddle_instance_free(instance);
}

/* Noise comes from seeds of the owners: nobody who knows the network file can compute it. */
TEST(noise_is_the_owners_own)
{
    static const char *const settings[][2] = {{"topology", "path"},     {"agents", "3"},
                                              {"problem", "quadratic"}, {"algorithm", "prox-dsgda"},
                                              {"row-clip", "10"},       {"row-noise", "1"},
                                              {"iterations", "20"},     {"gap", "never"}};
    saddle_plan plan;
    saddle_error error = {.message = ""};
    saddle_result *result = NULL;
    saddle_plan_defaults(&plan, sizeof plan);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        assert_ok(saddle_plan_set(&plan, settings[k][0], settings[k][1], &error), error);
    assert_ok(saddle_solve(NULL, &plan, &result, &error), error);
    size_t bytes = result->x_dim * sizeof(double);
    double *x = calloc(7, bytes); /* of three agents in two runs, and in the simulation */
    ck_assert_ptr_nonnull(x);
    for (size_t run = 0; run < 2; run++) {
        peer_network n;
        make_network(&n, "path", 3);
        n.plan = &plan;
        for (size_t i = 0; i < 3; i++)
            open_session(&n, i);
        run_network(&n, solve_with_noise);
        check_all_good(&n);
        for (size_t i = 0; i < 3; i++) {
            saddle_saved_model *model = NULL;
            assert_ok(saddle_saved_model_load(&model, n.peer[i].model, &error), error);
            memcpy(x + (3 * run + i) * result->x_dim, model->x_mean, bytes);
            ck_assert_msg(strstr(n.peer[i].warning, "has epsilon") != NULL, "%s",
                          n.peer[i].warning);
            ck_assert(strstr(n.peer[i].warning, "simulation") == NULL);
            saddle_saved_model_free(model);
            remove(n.peer[i].model);
        }
        saddle_graph_free(n.graph);
    }
    for (size_t i = 0; i < 3; i++) {
        ck_assert(memcmp(x + i * result->x_dim, x + (3 + i) * result->x_dim, bytes) != 0);
        ck_assert(memcmp(x + i * result->x_dim, result->x + i * result->x_dim, bytes) != 0);
    }
    free(x);
    saddle_result_free(result);
    saddle_plan_free(&plan);
}

/* ---- refusals --------------------------------------------------------------------------------- */

static void do_nothing(peer *self)
{
    (void)self;
}

TEST(another_network_file_is_refused)
{
    peer_network n;
    make_network(&n, "path", 2);
    n.peer[1].options.fingerprint[3] ^= 1;
    open_session(&n, 0);
    open_session(&n, 1);
    run_network(&n, do_nothing);
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_ne(n.peer[i].status, SADDLE_OK);
    ck_assert(strstr(n.peer[0].error.message, "agent 1: its run has fingerprint") != NULL ||
              strstr(n.peer[1].error.message, "agent 0: its run has fingerprint") != NULL);
    saddle_graph_free(n.graph);
}

TEST(an_unlisted_key_is_refused_and_reported)
{
    peer_network n;
    unsigned char key[SADDLE_KEY_BYTES];
    make_network(&n, "path", 2);
    n.peer[0].options.patience = n.peer[1].options.patience = 3.0;
    /* Agent 1 has a key of its own making. */
    crypto_box_keypair(key, n.peer[1].options.secret_key);
    memcpy(n.peer[1].member[1].key, key, sizeof key);
    open_session(&n, 0);
    open_session(&n, 1);
    run_network(&n, do_nothing);
    assert_refused(n.peer[0].status, n.peer[0].error, SADDLE_IO,
                   "nothing from agent 1 for 3 seconds");
    char hex[2 * SADDLE_KEY_BYTES + 1];
    sodium_bin2hex(hex, sizeof hex, key, sizeof key);
    ck_assert_msg(strstr(n.peer[0].warning, hex) != NULL, "'%s'", n.peer[0].warning);
    ck_assert_int_eq(n.peer[1].status, SADDLE_IO);
    saddle_graph_free(n.graph);
}

TEST(a_secret_key_must_fit)
{
    peer_network n;
    make_network(&n, "path", 2);
    n.peer[0].options.secret_key[5] ^= 4;
    n.peer[0].member[0].endpoint = "tcp://127.0.0.1:*";
    assert_refused(saddle_session_open(&n.peer[0].session, &n.peer[0].options, &n.peer[0].error),
                   n.peer[0].error, SADDLE_BAD_INPUT, "not that of agent 0");
    ck_assert_ptr_null(n.peer[0].session);
    memcpy(n.peer[0].options.secret_key, n.secret[0], SADDLE_KEY_BYTES);
    n.peer[0].member[0].endpoint = "tcp://127.0.0.1:none";
    assert_refused(saddle_session_open(&n.peer[0].session, &n.peer[0].options, &n.peer[0].error),
                   n.peer[0].error, SADDLE_BAD_INPUT, "tcp://127.0.0.1:none");
    saddle_graph_free(n.graph);
}

/* Returns a world after a first exchange, in which all agents took part. */
static saddle_world *begin_exchanges(peer *self)
{
    saddle_peer_engine engine = saddle_peer_engine_of(self->session);
    saddle_world *world = NULL;
    int64_t word = 1;
    assert_ok(saddle_engine_connect(&engine.kind, &world, self->network->graph, &self->error),
              self->error);
    world->add_words(world, 1, &word);
    return world;
}

/* Agent 1 leaves; the others, also those that are not its neighbours, learn of it. */
static void leave(peer *self)
{
    saddle_world *world = begin_exchanges(self);
    if (self->number == 1)
        self->status = saddle_fail(&self->error, SADDLE_IO, "interrupted");
    else
        self->status = saddle_world_agree(world, SADDLE_OK, &self->error);
    saddle_world_free(world);
}

TEST(all_learn_why_an_agent_leaves)
{
    peer_network n;
    make_network(&n, "path", 4);
    for (size_t i = 0; i < 4; i++)
        open_session(&n, i);
    run_network(&n, leave);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(n.peer[i].status, SADDLE_IO);
    }
    ck_assert_str_eq(n.peer[0].error.message,
                     "agent 1 ended: could not read or write; its owner knows more");
    ck_assert_str_eq(n.peer[3].error.message,
                     "agent 2 ended: could not read or write; its owner knows more");
    saddle_graph_free(n.graph);
}

/* Agrees after an exchange. */
static void agree(peer *self)
{
    saddle_world *world = begin_exchanges(self);
    self->status = saddle_world_agree(world, SADDLE_OK, &self->error);
    saddle_world_free(world);
}

/* Agent 0 tells agent 1 in the name of agent 2 that it has ended. */
static void forge(peer *self)
{
    const saddle_message left = {.kind = SADDLE_MESSAGE_LEFT, .agent = 2};
    if (self->number == 0)
        saddle_session_pass_on(self->session, 1, &left);
    agree(self);
}

TEST(no_agent_speaks_for_another)
{
    peer_network n;
    make_network(&n, "path", 3);
    for (size_t i = 0; i < 3; i++)
        open_session(&n, i);
    run_network(&n, forge);
    check_all_good(&n);
    ck_assert_str_eq(n.peer[1].warning,
                     "agent 0 sent a message in the name of another agent; it is not used");
    saddle_graph_free(n.graph);
}

/* Agent 0 answers a check, which an earlier process of agent 1 may have made. */
static void answer_late(peer *self)
{
    if (self->number == 0)
        saddle_session_answer(self->session, 0, 1);
    agree(self);
}

TEST(a_late_answer_is_not_an_end)
{
    peer_network n;
    make_network(&n, "path", 2);
    open_session(&n, 0);
    open_session(&n, 1);
    run_network(&n, answer_late);
    check_all_good(&n);
    saddle_graph_free(n.graph);
}

/* What agent 1 has said to an earlier process of agent 0 comes first; it must learn that this is another one. */
TEST(a_hello_to_an_earlier_process_is_answered)
{
    peer_network n;
    make_network(&n, "path", 2);
    n.peer[0].options.patience = n.peer[1].options.patience = 5.0;
    open_session(&n, 0);
    open_session(&n, 1);
    saddle_neighbour *earlier = n.peer[1].session->neighbour;
    earlier->incarnation = 1;
    earlier->met = true;
    saddle_session_hello(n.peer[1].session, 0);
    while (!n.peer[0].session->neighbour->met)
        saddle_session_look(n.peer[0].session, SADDLE_LOOK);
    run_network(&n, agree);
    check_all_good(&n);
    saddle_graph_free(n.graph);
}

/* ---- rounds ----------------------------------------------------------------------------------- */

enum { ROUNDS = 4 };

static void take_number(void *context, size_t neighbour, uint64_t round, const void *bytes,
                        size_t size)
{
    (void)neighbour;
    (void)round;
    ck_assert(size == sizeof(double));
    memcpy(context, bytes, size);
}

/* The message of agent 0 is lost in one round, and comes twice in the others. */
static void lose_a_message(peer *self)
{
    saddle_session *s = self->session;
    assert_ok(saddle_session_begin_rounds(s, 1, &self->error), self->error);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        double number = 0.1 * (double)(round + 1) * (double)(1 + self->number);
        double got = 0.0;
        if (self->number == 0 && round == 2) {
            ck_assert(saddle_session_keep(&s->sent[0], round, &number, sizeof number));
        } else {
            saddle_session_send_round(s, round, &number, sizeof number);
            saddle_session_say_round(s, 0, round);
        }
        saddle_session_take_round(s, round, sizeof got, take_number, &got);
        ck_assert(got == 0.1 * (double)(round + 1) * (double)(2 - self->number));
    }
    saddle_world_free(begin_exchanges(self));
}

TEST(a_lost_message_is_sent_again)
{
    peer_network n;
    make_network(&n, "path", 2);
    open_session(&n, 0);
    open_session(&n, 1);
    run_network(&n, lose_a_message);
    check_all_good(&n);
    saddle_graph_free(n.graph);
}

/* ---- an agent that lies during set-up --------------------------------------------------------- */

/* What it says, and what one of the others answers: the text stays with whoever notices. */
static const struct lie {
    size_t liar;
    enum { TEXTS, RANKS, GROUPS, ROWS } about;
    const char *problem;
    const char *data;
    const char *answer;
} lies[] = {{0, TEXTS, "quadratic", NULL, "process 0 has other options"},
            {1, RANKS, "quadratic", NULL, ""},
            {1, GROUPS, "group-dro", "synthetic:90:3", "groups"},
            {1, ROWS, "auc", "session-lies-%d.csv", "say that agent 0 has 40 rows"}};

static const struct lie *lie;
static saddle_world honest; /* its functions */
static bool told;           /* lies of one number are told once */

static void lying_share(const saddle_world *world, size_t from, size_t bytes, void *block)
{
    const uint64_t many = 1 << 20;
    bool lies_here = (lie->about == TEXTS || lie->about == GROUPS) && !told;
    if (from == world->rank && bytes == sizeof many && lies_here) {
        memcpy(block, &many, sizeof many);
        told = true;
    }
    honest.share(world, from, bytes, block);
}

static void lying_largest(const saddle_world *world, size_t count, double *values)
{
    if (lie->about == RANKS)
        values[0] = 1e300;
    honest.largest(world, count, values);
}

static void lying_add_words(const saddle_world *world, size_t count, int64_t *words)
{
    /* Doubles the first of the agents' numbers. */
    if (lie->about == ROWS && count == world->ranks)
        words[0] += (int64_t)1 << 52;
    honest.add_words(world, count, words);
}

static saddle_status connect_liar(const saddle_engine_class *engine, saddle_world **out,
                                  const saddle_graph *graph, saddle_error *error)
{
    saddle_status status = saddle_peer_connect(engine, out, graph, error);
    if (status != SADDLE_OK)
        return status;
    honest = **out;
    (*out)->share = lying_share;
    (*out)->largest = lying_largest;
    (*out)->add_words = lying_add_words;
    return SADDLE_OK;
}

static void set_up(peer *self)
{
    saddle_peer_engine engine = saddle_peer_engine_of(self->session);
    saddle_instance *instance = NULL;
    if (self->number == lie->liar)
        engine.kind.connect = connect_liar;
    self->status =
        saddle_instance_create_on(&instance, &engine.kind, self->network->plan, &self->error);
    saddle_instance_free(instance);
}

static void write_rows(size_t agent)
{
    char path[64];
    snprintf(path, sizeof path, "session-lies-%zu.csv", agent);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    for (int row = 0; row < 20; row++)
        fprintf(f, "%d.5,%d.25,%d\n", row % 7, row % 3, row % 2);
    fclose(f);
}

TEST_LOOP(an_agent_that_lies_is_refused, 0, (int)(sizeof lies / sizeof *lies))
{
    saddle_plan plan;
    saddle_error error = {.message = ""};
    peer_network n;
    lie = &lies[_i];
    told = false;
    saddle_plan_defaults(&plan, sizeof plan);
    const char *const settings[][2] = {{"agents", "3"},        {"topology", "path"},
                                       {"gap", "never"},       {"problem", lie->problem},
                                       {"data", lie->data},    {"groups", "label"},
                                       {"algorithm", "gt-gda"}};
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        if (settings[k][1] != NULL && (k != 5 || lie->about == GROUPS))
            assert_ok(saddle_plan_set(&plan, settings[k][0], settings[k][1], &error), error);
    make_network(&n, "path", 3);
    n.plan = &plan;
    saddle_test_enter_directory();
    for (size_t i = 0; i < 3; i++) {
        write_rows(i);
        open_session(&n, i);
    }
    run_network(&n, set_up);
    bool answered = false;
    for (size_t i = 0; i < 3; i++) {
        if (i == lie->liar)
            continue;
        ck_assert_int_eq(n.peer[i].status, SADDLE_BAD_INPUT);
        answered = answered || strstr(n.peer[i].error.message, lie->answer) != NULL;
    }
    ck_assert_msg(answered, "nobody says '%s'", lie->answer);
    saddle_plan_free(&plan);
    saddle_graph_free(n.graph);
}

/* ---- an agent that lies in rounds -------------------------------------------------------------- */

/* The first number of the messages of agent 1 from round 3 on, and whether rounds have a deadline. */
static const struct {
    double number;
    double deadline;
    const char *says;
} numbers[] = {{NAN, 0.0, "agent 1 sent the number nan in round 3"},
               {-INFINITY, 0.0, "agent 1 sent the number -inf in round 3"},
               {1e200, 0.0, "agent 1 sent the number 1e+200 in round 3"},
               {NAN, 5.0, "agent 1 sent the number nan in round"}};

static saddle_sockets_table truthful;
static saddle_session *liar;
static double lying_number;

/* Implements saddle_sockets_table.send for the liar. */
static bool lying_send(saddle_sockets *sockets, size_t to, const void *head, size_t head_bytes,
                       const void *body, size_t body_bytes)
{
    enum { KIND = 6, STEP = 32 };
    unsigned char header[SADDLE_MESSAGE_HEADER];
    uint64_t step;
    memcpy(&step, (const char *)head + STEP, sizeof step);
    if (((const unsigned char *)head)[KIND] != SADDLE_MESSAGE_ROUND || step < 3)
        return truthful.send(sockets, to, head, head_bytes, body, body_bytes);
    unsigned char *copy = malloc(body_bytes);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, body, body_bytes);
    memcpy(copy, &lying_number, sizeof lying_number);
    const saddle_message message = {.kind = SADDLE_MESSAGE_ROUND,
                                    .agent = 1,
                                    .incarnation = liar->incarnation,
                                    .step = step,
                                    .body = copy,
                                    .length = body_bytes};
    saddle_message_seal(&liar->rule, &message, header);
    bool sent = truthful.send(sockets, to, header, sizeof header, copy, body_bytes);
    free(copy);
    return sent;
}

TEST_LOOP(who_sends_unusable_numbers_is_named, 0, (int)(sizeof numbers / sizeof *numbers))
{
    saddle_plan plan;
    saddle_error error = {.message = ""};
    saddle_sockets_table lying;
    peer_network n;
    saddle_plan_defaults(&plan, sizeof plan);
    const char *const settings[][2] = {{"agents", "3"},         {"topology", "path"},
                                       {"gap", "never"},        {"problem", "quadratic"},
                                       {"algorithm", "gt-gda"}, {"iterations", "20"}};
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        assert_ok(saddle_plan_set(&plan, settings[k][0], settings[k][1], &error), error);
    make_network(&n, "path", 3);
    n.plan = &plan;
    for (size_t i = 0; i < 3; i++) {
        n.peer[i].options.deadline = numbers[_i].deadline;
        open_session(&n, i);
    }
    liar = n.peer[1].session;
    lying_number = numbers[_i].number;
    truthful = *liar->table;
    lying = truthful;
    lying.send = lying_send;
    liar->table = &lying;
    run_network(&n, solve);
    bool named = false;
    for (size_t i = 0; i < 3; i += 2) {
        bool ends = numbers[_i].deadline == 0.0;
        ck_assert_int_eq(n.peer[i].status == SADDLE_OK, !ends);
        named = named || strstr(ends ? n.peer[i].error.message : n.peer[i].warning,
                                numbers[_i].says) != NULL;
    }
    ck_assert_msg(named, "nobody says '%s' but '%s', '%s'", numbers[_i].says,
                  n.peer[0].error.message, n.peer[0].warning);
    for (size_t i = 0; i < 3; i++)
        remove(n.peer[i].model);
    saddle_plan_free(&plan);
    saddle_graph_free(n.graph);
}

TEST(a_file_is_not_replaced_by_a_socket)
{
    peer_network n;
    make_network(&n, "path", 2);
    saddle_test_enter_directory();
    write_rows(0);
    n.peer[0].member[0].endpoint = "ipc://session-lies-0.csv";
    assert_refused(saddle_session_open(&n.peer[0].session, &n.peer[0].options, &n.peer[0].error),
                   n.peer[0].error, SADDLE_BAD_INPUT, "is not a socket");
    FILE *f = fopen("session-lies-0.csv", "r");
    ck_assert_ptr_nonnull(f);
    fclose(f);
    saddle_graph_free(n.graph);
}
