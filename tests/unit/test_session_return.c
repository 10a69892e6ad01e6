/* Processes that take the place of earlier ones: what they keep on the disk, and whom their neighbours take in. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <saddle/saddle.h>

#include "core/world.h"
#include "instance/instance.h"
#include "peer_network.h"
#include "peers/session_state.h"
#include "run/run.h"
#include "support.h"

/* ---- the directory ---------------------------------------------------------------------------- */

static saddle_error error;

static saddle_store *open_at(const char *directory, saddle_store_begin begin)
{
    saddle_store *store = NULL;
    const saddle_store_options options = {
        .directory = directory, .begin = begin, .fingerprint = "one run", .self = 3};
    assert_ok(saddle_store_open(&store, &options, &error), error);
    return store;
}

static saddle_store *open_store(saddle_store_begin begin)
{
    return open_at("saved", begin);
}

static void refuse_store(saddle_store_options options, const char *text)
{
    saddle_store *store = NULL;
    options.directory = "saved";
    assert_refused(saddle_store_open(&store, &options, &error), error, SADDLE_BAD_INPUT, text);
    ck_assert_ptr_null(store);
}

/* Exchange `n` has this text, in two pieces. */
static void text_of(unsigned n, char out[64])
{
    snprintf(out, 64, "exchange %u has %u bytes", n, 17 * n);
}

static void fill_store(void)
{
    saddle_store *store = open_store(SADDLE_STORE_NEW);
    ck_assert(!saddle_store_returns(store));
    for (unsigned n = 0; n < 3; n++) {
        char text[64];
        text_of(n, text);
        const saddle_store_piece piece[] = {{text, 5}, {text + 5, strlen(text) - 5}};
        assert_ok(saddle_store_add(store, piece, 2, &error), error);
    }
    const saddle_store_piece state[] = {{"a ", 2}, {"", 0}, {"state", 5}};
    assert_ok(saddle_store_save(store, state, 3, &error), error);
    saddle_store_close(store);
}

/* Returns how many exchanges there are, which must be those that were added. */
static unsigned count_exchanges(saddle_store *store)
{
    unsigned n = 0;
    size_t bytes;
    const unsigned char *found;
    while ((found = saddle_store_next(store, &bytes)) != NULL) {
        char text[64];
        text_of(n++, text);
        ck_assert_uint_eq(bytes, strlen(text));
        ck_assert_mem_eq(found, text, bytes);
    }
    return n;
}

TEST(a_directory_keeps_what_it_was_given)
{
    size_t bytes;
    struct stat info;
    saddle_test_enter_directory();
    fill_store();
    ck_assert_int_eq(stat("saved/setup.saddle", &info), 0);
    ck_assert_uint_eq(info.st_mode & 077, 0);
    uint32_t before = 0;
    for (int time = 0; time < 3; time++) {
        saddle_store *store = open_store(time == 1 ? SADDLE_STORE_OLD : SADDLE_STORE_EITHER);
        ck_assert(saddle_store_returns(store));
        ck_assert_uint_gt(saddle_store_incarnation(store), before);
        before = saddle_store_incarnation(store);
        ck_assert_uint_eq(count_exchanges(store), 3);
        ck_assert_mem_eq(saddle_store_state(store, &bytes), "a state", 7);
        ck_assert_uint_eq(bytes, 7);
        refuse_store((saddle_store_options){.begin = SADDLE_STORE_EITHER, .self = 3},
                     "another run");
        saddle_store_close(store);
    }
    refuse_store((saddle_store_options){.fingerprint = "one run", .self = 3},
                 "already has checkpoints of a run");
    refuse_store((saddle_store_options){.begin = SADDLE_STORE_OLD, .fingerprint = "one run"},
                 "is of agent 3, and this is agent 0");
    refuse_store((saddle_store_options){.begin = SADDLE_STORE_OLD, .fingerprint = "1", .self = 3},
                 "is of a run with another network file");
}

TEST(an_empty_directory_has_nothing)
{
    size_t bytes;
    saddle_test_enter_directory();
    refuse_store((saddle_store_options){.begin = SADDLE_STORE_OLD}, "there is no checkpoint");
    saddle_store *store = open_store(SADDLE_STORE_EITHER);
    ck_assert(!saddle_store_returns(store));
    ck_assert_ptr_null(saddle_store_next(store, &bytes));
    ck_assert_ptr_null(saddle_store_state(store, &bytes));
    saddle_store_close(store);
}

