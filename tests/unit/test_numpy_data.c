/* NumPy files as data: dense and compressed rows, types and orders, labels, and what is refused. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zip.h>

#include <saddle/data.h>

#include "core/memory.h"
#include "core/print.h"
#include "support.h"

/* An array of a file: its type, order and shape in NumPy's notation, and its bytes. */
typedef struct array {
    const char *name;
    const char *type;
    const char *shape;
    const void *bytes;
    size_t size;
    bool fortran;
} array;

/* Returns the bytes of a .npy file; the caller frees them. */
static char *make_npy(const array *a, size_t *size)
{
    char header[256];
    int length =
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n",
                 a->type, a->fortran ? "True" : "False", a->shape);
    *size = 10 + (size_t)length + a->size;
    char *bytes = malloc(*size);
    ck_assert_ptr_nonnull(bytes);
    static const char magic[8] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
    memcpy(bytes, magic, sizeof magic);
    bytes[8] = (char)(length & 0xff);
    bytes[9] = (char)(length >> 8);
    memcpy(bytes + 10, header, (size_t)length);
    memcpy(bytes + 10 + length, a->bytes, a->size);
    return bytes;
}

static void write_npy(const char *path, const array *a)
{
    size_t size;
    char *bytes = make_npy(a, &size);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    free(bytes);
}

static void write_npz(const char *path, const array *a, size_t count)
{
    int code = 0;
    zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    ck_assert_ptr_nonnull(archive);
    for (size_t k = 0; k < count; k++) {
        char name[64];
        size_t size;
        char *bytes = make_npy(&a[k], &size);
        snprintf(name, sizeof name, "%s.npy", a[k].name);
        zip_source_t *source = zip_source_buffer(archive, bytes, size, 1);
        ck_assert_int_ge((int)zip_file_add(archive, name, source, ZIP_FL_ENC_UTF_8), 0);
    }
    ck_assert_int_eq(zip_close(archive), 0);
}

static saddle_dataset *load(const char *path, const char *label_column, const char *labels)
{
    saddle_error error = {0};
    saddle_dataset *data = NULL;
    saddle_data_options options = {
        .abi = SADDLE_ABI, .label_column = label_column, .labels = labels};
    assert_ok(saddle_dataset_load(&data, path, &options, 0, &error), error);
    return data;
}

static void refuse(const char *path, const char *label_column, const char *labels, const char *part)
{
    saddle_error error = {0};
    saddle_dataset *data = (saddle_dataset *)1;
    saddle_data_options options = {
        .abi = SADDLE_ABI, .label_column = label_column, .labels = labels};
    assert_refused(saddle_dataset_load(&data, path, &options, 0, &error), error, SADDLE_BAD_INPUT,
                   part);
    ck_assert_ptr_null(data);
}

static void assert_dense(saddle_dataset *data, size_t rows, size_t features, const double *x,
                         const double *label)
{
    ck_assert_uint_eq(data->rows, rows);
    ck_assert_uint_eq(data->features, features);
    ck_assert_ptr_nonnull(data->dense);
    ck_assert_mem_eq(data->dense, x, rows * features * sizeof *x);
    ck_assert_mem_eq(data->label, label, rows * sizeof *label);
    size_t nonzeros = 0;
    for (size_t k = 0; k < rows * features; k++)
        nonzeros += x[k] != 0.0;
    ck_assert_uint_eq(data->nonzeros, nonzeros);
    saddle_dataset_free(data);
}

#define ENTRIES(a) (a), sizeof(a)

static const double x[] = {0.1, -0.0, 3.0, 1e-300, 5.5, 6.0};
static const double y[] = {1.0, -2.5};
static const double zero[] = {0.0, 0.0};
static const array X = {"X", "<f8", "(2, 3)", ENTRIES(x), false};
static const array Y = {"y", "<f8", "(2,)", ENTRIES(y), false};

