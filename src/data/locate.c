/* The data sets that can be downloaded, and finding the file for a name: the path itself, then $SADDLE_DATA, then
 * the data directory (XDG). */
#include <sys/stat.h>

#include "data/sources.h"
#include "files/file.h"
#include "files/pattern.h"

/* ---- known data sets ---- */

#define LIBSVM_HOME "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
#define MNIST_HOME "http://yann.lecun.com/exdb/mnist/"

/* The first file of a name is the one that is loaded under it. */
static const saddle_data_source source[] = {
    {"a9a", "a9a", LIBSVM_HOME "a9a",
     "7ba53cccb27e2e525f0fb173e1f446d49856e3fb007eb43be4ec6d0f5b3335ca",
     "census income, 32,561 rows, 123 binary features", false},
    {"a9a.t", "a9a.t", LIBSVM_HOME "a9a.t",
     "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
     "test part of a9a, 16,281 rows", false},
    {"mnist", "train-images-idx3-ubyte.gz", MNIST_HOME "train-images-idx3-ubyte.gz",
     "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
     "handwritten digits, 60,000 images of 28 x 28", true},
    {"mnist", "train-labels-idx1-ubyte.gz", MNIST_HOME "train-labels-idx1-ubyte.gz",
     "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
     "labels of the 60,000 images", true},
    {"mnist.t", "t10k-images-idx3-ubyte.gz", MNIST_HOME "t10k-images-idx3-ubyte.gz",
     "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
     "test part of mnist, 10,000 images", true},
    {"mnist.t", "t10k-labels-idx1-ubyte.gz", MNIST_HOME "t10k-labels-idx1-ubyte.gz",
     "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
     "labels of the 10,000 images", true},
};

#define SOURCES (sizeof source / sizeof *source)

const saddle_data_source *saddle_data_sources(size_t *count)
{
    if (count != NULL)
        *count = SOURCES;
    return source;
}

const saddle_data_source *saddle_source_of(const char *name)
{
    for (size_t k = 0; k < SOURCES; k++)
        if (strcmp(source[k].name, name) == 0)
            return &source[k];
    return NULL;
}

bool saddle_source_belongs(const saddle_data_source *one, const char *name)
{
    return strcmp(one->name, name) == 0 ||
           (strcmp(name, "mnist") == 0 && strcmp(one->name, "mnist.t") == 0);
}

const char *saddle_closest_source(const char *name)
{
    const char *candidate[SOURCES + 1];
    for (size_t k = 0; k < SOURCES; k++)
        candidate[k] = source[k].name;
    candidate[SOURCES] = "synthetic";
    return saddle_closest(name, candidate, SOURCES + 1);
}

/* ---- one file ---- */

/* Returns the value of a variable if it is an absolute path; XDG says to ignore any other. */
static const char *absolute(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] == '/' ? value : NULL;
}

saddle_status saddle_data_directory(char **out, saddle_error *error)
{
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    const char *data = absolute("XDG_DATA_HOME");
    const char *home = absolute("HOME");
    if (data == NULL && home == NULL)
        return saddle_refuse(error,
                             "no data directory: neither XDG_DATA_HOME nor HOME is an absolute "
                             "path; set one of them or SADDLE_DATA, or give a directory");
    *out = data != NULL ? saddle_format("%s/saddle", data)
                        : saddle_format("%s/.local/share/saddle", home);
    return *out != NULL ? SADDLE_OK : saddle_no_memory(error, "a directory name");
}

