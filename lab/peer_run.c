#include "lab/peer_run.h"

#include <sodium/utils.h>

#include "core/float_mode.h"
#include "instance/instance.h"

/* Opens the checkpoints of an agent, if its file names a directory for them. */
static saddle_status open_store(peer_files *files, const char *resume, saddle_error *error)
{
    saddle_store_options options = {.directory = files->checkpoint, .self = files->self};
    memcpy(options.fingerprint, files->fingerprint, sizeof options.fingerprint);
    if (resume != NULL && strcmp(resume, "auto") == 0)
        options.begin = SADDLE_STORE_EITHER;
    else if (resume != NULL && strcmp(resume, "yes") == 0)
        options.begin = SADDLE_STORE_OLD;
    else if (resume != NULL && *resume != '\0' && strcmp(resume, "no") != 0)
        return saddle_refuse(error,
                             "--resume: '%s' is not auto; the agent's file names the directory of "
                             "its checkpoints, as checkpoint",
                             SADDLE_EXCERPT(resume));
    if (files->checkpoint != NULL)
        return saddle_store_open(&files->store, &options, error);
    if (options.begin == SADDLE_STORE_NEW)
        return SADDLE_OK;
    return saddle_refuse(error, "--resume: the agent's file names no directory of checkpoints; add "
                                "the line checkpoint: DIRECTORY");
}

saddle_status peer_session_open(peer_files *files, bool checks, const saddle_peer_options *with,
                                saddle_session **out, saddle_error *error)
{
    if (!checks)
        SADDLE_TRY(open_store(files, with->resume, error));
    size_t dropped = files->store != NULL ? saddle_store_dropped(files->store) : 0;
    if (dropped > 0)
        saddle_warn(with->warning, with->context,
                    "the last %zu bytes of '%s/setup.saddle' are damaged, and were removed; if the "
                    "neighbours do not take this process in, all agents must be started again",
                    dropped, files->checkpoint);
    saddle_session_options options = {.member = files->member,
                                      .graph = files->graph,
                                      .self = files->self,
                                      .listen = files->listen,
                                      .store = files->store,
                                      .repeat = files->repeat,
                                      .last = files->plan.limits.iterations,
                                      .checks = checks,
                                      .patience = files->patience,
                                      .deadline = files->deadline,
                                      .log = checks ? NULL : files->log,
                                      .interrupt = with->interrupt,
                                      .warning = with->warning,
                                      .warning_context = with->context};
    memcpy(options.secret_key, files->secret_key, sizeof options.secret_key);
    memcpy(options.fingerprint, files->fingerprint, sizeof options.fingerprint);
    saddle_status status = saddle_session_open(out, &options, error);
    sodium_memzero(options.secret_key, sizeof options.secret_key);
    sodium_memzero(files->secret_key, sizeof files->secret_key);
    return status;
}

saddle_status peer_session_solve(const peer_files *files, const saddle_peer_options *with,
                                 saddle_session *session, saddle_error *error)
{
    saddle_peer_engine engine = saddle_peer_engine_of(session);
    saddle_instance *instance = NULL;
    const saddle_own_outputs outputs = {.model = files->model,
                                        .copy = with->copy,
                                        .trace = files->trace,
                                        .every = files->every,
                                        .row = with->row,
                                        .context = with->context};
    SADDLE_TRY(saddle_session_meet(session, error));
    saddle_status status = saddle_instance_create_on(&instance, &engine.kind, &files->plan, error);
    SADDLE_THEN(status, saddle_run_own(instance, &files->plan, &outputs, with->warning,
                                       with->context, error));
    saddle_instance_free(instance);
    if (status == SADDLE_OK)
        saddle_session_finish(session);
    return status;
}

saddle_status saddle_peer_run(const char *agent_file, const saddle_peer_options *options,
                              saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, agent_file);
    const saddle_peer_options none = {.data = NULL};
    const saddle_peer_options *with = options != NULL ? options : &none;
    peer_files files;
    saddle_session *session = NULL;
    saddle_status status = peer_files_read(&files, agent_file, with, error);
    SADDLE_THEN(status, peer_session_open(&files, false, with, &session, error));
    SADDLE_THEN(status, peer_session_solve(&files, with, session, error));
    saddle_session_close(session, status);
    peer_files_free(&files);
    return status;
}