TEST(dense_arrays_are_read)
{
    saddle_test_enter_directory();
    write_npz("a.npz", (const array[]){X, Y}, 2);
    assert_dense(load("a.npz", NULL, NULL), 2, 3, x, y);
    array features = X;
    array labels = Y;
    features.name = "features";
    labels.name = "labels";
    labels.shape = "(2, 1)";
    write_npz("b.npz", (const array[]){labels, features}, 2);
    assert_dense(load("b.npz", NULL, NULL), 2, 3, x, y);
    write_npz("c.npz", &X, 1);
    assert_dense(load("c.npz", NULL, "none"), 2, 3, x, zero);
    write_npy("y.npy", &Y);
    assert_dense(load("c.npz", NULL, "y.npy"), 2, 3, x, y);
    assert_dense(load("c.npz", NULL, "b.npz"), 2, 3, x, y);
    write_npy("x.npy", &X);
    assert_dense(load("x.npy", NULL, "y.npy"), 2, 3, x, y);
    assert_dense(load("x.npy", "none", NULL), 2, 3, x, zero);
    assert_dense(load("x.npy", NULL, "none"), 2, 3, x, zero);
    assert_dense(load("x.npy", NULL, NULL), 2, 2, (const double[]){0.1, -0.0, 1e-300, 5.5},
                 (const double[]){3.0, 6.0});
    assert_dense(load("x.npy", "first", NULL), 2, 2, (const double[]){-0.0, 3.0, 5.5, 6.0},
                 (const double[]){0.1, 1e-300});
    assert_dense(load("x.npy", "2", NULL), 2, 2, (const double[]){0.1, 3.0, 1e-300, 6.0},
                 (const double[]){-0.0, 5.5});
}

TEST(types_and_orders_are_read)
{
    static const float f4[] = {0.1f, -3.5f};
    static const int8_t i1[] = {-128, 127};
    static const int16_t i2[] = {-32768, 5};
    static const int32_t i4[] = {INT32_MIN, 5};
    static const int64_t i8[] = {-(INT64_C(1) << 53), 5};
    static const uint8_t u1[] = {255, 1};
    static const uint16_t u2[] = {65535, 1};
    static const uint32_t u4[] = {UINT32_MAX, 1};
    static const uint64_t u8[] = {UINT64_C(1) << 53, 1};
    static const uint8_t big_i2[] = {0xff, 0xfe, 0x01, 0x00};
    static const uint8_t big_f4[] = {0x3f, 0x80, 0, 0, 0xc0, 0x20, 0, 0};
    static const uint8_t big_f8[] = {0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xbf, 0xf0, 0, 0, 0, 0, 0, 0};
    static const struct {
        array a;
        double wanted[2];
    } all[] = {
        {{"X", "<f4", "(2, 1)", ENTRIES(f4), false}, {(double)0.1f, -3.5}},
        {{"X", "|i1", "(2, 1)", ENTRIES(i1), false}, {-128, 127}},
        {{"X", "<i2", "(2, 1)", ENTRIES(i2), false}, {-32768, 5}},
        {{"X", "<i4", "(2, 1)", ENTRIES(i4), false}, {-0x1p31, 5}},
        {{"X", "<i8", "(2, 1)", ENTRIES(i8), false}, {-0x1p53, 5}},
        {{"X", "|u1", "(2, 1)", ENTRIES(u1), false}, {255, 1}},
        {{"X", "|b1", "(2, 1)", u1 + 1, 2, false}, {1, 0}},
        {{"X", "<u2", "(2, 1)", ENTRIES(u2), false}, {65535, 1}},
        {{"X", "<u4", "(2, 1)", ENTRIES(u4), false}, {4294967295.0, 1}},
        {{"X", "<u8", "(2, 1)", ENTRIES(u8), false}, {0x1p53, 1}},
        {{"X", ">i2", "(2, 1)", ENTRIES(big_i2), false}, {-2, 256}},
        {{"X", ">f4", "(2, 1)", ENTRIES(big_f4), false}, {1.0, -2.5}},
        {{"X", ">f8", "(2, 1)", ENTRIES(big_f8), false}, {1.5, -1.0}},
    };
    static const uint8_t truth[] = {1, 0};
    saddle_test_enter_directory();
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        array a = all[k].a;
        if (strcmp(a.type, "|b1") == 0)
            a.bytes = truth;
        write_npz("t.npz", (const array[]){a, Y}, 2);
        assert_dense(load("t.npz", NULL, NULL), 2, 1, all[k].wanted, y);
    }
    static const double turned[] = {1, 4, 2, 5, 3, 6};
    array fortran = {"X", "<f8", "(2, 3)", ENTRIES(turned), true};
    write_npz("t.npz", (const array[]){fortran, Y}, 2);
    assert_dense(load("t.npz", NULL, NULL), 2, 3, (const double[]){1, 2, 3, 4, 5, 6}, y);
    static const uint64_t huge[] = {(UINT64_C(1) << 53) + 1, 1};
    write_npz("t.npz", (const array[]){{"X", "<u8", "(2, 1)", ENTRIES(huge), false}, Y}, 2);
    refuse("t.npz", NULL, NULL, "entry 0 is above 2^53");
}

