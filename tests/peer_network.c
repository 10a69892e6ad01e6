#include "peer_network.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "instance/instance.h"
#include "support.h"

static void note_warning(void *context, const char *message)
{
    peer *self = context;
    snprintf(self->warning, sizeof self->warning, "%s", message);
}

void open_session(peer_network *n, size_t i)
{
    peer *self = &n->peer[i];
    for (size_t k = 0; k < i; k++) {
        saddle_session_endpoint(n->peer[k].session, self->endpoint[k]);
        self->member[k].endpoint = self->endpoint[k];
    }
    self->member[i].endpoint = "tcp://127.0.0.1:*";
    assert_ok(saddle_session_open(&self->session, &self->options, &self->error), self->error);
}

void make_network(peer_network *n, const char *topology, size_t agents)
{
    saddle_error error = {.message = ""};
    unsigned char key[MOST_TEST_PEERS][SADDLE_KEY_BYTES];
    memset(n, 0, sizeof *n);
    assert_ok(saddle_graph_create(&n->graph, topology, agents, 1, &error), error);
    ck_assert_int_ge(sodium_init(), 0);
    for (size_t i = 0; i < agents; i++)
        crypto_box_keypair(key[i], n->secret[i]);
    for (size_t i = 0; i < agents; i++) {
        peer *self = &n->peer[i];
        self->network = n;
        self->number = i;
        for (size_t k = 0; k < agents; k++)
            memcpy(self->member[k].key, key[k], SADDLE_KEY_BYTES);
        self->options = (saddle_session_options){.member = self->member,
                                                 .graph = n->graph,
                                                 .self = i,
                                                 .fingerprint = "one run",
                                                 .patience = 40.0,
                                                 .warning = note_warning,
                                                 .warning_context = self};
        memcpy(self->options.secret_key, n->secret[i], SADDLE_KEY_BYTES);
    }
}

static void *run_peer(void *argument)
{
    peer *self = argument;
    self->status = saddle_session_meet(self->session, &self->error);
    if (self->status == SADDLE_OK)
        self->job(self);
    if (self->status == SADDLE_OK)
        saddle_session_finish(self->session);
    saddle_session_close(self->session, self->status);
    return NULL;
}

void run_network(peer_network *n, peer_job *work)
{
    for (size_t i = 0; i < n->graph->agents; i++)
        n->peer[i].job = work;
    for (size_t i = 0; i < n->graph->agents; i++)
        ck_assert_int_eq(pthread_create(&n->peer[i].thread, NULL, run_peer, &n->peer[i]), 0);
    for (size_t i = 0; i < n->graph->agents; i++)
        ck_assert_int_eq(pthread_join(n->peer[i].thread, NULL), 0);
}

void solve_peer(peer *self, const saddle_own_outputs *outputs)
{
    saddle_peer_engine engine = saddle_peer_engine_of(self->session);
    saddle_instance *instance = NULL;
    const saddle_plan *plan = self->network->plan;
    self->status = saddle_instance_create_on(&instance, &engine.kind, plan, &self->error);
    SADDLE_THEN(self->status, saddle_run_own(instance, plan, outputs, NULL, NULL, &self->error));
    saddle_instance_free(instance);
}

void check_all_good(const peer_network *n)
{
    for (size_t i = 0; i < n->graph->agents; i++)
        ck_assert_msg(n->peer[i].status == SADDLE_OK, "agent %zu: %s", i, n->peer[i].error.message);
}
