/*
 * The program in several processes (`mpirun -n 3 saddle run --engine mpi`): process 0 prints and
 * writes files, the others compute and print nothing. Whatever may fail in one of them is agreed
 * on, so that all end with the same exit code.
 */
#include "cli.h"
#include "core/world.h"
#include "engines/engine.h"

static saddle_world *world; /* NULL: this is the only process */

/* The value of --engine on the command line, or NULL. */
static const char *engine_among(int argc, char *const *argv)
{
    static const char option[] = "--engine";
    const size_t length = sizeof option - 1;
    const char *found = NULL;
    for (int k = 0; k < argc && strcmp(argv[k], "--") != 0; k++) {
        if (strcmp(argv[k], option) == 0 && k + 1 < argc)
            found = argv[k + 1];
        else if (strncmp(argv[k], option, length) == 0 && argv[k][length] == '=')
            found = argv[k] + length + 1;
    }
    return found;
}

/* Joins the other processes. An engine that is unknown, or not in this build, is refused later,
 * where it is used; processes that do not fit together, such as different versions, are refused
 * here, once. */
static saddle_status join(const char *name, saddle_error *error)
{
    const saddle_engine_class *engine;
    size_t rank;
    if (world != NULL || name == NULL || saddle_engine_find(&engine, name, NULL) != SADDLE_OK)
        return SADDLE_OK;
    saddle_status status = saddle_engine_connect(engine, &world, NULL, error);
    if (status == SADDLE_UNSUPPORTED)
        return SADDLE_OK;
    if (engine->connect != NULL && saddle_mpi_init(&rank, NULL) == SADDLE_OK && rank > 0)
        cli_silence();
    return status;
}

saddle_status cli_join_early(int argc, char *const *argv, saddle_error *error)
{
    return join(engine_among(argc, argv), error);
}

/* A number that mpirun puts into the environment of the processes it starts; -1: not set. */
static long number_of_job(const char *const *names)
{
    for (; *names != NULL; names++) {
        const char *text = getenv(*names);
        if (text != NULL && *text != '\0')
            return strtol(text, NULL, 10);
    }
    return -1;
}

/* Warns about processes that do not know of each other: they repeat the work and overwrite each
 * other's files. */
static void warn_of_separate_processes(const char *engine)
{
    static const char *const size[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
    static const char *const rank[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", NULL};
    long processes = number_of_job(size);
    if (processes > 1 && number_of_job(rank) == 0)
        cli_warn("this is one of %ld processes that each do all of the work and write the same "
                 "files; %s",
                 processes,
                 strcmp(engine, "mpi") != 0
                     ? "to share the work, give --engine mpi"
                     : "start them with the mpirun of the MPI that saddle was built with");
}

saddle_status cli_join(const cli_arguments *arguments, saddle_error *error)
{
    const char *engine = arguments->plan.engine.name;
    if (!cli_has_field(arguments->command->library, offsetof(saddle_plan, engine.name)))
        return SADDLE_OK;
    SADDLE_TRY(join(engine, error));
    if (world != NULL && world->ranks == 1)
        warn_of_separate_processes(engine);
    return SADDLE_OK;
}

const saddle_world *cli_world(void)
{
    return world;
}

bool cli_leads(void)
{
    return world == NULL || world->rank == 0;
}

saddle_status cli_agree(saddle_status status, saddle_error *error)
{
    return world != NULL ? saddle_world_agree(world, status, error) : status;
}

bool cli_interrupted(const volatile sig_atomic_t *flag)
{
    double set = *flag != 0 ? 1.0 : 0.0;
    if (world != NULL)
        world->largest(world, 1, &set);
    return set > 0.0;
}

void cli_leave(bool failed)
{
    saddle_world_free(world);
    world = NULL;
    saddle_mpi_finalize(failed);
}