/* A scipy matrix [[1, 0, 2], [0, 0, 0], [0, 3, 0]], in which tests replace one array. */
static const double three[] = {1.0, 2.0, 3.0};
static const int32_t indices[] = {0, 2, 1};
static const int32_t indptr[] = {0, 2, 2, 3};
static const int64_t shape[] = {3, 3};
static const double signs[] = {1.0, -1.0, 1.0};

static void write_csr(const char *path, const array *other)
{
    array all[] = {{"data", "<f8", "(3,)", ENTRIES(three), false},
                   {"indices", "<i4", "(3,)", ENTRIES(indices), false},
                   {"indptr", "<i4", "(4,)", ENTRIES(indptr), false},
                   {"shape", "<i8", "(2,)", ENTRIES(shape), false},
                   {"format", "|S3", "()", "csr", 3, false},
                   {"y", "<f8", "(3,)", ENTRIES(signs), false}};
    for (size_t k = 0; other != NULL && k < sizeof all / sizeof *all; k++)
        if (strcmp(all[k].name, other->name) == 0)
            all[k] = *other;
    write_npz(path, all, sizeof all / sizeof *all);
}

TEST(compressed_rows_are_read)
{
    saddle_test_enter_directory();
    write_csr("s.npz", NULL);
    saddle_dataset *data = load("s.npz", NULL, NULL);
    ck_assert_ptr_null(data->dense);
    ck_assert_uint_eq(data->rows, 3);
    ck_assert_uint_eq(data->features, 3);
    ck_assert_uint_eq(data->nonzeros, 3);
    ck_assert_mem_eq(data->row_start, ((const size_t[]){0, 2, 2, 3}), 4 * sizeof(size_t));
    ck_assert_mem_eq(data->column, ((const uint32_t[]){0, 2, 1}), sizeof indices);
    ck_assert_mem_eq(data->value, three, sizeof three);
    ck_assert_mem_eq(data->label, signs, sizeof signs);
    saddle_dataset_free(data);
    write_csr("s.npz", &(const array){"format", "<U3", "()", "c\0\0\0s\0\0\0r\0\0\0", 12, false});
    saddle_dataset_free(load("s.npz", NULL, "none"));
}

