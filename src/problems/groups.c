#include "problems/groups.h"

#include "data/columns.h"
#include "data/dataset.h"
#include "data/rows.h"

/* Texts longer than this are listed by their indices. */
enum { MOST_TEXT = 40 };

/* Parses the first `length` characters as a number; returns false if they are not one. */
static bool read_number(const char *text, size_t length, double *out)
{
    char number[64];
    if (length >= sizeof number)
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    return saddle_parse_real(number, out);
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Appends the column named by a text of `length` characters. */
static saddle_status add_column(saddle_groups *g, const char *text, size_t length,
                                saddle_error *error)
{
    const saddle_columns *columns = g->inputs->columns;
    size_t features = g->inputs->features;
    saddle_group_column found = {.first = features, .count = 1};
    bool label = (length == 5 && strncmp(text, "label", 5) == 0) ||
                 saddle_columns_is_label(columns, text, length);
    if (!label)
        SADDLE_TRY(saddle_in_field("--groups",
                                   saddle_columns_features_of(columns, features, text, length,
                                                              &found.first, &found.count, error),
                                   error));
    for (size_t k = 0; k < g->width; k++)
        if (g->column[k].first == found.first && g->column[k].count == found.count)
            return saddle_refuse(error, "--groups: '%s' is listed twice",
                                 saddle_excerpt_of(text, text + length).text);
    if (g->width == SADDLE_GROUP_COLUMNS)
        return saddle_refuse(error, "--groups: give at most %d columns", SADDLE_GROUP_COLUMNS);
    g->column[g->width++] = found;
    return SADDLE_OK;
}

static saddle_status read_columns(saddle_groups *g, const char *by, saddle_error *error)
{
    size_t length;
    for (const char *item; (item = saddle_next_item(&by, &length)) != NULL;)
        SADDLE_TRY(add_column(g, item, length, error));
    return SADDLE_OK;
}

/* Returns the texts of a column, whose values are their indices; NULL if its values are numbers. */
static const char *const *texts_of(const saddle_groups *g, const saddle_group_column *column,
                                   size_t *count)
{
    const saddle_columns *columns = g->inputs->columns;
    *count = 0;
    for (size_t k = 0; k < saddle_columns_count(columns); k++) {
        size_t first;
        size_t features;
        saddle_columns_features(columns, k, &first, &features);
        if (first == column->first && features == column->count)
            return saddle_columns_texts(columns, k, count);
    }
    return NULL;
}

/* Returns whether a text can be used in a list of groups: it is short, contains no separator and
 * is not a number. */
static bool can_be_listed(const char *text)
{
    size_t length = strlen(text);
    double number;
    if (length == 0 || length > MOST_TEXT || read_number(text, length, &number) || text[0] == ' ' ||
        text[length - 1] == ' ')
        return false;
    for (size_t k = 0; k < length; k++)
        if ((unsigned char)text[k] < ' ' || text[k] == ',' || text[k] == ':')
            return false;
    return true;
}

/* Reads the value of an element of a list, a number or one of the column's texts; returns false
 * if it is neither. */
static bool read_listed(const saddle_groups *g, size_t column, const char *value, size_t length,
                        double *out)
{
    size_t count;
    const char *const *text = texts_of(g, &g->column[column], &count);
    if (read_number(value, length, out))
        return true;
    for (size_t k = 0; k < count; k++)
        if (strlen(text[k]) == length && strncmp(text[k], value, length) == 0) {
            *out = (double)k;
            return true;
        }
    return false;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Returns the value of a row in a column: its number, or the index of its text. */
static double read_value(const saddle_group_column *column, const saddle_dataset *data, size_t row)
{
    if (column->count == 1)
        return saddle_row_entry(data, row, column->first);
    for (size_t k = 1; k < column->count; k++)
        if (saddle_row_entry(data, row, column->first + k) != 0.0)
            return (double)k;
    return 0.0;
}

static void read_key(const saddle_groups *g, const saddle_dataset *data, size_t row, double *key)
{
    for (size_t k = 0; k < g->width; k++)
        /* Adding 0.0 turns -0.0 into 0.0. */
        key[k] = 0.0 + (g->column[k].first == g->inputs->features
                            ? data->label[row]
                            : read_value(&g->column[k], data, row));
}

static int compare_keys(size_t width, const double *a, const double *b)
{
    for (size_t k = 0; k < width; k++)
        if (a[k] != b[k])
            return a[k] < b[k] ? -1 : 1;
    return 0;
}

/* Returns the index of the first group whose key is not below this one, in an ascending list. */
static size_t place_of(const saddle_groups *g, const double *key)
{
    size_t low = 0;
    size_t high = g->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_keys(g->width, g->key + middle * g->width, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t find_key(const saddle_groups *g, const double *key)
{
    size_t k = 0;
    if (!g->given) {
        k = place_of(g, key);
        return k < g->count && compare_keys(g->width, g->key + k * g->width, key) == 0 ? k
                                                                                       : g->count;
    }
    while (k < g->count && compare_keys(g->width, g->key + k * g->width, key) != 0)
        k++;
    return k;
}

/* Adds a key to the groups; returns false if there are too many. */
static bool add_key(saddle_groups *g, const double *key)
{
    size_t k = place_of(g, key);
    double *at = g->key + k * g->width;
    if (k < g->count && compare_keys(g->width, at, key) == 0)
        return true;
    if (g->count == SADDLE_MOST_GROUPS)
        return false;
    memmove(at + g->width, at, (g->count - k) * g->width * sizeof *at);
    memcpy(at, key, g->width * sizeof *at);
    g->count++;
    return true;
}

static saddle_status too_many(saddle_error *error)
{
    return saddle_refuse(
        error,
        "--groups: the rows form more than %d groups; choose columns with fewer different values",
        SADDLE_MOST_GROUPS);
}

/* Collects the distinct keys of the rows in this process. */
static saddle_status collect_keys(saddle_groups *g, saddle_error *error)
{
    const saddle_world *world = g->inputs->world;
    double key[SADDLE_GROUP_COLUMNS];
    for (size_t k = 0; k < world->local; k++) {
        const saddle_dataset *data = g->inputs->shard[world->here[k]];
        for (size_t row = 0; row < data->rows; row++) {
            read_key(g, data, row, key);
            if (!add_key(g, key))
                return too_many(error);
        }
    }
    return SADDLE_OK;
}

/* Appends the key given by a text of `length` characters; returns false if it is not a key or is
 * already there. */
static bool append_key(saddle_groups *g, const char *text, size_t length)
{
    double *key = g->key + g->count * g->width;
    const char *end = text + length;
    if (g->count == SADDLE_MOST_GROUPS)
        return false;
    for (size_t k = 0; k < g->width; k++) {
        size_t own = strcspn(text, ":,"); /* length of the k-th value */
        if (!read_listed(g, k, text, own, &key[k]) || (text + own == end) != (k + 1 == g->width))
            return false;
        text += own + 1;
    }
    if (find_key(g, key) < g->count)
        return false;
    g->count++;
    return true;
}

static saddle_status read_keys(saddle_groups *g, const char *values, saddle_error *error)
{
    const char *rest = values;
    size_t length;
    for (const char *item; (item = saddle_next_item(&rest, &length)) != NULL;)
        if (!append_key(g, item, length))
            return saddle_refuse(
                error,
                "--group-values: '%.100s' is not a list of groups; give at most %d different ones "
                "separated by commas, each of %zu value%s%s, or auto",
                values, SADDLE_MOST_GROUPS, g->width, g->width > 1 ? "s" : "",
                g->width > 1 ? " separated by colons" : "");
    return SADDLE_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool allocate(saddle_groups *g)
{
    const saddle_world *world = g->inputs->world;
    size_t rows = 0;
    for (size_t k = 0; !g->by_agent && k < world->local; k++)
        rows += g->inputs->shard[world->here[k]]->rows;
    size_t keys = g->by_agent ? 0 : SADDLE_MOST_GROUPS * g->width;
    g->key = saddle_alloc_doubles(keys);
    g->received = saddle_alloc_doubles(keys);
    g->all_rows = saddle_alloc(rows, sizeof *g->all_rows);
    g->row = saddle_alloc(world->agents, sizeof *g->row);
    g->size = saddle_alloc(g->by_agent ? world->agents : SADDLE_MOST_GROUPS, sizeof *g->size);
    return g->key != NULL && g->received != NULL && g->all_rows != NULL && g->row != NULL &&
           g->size != NULL;
}

/* Chooses groups for data that Saddle knows, and refuses to for other data. */
static saddle_status choose_groups(const saddle_problem_inputs *inputs, const char **by,
                                   saddle_error *error)
{
    *by = "agents";
    if (inputs->data != NULL && saddle_data_is_known(inputs->data))
        return SADDLE_OK;
    bool named = saddle_columns_count(inputs->columns) > 0;
    return saddle_refuse(
        error,
        "--groups: which rows of these data form a group is not known; give agents, if the rows of "
        "each agent do, or names of columns or numbers from 1 to %zu, and label, such as %s,label",
        inputs->features, named ? SADDLE_EXCERPT(saddle_columns_name(inputs->columns, 0)) : "1");
}

saddle_status saddle_groups_read(saddle_groups *out, const saddle_problem_inputs *inputs,
                                 const char **by, const char *values, saddle_error *error)
{
    *out = (saddle_groups){.inputs = inputs};
    if (*by == NULL)
        SADDLE_TRY(choose_groups(inputs, by, error));
    out->by_agent = strcmp(*by, "agents") == 0;
    out->given = values != NULL;
    if (out->by_agent && out->given)
        return saddle_refuse(error, "--group-values: with groups = agents there are no values; "
                                    "leave it out, or set --groups to columns");
    if (!out->by_agent)
        SADDLE_TRY(read_columns(out, *by, error));
    if (!allocate(out))
        return saddle_no_memory(error, "the groups");
    if (out->by_agent)
        out->count = inputs->agents;
    else if (out->given && values != NULL)
        return read_keys(out, values, error);
    else
        return collect_keys(out, error);
    return SADDLE_OK;
}

/* Each process in turn sends the groups that it knows to the others. */
static saddle_status exchange_keys(saddle_groups *g, saddle_error *error)
{
    const saddle_world *world = g->inputs->world;
    int64_t full = 0;
    for (size_t rank = 0; rank < world->ranks && world->ranks > 1; rank++) {
        uint64_t count = g->count;
        bool own = rank == world->rank;
        world->share(world, rank, sizeof count, &count);
        /* More than a process can have would not fit. */
        full = count > SADDLE_MOST_GROUPS ? 1 : full;
        count = count > SADDLE_MOST_GROUPS ? 0 : count;
        size_t bytes = (size_t)count * g->width * sizeof *g->key;
        world->share(world, rank, bytes, own ? g->key : g->received);
        for (size_t k = 0; !own && k < count; k++)
            full = add_key(g, g->received + k * g->width) ? full : 1;
    }
    world->add_words(world, 1, &full);
    return full > 0 ? too_many(error) : SADDLE_OK;
}

/* Finds the group of every row in this process and counts the rows of each group. Returns the
 * number of rows without a group. */
static int64_t assign_rows(saddle_groups *g)
{
    const saddle_world *world = g->inputs->world;
    uint32_t *next = g->all_rows;
    int64_t without = 0;
    for (size_t k = 0; k < world->local; k++) {
        const saddle_dataset *data = g->inputs->shard[world->here[k]];
        g->row[world->here[k]] = next;
        for (size_t row = 0; row < data->rows; row++, next++) {
            size_t group = saddle_groups_find(g, data, row);
            *next = (uint32_t)(group < g->count ? group : 0);
            if (group < g->count)
                g->size[group]++;
            else
                without++;
        }
    }
    return without;
}

/* Checks that every row belongs to one of the given groups and that every group has rows. */
static saddle_status check_sizes(const saddle_groups *g, int64_t without, saddle_error *error)
{
    if (without > 0)
        return saddle_refuse(error,
                             "--group-values: %lld rows belong to none of the %zu groups; list all "
                             "groups, or give auto",
                             (long long)without, g->count);
    for (size_t k = 0; k < g->count; k++)
        if (g->size[k] == 0)
            return saddle_refuse(
                error, "--group-values: no agent has a row of group %zu; leave it out", k + 1);
    return SADDLE_OK;
}

saddle_status saddle_groups_join(saddle_groups *groups, saddle_error *error)
{
    const saddle_problem_inputs *inputs = groups->inputs;
    const saddle_world *world = inputs->world;
    for (size_t i = 0; groups->by_agent && i < inputs->agents; i++)
        groups->size[i] = (int64_t)inputs->samples[i];
    if (groups->by_agent)
        return SADDLE_OK;
    if (!groups->given)
        SADDLE_TRY(exchange_keys(groups, error));
    int64_t without = assign_rows(groups);
    world->add_words(world, groups->count, groups->size);
    world->add_words(world, 1, &without);
    /* An instance made for scoring does not have the rows of the run. */
    return inputs->scoring ? SADDLE_OK : check_sizes(groups, without, error);
}

void saddle_groups_count(const saddle_groups *groups, const double *weight, int64_t *rows)
{
    const saddle_world *world = groups->inputs->world;
    memset(rows, 0, groups->count * sizeof *rows);
    for (size_t i = 0; i < world->agents; i++) {
        size_t own = weight[i] > 0.0 ? groups->inputs->samples[i] : 0;
        if (groups->by_agent)
            rows[i] = (int64_t)own;
        for (size_t row = 0; groups->row[i] != NULL && row < own; row++)
            rows[groups->row[i][row]]++;
    }
    if (!groups->by_agent)
        world->add_words(world, groups->count, rows);
}

void saddle_groups_free(saddle_groups *groups)
{
    saddle_free(groups->key);
    saddle_free(groups->received);
    saddle_free(groups->all_rows);
    saddle_free(groups->row);
    saddle_free(groups->size);
}

char *saddle_groups_list(const saddle_groups *groups)
{
    enum { MOST_VALUE = SADDLE_REAL_SIZE > MOST_TEXT + 2 ? SADDLE_REAL_SIZE : MOST_TEXT + 2 };
    size_t values = groups->count * groups->width;
    char *list = saddle_alloc(values * MOST_VALUE + 1, 1);
    char *end = list;
    for (size_t k = 0; list != NULL && k < values; k++) {
        size_t texts;
        const char *const *text = texts_of(groups, &groups->column[k % groups->width], &texts);
        double value = groups->key[k];
        if (k > 0)
            *end++ = k % groups->width == 0 ? ',' : ':';
        if (value >= 0.0 && value < (double)texts && can_be_listed(text[(size_t)value]))
            memcpy(end, text[(size_t)value], strlen(text[(size_t)value]) + 1);
        else
            saddle_print_real(value, 1, end);
        end += strlen(end);
    }
    return list;
}

size_t saddle_groups_find(const saddle_groups *groups, const saddle_dataset *data, size_t row)
{
    double key[SADDLE_GROUP_COLUMNS];
    if (groups->by_agent)
        return groups->count;
    read_key(groups, data, row, key);
    return find_key(groups, key);
}