/* Reads a file; the caller frees it. */
static char *contents(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    char *all = malloc(1 << 16);
    ck_assert_ptr_nonnull(all);
    *bytes = fread(all, 1, 1 << 16, f);
    fclose(f);
    return all;
}

static void write_file(const char *path, const char *all, size_t bytes)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(all, 1, bytes, f), bytes);
    fclose(f);
}

/* A process may be killed while it writes: the exchanges before are there, and the next one can be added. */
TEST(a_cut_log_has_its_whole_exchanges)
{
    size_t bytes;
    saddle_test_enter_directory();
    fill_store();
    char *all = contents("saved/setup.saddle", &bytes);
    unsigned before = 3;
    for (size_t cut = bytes; cut > 0; cut -= cut > 13 ? 13 : cut) {
        write_file("saved/setup.saddle", all, cut);
        remove("saved/state.saddle");
        saddle_store *store = open_store(SADDLE_STORE_EITHER);
        unsigned n = count_exchanges(store);
        ck_assert(cut < bytes || saddle_store_dropped(store) == 0);
        ck_assert(cut + 13 != bytes || saddle_store_dropped(store) > 0);
        ck_assert(n <= before && n + 1 >= before);
        before = n;
        char text[64];
        text_of(n, text);
        const saddle_store_piece piece = {text, strlen(text)};
        assert_ok(saddle_store_add(store, &piece, 1, &error), error);
        saddle_store_close(store);
        store = open_store(SADDLE_STORE_OLD);
        ck_assert_uint_eq(count_exchanges(store), n + 1);
        saddle_store_close(store);
    }
    ck_assert_uint_eq(before, 0);
    free(all);
}

TEST(a_changed_state_is_refused)
{
    size_t bytes;
    saddle_test_enter_directory();
    fill_store();
    char *all = contents("saved/state.saddle", &bytes);
    for (size_t k = 0; k < bytes; k++) {
        all[k] = (char)(all[k] ^ 4);
        write_file("saved/state.saddle", all, bytes);
        refuse_store(
            (saddle_store_options){.begin = SADDLE_STORE_OLD, .fingerprint = "one run", .self = 3},
            "saved/state.saddle' is");
        all[k] = (char)(all[k] ^ 4);
        write_file("saved/state.saddle", all, k);
        refuse_store(
            (saddle_store_options){.begin = SADDLE_STORE_OLD, .fingerprint = "one run", .self = 3},
            "saved/state.saddle' is");
    }
    write_file("saved/state.saddle", all, bytes);
    saddle_store_close(open_store(SADDLE_STORE_OLD));
    free(all);
}

/* A process that may not read a checkpoint leaves it as it is. */
TEST(short_memory_changes_nothing)
{
    enum { LARGE = 8 << 20 };
    size_t bytes;
    saddle_test_enter_directory();
    char *large = calloc(LARGE, 1);
    ck_assert_ptr_nonnull(large);
    const saddle_store_piece piece = {large, LARGE};
    const saddle_store_options options = {
        .directory = "saved", .begin = SADDLE_STORE_OLD, .fingerprint = "one run", .self = 3};
    for (int of_state = 0; of_state < 2; of_state++) {
        saddle_store *store = open_store(of_state ? SADDLE_STORE_OLD : SADDLE_STORE_NEW);
        if (of_state)
            assert_ok(saddle_store_save(store, &piece, 1, &error), error);
        else
            assert_ok(saddle_store_add(store, &piece, 1, &error), error);
        saddle_store_close(store);
        setenv("SADDLE_MEMORY", "1e-6", 1);
        assert_refused(saddle_store_open(&store, &options, &error), error, SADDLE_NO_MEMORY,
                       "the checkpoints");
        unsetenv("SADDLE_MEMORY");
        store = open_store(SADDLE_STORE_OLD);
        ck_assert_ptr_nonnull(saddle_store_next(store, &bytes));
        ck_assert_uint_eq(bytes, LARGE);
        ck_assert((saddle_store_state(store, &bytes) != NULL) == (of_state == 1));
        saddle_store_close(store);
    }
    free(large);
}

/* ---- processes -------------------------------------------------------------------------------- */

enum { AGENTS = 3, ITERATIONS = 25, REPEAT = 4 };

static volatile sig_atomic_t interrupted; /* agent 1 is */
static uint64_t moment;                   /* the iteration in which it is */
static saddle_store *store;               /* its checkpoints */

static void look(void *context, const saddle_own_row *row)
{
    const peer *self = context;
    if (self->number == 1 && row->iteration == moment)
        interrupted = 1;
}