TEST(malformed_sparse_matrices_are_refused)
{
    static const int32_t descending[] = {2, 0, 1};
    static const int32_t beyond[] = {0, 3, 1};
    static const int32_t negative[] = {0, -2, 1};
    static const int32_t late[] = {1, 2, 2, 3};
    static const int32_t falling[] = {0, 2, 1, 3};
    static const int32_t few[] = {0, 2, 2, 2};
    static const int32_t many[] = {0, 2, 2, 9};
    static const int64_t wide[] = {3, INT64_C(1) << 40};
    static const int64_t tall[] = {4, 3};
    static const int64_t endless[] = {INT64_C(1) << 52, 3};
    static const double nan_value[] = {1.0, NAN, 3.0};
    static const double half[] = {0.5, 2.0, 1.0};
    static const struct {
        array other;
        const char *part;
    } all[] = {
        {{"format", "|S3", "()", "csc", 3, false}, "format 'csc'; save it with .tocsr()"},
        {{"format", "|S3", "()", "c\xffr", 3, false}, "it contains invalid characters"},
        {{"indices", "<i4", "(3,)", ENTRIES(descending), false}, "columns must ascend within"},
        {{"indices", "<i4", "(3,)", ENTRIES(beyond), false}, "do not fit its shape"},
        {{"indices", "<i4", "(3,)", ENTRIES(negative), false}, "do not fit its shape"},
        {{"indices", "<f8", "(3,)", ENTRIES(half), false}, "do not fit its shape"},
        {{"indices", "<i4", "(2,)", indices, 8, false}, "a vector of 3 numbers"},
        {{"indptr", "<i4", "(4,)", ENTRIES(late), false}, "row_start[0] is 1"},
        {{"indptr", "<i4", "(4,)", ENTRIES(falling), false}, "row_start[2] = 1 is below"},
        {{"indptr", "<i4", "(4,)", ENTRIES(few), false}, "do not fit its shape"},
        {{"indptr", "<i4", "(4,)", ENTRIES(many), false}, "do not fit its shape"},
        {{"shape", "<i8", "(2,)", ENTRIES(wide), false}, "1 to 2^32 - 1"},
        {{"shape", "<i8", "(2,)", ENTRIES(tall), false}, "a vector of 5 numbers"},
        {{"shape", "<i8", "(2,)", ENTRIES(endless), false}, "a vector of 4503599627370497 numbers"},
        {{"data", "<f8", "(3,)", ENTRIES(nan_value), false}, "row 0, column 2 is nan"},
        {{"y", "<f8", "(3,)", ENTRIES(nan_value), false}, "the label of row 1 is nan"},
        {{"y", "<f8", "(2,)", signs, 16, false}, "a vector of 3 numbers goes with the rows"},
    };
    saddle_test_enter_directory();
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        write_csr("s.npz", &all[k].other);
        refuse("s.npz", NULL, NULL, all[k].part);
    }
    setenv("SADDLE_MEMORY", "1", 1);
    static const int64_t spacious[] = {3, 1 << 30};
    write_csr("s.npz", &(const array){"shape", "<i8", "(2,)", ENTRIES(spacious), false});
    saddle_error error = {0};
    saddle_dataset *data = NULL;
    assert_refused(saddle_dataset_load(&data, "s.npz", NULL, 0, &error), error, SADDLE_NO_MEMORY,
                   "a point and a gradient of the 1073741824 features");
    unsetenv("SADDLE_MEMORY");
}

TEST(malformed_dense_arrays_are_refused)
{
    static const double bad[] = {1.0, 2.0, 3.0, 4.0, INFINITY, 6.0};
    saddle_test_enter_directory();
    write_npz("a.npz", &X, 1);
    refuse("a.npz", NULL, NULL, "no labels: no array is called y or labels");
    refuse("a.npz", NULL, "none.npy", "No such file");
    write_npz("a.npz", &Y, 1);
    refuse("a.npz", NULL, NULL, "there is no such array; the file contains y");
    write_npz("a.npz", (const array[]){{"X", "<f8", "(6,)", ENTRIES(x), false}, Y}, 2);
    refuse("a.npz", NULL, NULL, "rank 1 and shape (6, 1); give a matrix");
    write_npz("a.npz", (const array[]){{"X", "<f8", "(0, 3)", x, 0, false}, Y}, 2);
    refuse("a.npz", NULL, NULL, "shape (0, 3)");
    write_npz("a.npz", (const array[]){{"X", "<f8", "(2, 3)", ENTRIES(bad), false}, Y}, 2);
    refuse("a.npz", NULL, NULL, "row 1, column 1 is inf");
    write_npz("a.npz", (const array[]){{"X", "<f8", "(3, 2)", ENTRIES(x), false}, Y}, 2);
    refuse("a.npz", NULL, NULL, "a vector of 3 numbers goes with the rows");
    write_npz("a.npz", (const array[]){{"X", "<f8", "(2, 99999999999999)", ENTRIES(x), false}, Y},
              2);
    refuse("a.npz", NULL, NULL, "announces");
    write_npz("a.npz", (const array[]){{"X", "<f2", "(2, 3)", x, 12, false}, Y}, 2);
    refuse("a.npz", NULL, NULL, "of type '<f2', not float64, float32, integers or bool");
    write_npy("x.npy", &X);
    refuse("x.npy", "0", NULL, "a number from 1 to 3");
    refuse("x.npy", "4", NULL, "a number from 1 to 3; columns of a .npy have no names");
    refuse("x.npy", "age", NULL, "label column 'age'");
    write_npy("x.npy", &(const array){"X", "<f8", "(6, 1)", ENTRIES(x), false});
    refuse("x.npy", NULL, NULL, "has one column; a label and at least one feature");
    write_npy("x.npy", &(const array){"X", "<f8", "(2, 4)", ENTRIES(x), false});
    refuse("x.npy", NULL, NULL, "announces 64 bytes of entries but the file has 48");
}
