/* Placing agents by METIS. */
#include "engines/module_mpi.h"

#include <metis.h>
#include <stdlib.h>

/* Converts the graph to METIS's types; the three arrays are in one block, *start first. */
static idx_t *convert(size_t vertices, const size_t *start, const size_t *neighbour,
                      idx_t **neighbours, idx_t **found)
{
    idx_t *starts = calloc(2 * vertices + 1 + start[vertices], sizeof *starts);
    if (starts == NULL)
        return NULL;
    *neighbours = starts + vertices + 1;
    *found = *neighbours + start[vertices];
    for (size_t i = 0; i <= vertices; i++)
        starts[i] = (idx_t)start[i];
    for (size_t k = 0; k < start[vertices]; k++)
        (*neighbours)[k] = (idx_t)neighbour[k];
    return starts;
}

bool saddle_metis_partition(unsigned method, size_t vertices, const size_t *start,
                            const size_t *neighbour, size_t parts, size_t *part)
{
    idx_t *neighbours;
    idx_t *found;
    if (method > 1 || vertices > IDX_MAX / 2 || start[vertices] > IDX_MAX)
        return false;
    idx_t *starts = convert(vertices, start, neighbour, &neighbours, &found);
    if (starts == NULL)
        return false;
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    idx_t count = (idx_t)vertices;
    idx_t constraints = 1;
    idx_t processes = (idx_t)parts;
    idx_t cut = 0;
    int outcome = (method == 0 ? METIS_PartGraphKway : METIS_PartGraphRecursive)(
        &count, &constraints, starts, neighbours, NULL, NULL, NULL, &processes, NULL, NULL, options,
        &cut, found);
    for (size_t i = 0; outcome == METIS_OK && i < vertices; i++)
        part[i] = (size_t)found[i];
    free(starts);
    return outcome == METIS_OK;
}