static void solve(peer *self)
{
    snprintf(self->model, sizeof self->model, "return-%zu.npz", self->number);
    solve_peer(self, &(saddle_own_outputs){.model = self->model, .row = look, .context = self});
}

/* Opens the next process of agent 1, in a path of three: it dials agent 0, and agent 2 dials it. */
static void open_next(peer *self, saddle_store *with)
{
    char endpoint[SADDLE_ENDPOINT_SIZE];
    saddle_session_endpoint(self->session, endpoint);
    saddle_session_close(self->session, SADDLE_IO);
    interrupted = 0;
    self->options.store = with;
    self->options.listen = endpoint;
    memcpy(self->options.secret_key, self->network->secret[1], SADDLE_KEY_BYTES);
    assert_ok(saddle_session_open(&self->session, &self->options, &self->error), self->error);
    self->options.listen = NULL;
}

/* Agent 1 is interrupted; a process without its checkpoint is not taken in, and one that has it goes on. */
static void return_once(peer *self)
{
    solve(self);
    if (self->number != 1)
        return;
    assert_refused(self->status, self->error, SADDLE_IO, "interrupted");
    saddle_store_close(store);
    moment = UINT64_MAX;
    /* Its number must be larger than that of the one before, also if it starts in the same second. */
    for (int time = 0; time < 3; time++)
        saddle_store_close(open_at("other", SADDLE_STORE_EITHER));
    saddle_store *other = open_at("other", SADDLE_STORE_EITHER);
    open_next(self, other);
    saddle_error why = {.message = ""};
    assert_refused(saddle_session_meet(self->session, &why), why, SADDLE_IO,
                   "does not take this process in");
    saddle_store_close(other);
    store = open_store(SADDLE_STORE_OLD);
    open_next(self, store);
    /* What is left of an earlier process: its neighbours would end if they believed it. */
    for (size_t to = 0; to < AGENTS; to += 2)
        saddle_session_pass_on(
            self->session, to,
            &(saddle_message){
                .kind = SADDLE_MESSAGE_LEFT, .agent = 1, .incarnation = 1, .step = SADDLE_NUMERIC});
    assert_ok(saddle_session_meet(self->session, &self->error), self->error);
    solve(self);
}

static const uint64_t moments[] = {0, 3, 4, 13, 24};

TEST_LOOP(a_process_goes_on_where_another_ended, 0, (int)(sizeof moments / sizeof *moments))
{
    saddle_plan plan;
    saddle_result *result = NULL;
    peer_network n;
    saddle_test_enter_directory();
    saddle_plan_defaults(&plan, sizeof plan);
    const char *const settings[][2] = {{"topology", "path"},     {"agents", "3"},
                                       {"problem", "quadratic"}, {"algorithm", "precision"},
                                       {"iterations", "25"},     {"gap", "never"}};
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        assert_ok(saddle_plan_set(&plan, settings[k][0], settings[k][1], &error), error);
    assert_ok(saddle_solve(NULL, &plan, &result, &error), error);
    make_network(&n, "path", AGENTS);
    n.plan = &plan;
    interrupted = 0;
    moment = moments[_i];
    /* The store has agent 3 of the tests above. */
    store = open_store(SADDLE_STORE_NEW);
    for (size_t i = 0; i < AGENTS; i++) {
        n.peer[i].options.repeat = REPEAT;
        n.peer[i].options.last = ITERATIONS;
        if (i == 1) {
            n.peer[i].options.store = store;
            n.peer[i].options.interrupt = &interrupted;
        }
        open_session(&n, i);
    }
    run_network(&n, return_once);
    check_all_good(&n);
    for (size_t i = 0; i < AGENTS; i++) {
        saddle_saved_model *model = NULL;
        assert_ok(saddle_saved_model_load(&model, n.peer[i].model, &error), error);
        ck_assert_uint_eq(model->iteration, ITERATIONS);
        ck_assert_mem_eq(model->x_mean, result->x + i * result->x_dim,
                         result->x_dim * sizeof(double));
        ck_assert_mem_eq(model->y, result->y + i * result->y_dim, result->y_dim * sizeof(double));
        saddle_saved_model_free(model);
    }
    /* Agent 1 dials agent 0, so that the old message is the first that reaches it. */
    ck_assert_str_eq(n.peer[0].warning, "agent 1 sent a message of a process that another one has "
                                        "followed; it is not used");
    saddle_store_close(store);
    saddle_result_free(result);
    saddle_plan_free(&plan);
    saddle_graph_free(n.graph);
}
