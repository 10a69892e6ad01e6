/* Extreme eigenvalues of the graph Laplacian L and of a mixing matrix M. */
#pragma once

#include <saddle/graph.h>

/* How to compute them. AUTO takes the first of the others that applies. */
typedef enum saddle_spectrum_method {
    SADDLE_SPECTRUM_AUTO,
    SADDLE_SPECTRUM_CLOSED, /* structured topologies; M only when all its weights are equal */
    SADDLE_SPECTRUM_LAPACK, /* dense: O(agents^3) time, O(agents^2) memory */
    SADDLE_SPECTRUM_ARPACK  /* Lanczos: O(edges) per step, more steps the smaller the gap */
} saddle_spectrum_method;

/* Computes lambda_2(L) and lambda_max(L), both 0 with one agent. NULL for one that is not wanted. */
saddle_status saddle_laplacian_ends(const saddle_graph *graph, saddle_spectrum_method method,
                                    double *second, double *largest, saddle_error *error);

/* Like saddle_mixing_spectrum(), by a given method; SADDLE_UNSUPPORTED when there is no closed form. */
saddle_status saddle_mixing_spectrum_by(const saddle_mixing *mixing, saddle_spectrum_method method,
                                        saddle_spectrum *out, saddle_error *error);
