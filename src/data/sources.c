/* The data sets that can be downloaded: their addresses and the hashes of their files. */
#include "data/sources.h"

#include <string.h>

#include "core/text.h"

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
