/*
 * The product itself. Each including file is compiled for one instruction set and defines
 * SADDLE_PRODUCT(name), the name of its version. Hence there is no include guard.
 *
 * A panel of b, DEPTH rows of WIDTH columns, is copied into contiguous memory that fits the
 * first-level cache. A tile of c, TALL rows of WIDTH columns, stays in registers while all rows of
 * the panel are added. GROUP rows of a, DEPTH columns of them, stay in the second-level cache for
 * all panels.
 */
#include "core/pack.h"
#include "core/product.h"

/* AVX-512 multiplies by a number in memory as fast as by one in a register, but gcc loads a
 * number that is used more than once into a register first, which takes time from the
 * multiplications. */
#ifdef __AVX512F__
enum { TALL = 8, PACKS = 1 };
#else
enum { TALL = 3, PACKS = 4 };
#endif
enum { WIDTH = PACKS * SADDLE_PACK, DEPTH = 128, GROUP = 128 };

/* A pack at the address of any double. With memcpy(), gcc 12 would not keep packs in registers here. */
typedef saddle_pack pack_in_memory __attribute__((aligned(sizeof(double)), may_alias));

/* Copies a panel of b; columns beyond `columns` become zero. */
SADDLE_INLINE void copy_panel(size_t depth, size_t columns, saddle_matrix b, double *panel)
{
    if (columns == WIDTH && b.column == 1) {
        for (size_t k = 0; k < depth; k++)
            memcpy(panel + k * WIDTH, b.at + k * b.row, WIDTH * sizeof *panel);
        return;
    }
    for (size_t k = 0; k < depth; k++)
        for (size_t j = 0; j < WIDTH; j++)
            panel[k * WIDTH + j] = j < columns ? b.at[k * b.row + j * b.column] : 0.0;
}

/* Adds to a tile of c, whose rows are `width` apart. row[i] points to row i of a, whose entries are `step` apart. */
SADDLE_INLINE void add_tile(size_t depth, const double *const row[TALL], size_t step,
                            const double *panel, double *c, size_t width)
{
    saddle_pack sum[TALL][PACKS];
    for (size_t i = 0; i < TALL; i++)
        for (size_t p = 0; p < PACKS; p++)
            sum[i][p] = *(pack_in_memory *)(c + i * width + p * SADDLE_PACK);
    for (size_t k = 0; k < depth; k++) {
        saddle_pack part[PACKS];
        for (size_t p = 0; p < PACKS; p++)
            part[p] = *(const pack_in_memory *)(panel + k * WIDTH + p * SADDLE_PACK);
        for (size_t i = 0; i < TALL; i++)
            for (size_t p = 0; p < PACKS; p++)
                sum[i][p] += row[i][k * step] * part[p];
    }
    for (size_t i = 0; i < TALL; i++)
        for (size_t p = 0; p < PACKS; p++)
            *(pack_in_memory *)(c + i * width + p * SADDLE_PACK) = sum[i][p];
}

/* Adds to the first rows and columns of a tile, through a copy of it. */
static void add_part(size_t rows, size_t columns, size_t depth, const double *const row[TALL],
                     size_t step, const double *panel, double *c, size_t width)
{
    double tile[TALL * WIDTH] = {0.0};
    for (size_t i = 0; i < rows; i++)
        memcpy(tile + i * WIDTH, c + i * width, columns * sizeof *c);
    add_tile(depth, row, step, panel, tile, WIDTH);
    for (size_t i = 0; i < rows; i++)
        memcpy(c + i * width, tile + i * WIDTH, columns * sizeof *c);
}

/* Adds to the columns of c that belong to a panel. */
static void add_panel(size_t rows, size_t columns, size_t depth, saddle_matrix a,
                      const double *panel, double *c, size_t width)
{
    for (size_t first = 0; first < rows; first += TALL) {
        size_t rest = rows - first;
        const double *row[TALL];
        /* The last tile repeats its first row and drops the results. */
        for (size_t i = 0; i < TALL; i++)
            row[i] = a.at + (first + (i < rest ? i : 0)) * a.row;
        double *tile = c + first * width;
        if (rest >= TALL && columns == WIDTH)
            add_tile(depth, row, a.column, panel, tile, width);
        else
            add_part(rest < TALL ? rest : TALL, columns, depth, row, a.column, panel, tile, width);
    }
}

void SADDLE_PRODUCT(saddle_add_product)(saddle_product_size size, saddle_matrix a, saddle_matrix b,
                                        double *c)
{
    double panel[DEPTH * WIDTH] __attribute__((aligned(64)));
    for (size_t i = 0; i < size.rows; i += GROUP)
        for (size_t k = 0; k < size.depth; k += DEPTH)
            for (size_t j = 0; j < size.columns; j += WIDTH) {
                size_t depth = saddle_smaller(size.depth - k, DEPTH);
                size_t columns = saddle_smaller(size.columns - j, WIDTH);
                saddle_matrix left = {a.at + i * a.row + k * a.column, a.row, a.column};
                saddle_matrix right = {b.at + k * b.row + j * b.column, b.row, b.column};
                copy_panel(depth, columns, right, panel);
                add_panel(saddle_smaller(size.rows - i, GROUP), columns, depth, left, panel,
                          c + i * size.columns + j, size.columns);
            }
}