static bool is_there(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

/* Returns DIRECTORY/FILE if it exists, otherwise NULL; a known name also stands for its files. */
static char *look_in(const char *directory, const char *name)
{
    const saddle_data_source *known = saddle_source_of(name);
    const char *file = known != NULL ? known->file : name;
    size_t length = strlen(file);
    bool packed = known != NULL && saddle_has_ending(file, ".gz");
    char *candidate[3] = {
        saddle_format("%s/%s", directory, name),
        saddle_format("%s/%s", directory, file),
        packed ? saddle_format("%s/%.*s", directory, (int)(length - 3), file) : NULL,
    };
    char *found = NULL;
    for (size_t k = 0; k < 3; k++) {
        if (found == NULL && candidate[k] != NULL && is_there(candidate[k]))
            found = candidate[k];
        else
            saddle_free(candidate[k]);
    }
    return found;
}

static const char *what_is_here(const char *name)
{
    struct stat status;
    if (lstat(name, &status) != 0)
        return "not a file here";
    return S_ISDIR(status.st_mode) ? "here it is a directory" : "here it is a link to no file";
}

/* Reports where the data set was looked for and how to get it. */
static saddle_status not_found(const char *name, const char *given, const char *standard,
                               saddle_error *error)
{
    SADDLE_OWNED char *remedy = NULL;
    const char *close = saddle_closest_source(name);
    if (saddle_source_of(name) != NULL)
        remedy = saddle_format("download it first (saddle data fetch %s)", name);
    else
        remedy = saddle_format("%s%s%sgive a file's path or one of " SADDLE_SOURCE_NAMES
                               ", synthetic[:ROWS[:FEATURES]]",
                               close != NULL ? "did you mean '" : "", close != NULL ? close : "",
                               close != NULL ? "'? " : "");
    saddle_refuse(error, "no data set '%.200s': %s, not in %.200s, not in %.200s; %s", name,
                  what_is_here(name), given != NULL ? given : "$SADDLE_DATA (not set)",
                  standard != NULL ? standard : "the data directory (HOME is not set)",
                  remedy != NULL ? remedy : "");
    return SADDLE_BAD_INPUT;
}

/* Reports that a path, a name with a slash, does not exist. */
static saddle_status no_file(const char *path, saddle_error *error)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return saddle_refuse(error, "cannot read '%s': it is a directory; give the path of a file",
                             path);
    return saddle_refuse(
        error,
        "cannot read '%s': %s; give the path of a file, or one of the names " SADDLE_SOURCE_NAMES
        ", synthetic[:ROWS[:FEATURES]]",
        path, strerror(errno));
}

saddle_status saddle_data_find(const char *name, char **path, saddle_error *error)
{
    SADDLE_REQUIRE(error, path);
    *path = NULL;
    SADDLE_REQUIRE(error, name);
    if (*name == '\0')
        return saddle_refuse(error,
                             "no data set named; give a file's path or one of " SADDLE_SOURCE_NAMES
                             ", synthetic[:ROWS[:FEATURES]]");
    if (is_there(name)) {
        *path = saddle_strdup(name);
        return *path != NULL ? SADDLE_OK : saddle_no_memory(error, "a file name");
    }
    if (strchr(name, '/') != NULL || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return no_file(name, error);
    const char *given = getenv("SADDLE_DATA");
    if (given != NULL && *given == '\0')
        given = NULL;
    if (given != NULL)
        *path = look_in(given, name);
    SADDLE_OWNED char *standard = NULL;
    /* Without HOME, there is one directory less to search. */
    if (*path == NULL && saddle_data_directory(&standard, NULL) == SADDLE_OK)
        *path = look_in(standard, name);
    if (*path == NULL)
        SADDLE_TRY(not_found(name, given, standard, error));
    return SADDLE_OK;
}

/* ---- several files ---- */

/* Counts the files of a pattern in a directory that is searched for data sets. */
static saddle_status count_below(const char *directory, const char *pattern, size_t *out,
                                 saddle_error *error)
{
    SADDLE_OWNED char *path = saddle_format("%s/%s", directory, pattern);
    SADDLE_TRY(saddle_check_memory(path, "a file name", error));
    return saddle_pattern_count(path, out, error);
}

saddle_status saddle_data_count_files(const char *pattern, size_t *out, saddle_error *error)
{
    SADDLE_REQUIRE(error, pattern, out);
    SADDLE_OWNED char *standard = NULL;
    const char *given = getenv("SADDLE_DATA");
    *out = 0;
    SADDLE_TRY(saddle_pattern_check(pattern, error));
    SADDLE_TRY(saddle_pattern_count(pattern, out, error));
    bool path = strchr(pattern, '/') != NULL;
    if (!path && given != NULL && *given != '\0')
        SADDLE_TRY(count_below(given, pattern, out, error));
    if (!path && saddle_data_directory(&standard, NULL) == SADDLE_OK)
        SADDLE_TRY(count_below(standard, pattern, out, error));
    return SADDLE_OK;
}
