/* Checks of connections: what a session finds out about neighbours, good and wrong. */
#include <math.h>
#include <string.h>

#include <sodium.h>

#include "peer_network.h"
#include "support.h"

static saddle_check found[MOST_TEST_PEERS][MOST_TEST_PEERS];

/* Seconds of a check in which something is wrong. */
#define WAIT 1.5

static void *run_check(void *argument)
{
    peer *self = argument;
    bool all = saddle_session_check_all(self->session, self->options.patience, found[self->number]);
    self->status = all ? SADDLE_OK : SADDLE_IO;
    saddle_session_close(self->session, SADDLE_OK);
    return NULL;
}

static void run_checks(peer_network *n)
{
    for (size_t i = 0; i < n->graph->agents; i++)
        ck_assert_int_eq(pthread_create(&n->peer[i].thread, NULL, run_check, &n->peer[i]), 0);
    for (size_t i = 0; i < n->graph->agents; i++)
        ck_assert_int_eq(pthread_join(n->peer[i].thread, NULL), 0);
    saddle_graph_free(n->graph);
}

static void make_checks(peer_network *n, size_t agents, double wait)
{
    make_network(n, "path", agents);
    for (size_t i = 0; i < agents; i++) {
        n->peer[i].options.checks = true;
        n->peer[i].options.patience = wait;
    }
}

TEST(good_neighbours_answer)
{
    peer_network n;
    make_checks(&n, 3, 40.0);
    for (size_t i = 0; i < 3; i++)
        open_session(&n, i);
    run_checks(&n);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(n.peer[i].status, SADDLE_OK);
    ck_assert_uint_eq(found[1][0].agent, 0);
    ck_assert_uint_eq(found[1][1].agent, 2);
    ck_assert_int_eq(found[1][0].link, SADDLE_LINK_OPEN);
    ck_assert_ptr_null(found[1][1].dialled);
    /* One clock serves both: what remains is half the time of the way. */
    ck_assert(found[1][0].delay > 0.0 && found[1][0].delay < 40.0);
    ck_assert(fabs(found[1][0].clock) <= 0.5 * found[1][0].delay + 1e-3);
}

TEST(another_network_file_is_named)
{
    peer_network n;
    make_checks(&n, 2, WAIT);
    n.peer[1].options.fingerprint[3] ^= 1;
    open_session(&n, 0);
    open_session(&n, 1);
    run_checks(&n);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(n.peer[i].status, SADDLE_IO);
        ck_assert(!found[i][0].heard);
        ck_assert_ptr_nonnull(strstr(found[i][0].problem, "give all owners the same network file"));
    }
}

TEST(wrong_keys_are_told_apart)
{
    peer_network n;
    unsigned char key[SADDLE_KEY_BYTES];
    make_checks(&n, 2, WAIT);
    /* Agent 1, which dials, has a key that agent 0 does not know. */
    crypto_box_keypair(key, n.peer[1].options.secret_key);
    memcpy(n.peer[1].member[1].key, key, sizeof key);
    open_session(&n, 0);
    open_session(&n, 1);
    run_checks(&n);
    ck_assert_int_eq(found[1][0].link, SADDLE_LINK_REFUSED);
    ck_assert(!found[0][0].heard && !found[1][0].heard);
    /* Agent 1 has another key for agent 0. */
    make_checks(&n, 2, WAIT);
    n.peer[1].member[0].key[7] ^= 2;
    open_session(&n, 0);
    open_session(&n, 1);
    run_checks(&n);
    ck_assert_int_eq(found[1][0].link, SADDLE_LINK_REACHED);
    /* Nobody is there. */
    make_checks(&n, 2, WAIT);
    open_session(&n, 0);
    peer *self = &n.peer[1];
    saddle_session_endpoint(n.peer[0].session, self->endpoint[0]);
    saddle_session_close(n.peer[0].session, SADDLE_OK);
    self->member[0].endpoint = self->endpoint[0];
    assert_ok(saddle_session_open(&self->session, &self->options, &self->error), self->error);
    run_check(self);
    ck_assert_int_eq(n.peer[1].status, SADDLE_IO);
    ck_assert_int_eq(found[1][0].link, SADDLE_LINK_TRYING);
    saddle_graph_free(n.graph);
}
