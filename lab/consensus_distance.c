/* The distance of each agent of a saved model from consensus. */
#include <saddle/lab.h>

#include "core/float_mode.h"
#include "files/npz.h"

/* Adds the squared distance of each row from the mean of the rows. */
static void add_distances(const double *copies, size_t agents, size_t dim, double *distance)
{
    for (size_t k = 0; k < dim; k++) {
        double mean = 0.0;
        for (size_t i = 0; i < agents; i++)
            mean += copies[i * dim + k];
        mean /= (double)agents;
        for (size_t i = 0; i < agents; i++) {
            double off = copies[i * dim + k] - mean;
            distance[i] += off * off;
        }
    }
}

saddle_status saddle_model_consensus_distance(const char *path, size_t agents, double *distance,
                                              saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, path, distance);
    static const char *const name[] = {"x", "y"};
    for (size_t i = 0; i < agents; i++)
        distance[i] = 0.0;
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        double *copies = NULL;
        size_t rank = 0;
        size_t shape[2] = {0, 0};
        saddle_status status = saddle_numpy_read(path, name[k], &copies, &rank, shape, error);
        if (status != SADDLE_OK)
            return status;
        if (rank == 2 && shape[0] == agents)
            add_distances(copies, agents, shape[1], distance);
        else
            status = saddle_refuse(
                error, "'%.300s' holds %zu copies of %s, but the network has %zu agent%s", path,
                rank == 2 ? shape[0] : 1, name[k], agents, SADDLE_PLURAL(agents));
        saddle_free(copies);
        if (status != SADDLE_OK)
            return status;
    }
    return SADDLE_OK;
}
