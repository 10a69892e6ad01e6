/*
 * Loading shared objects. Whatever can be checked is checked before any code of the object is called:
 * that the file is readable and a shared object without undefined symbols, that it exports a plug-in,
 * and that it was built for this ABI.
 */
#include "files/plugin.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/option_value.h"
#include "core/registry.h"
#include "files/file.h"

#define SYMBOL "saddle_plugin"

bool saddle_plugin_named(const char *text)
{
    return memchr(text, '/', strcspn(text, ":")) != NULL;
}

const char *saddle_plugin_label(const char *text)
{
    const char *slash = memrchr(text, '/', strcspn(text, ":"));
    return slash != NULL ? slash + 1 : text;
}

/* Fails for the name of a shared object without a directory. */
static saddle_status check_name(const char *text, saddle_error *error)
{
    size_t length = strcspn(text, ":");
    if (saddle_plugin_named(text) || length < 4 || strncmp(text + length - 3, ".so", 3) != 0)
        return SADDLE_OK;
    return saddle_refuse(
        error,
        "'%s' has no directory, and shared objects are not searched for; give a path such as ./%s",
        text, text);
}

/* Splits the text into one block with PATH, ARGUMENT, and a second copy of ARGUMENT. */
static saddle_status split_text(saddle_plugin_object *plugin, const char *text, saddle_error *error)
{
    size_t length = strcspn(text, ":");
    const char *argument = text + length + (text[length] == ':');
    plugin->owned =
        saddle_format("%.*s%c%s%c%s", (int)length, text, '\0', argument, '\0', argument);
    SADDLE_TRY(saddle_check_memory(plugin->owned, "the plug-in", error));
    plugin->path = plugin->owned;
    plugin->argument = plugin->owned + length + 1;
    plugin->list = plugin->owned + length + 1 + strlen(argument) + 1;
    return SADDLE_OK;
}

/* Catches what dlopen() would block on or report less clearly. */
static saddle_status check_file(const char *path, saddle_error *error)
{
    struct stat status;
    if (stat(path, &status) != 0 || access(path, R_OK) != 0)
        return saddle_refuse(error,
                             "cannot read the plug-in '%s': %s; give the path of a shared object",
                             path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return saddle_refuse(
            error, "the plug-in '%s' is not a regular file; give the path of a shared object",
            path);
    return SADDLE_OK;
}

/* Lets objects that are loaded later use the library that contains this code, if it was itself loaded
 * as part of another object: a plug-in then never uses a second copy of it. A program exports the
 * library's functions. */
/* Any address in the library. */
static const char here_is = 0;

static void offer_functions(void)
{
    Dl_info here;
    if (dladdr(&here_is, &here) == 0 || here.dli_fname == NULL)
        return;
    void *self = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    if (self != NULL)
        dlclose(self);
}

static saddle_status load(saddle_plugin_object *plugin, saddle_error *error)
{
    const char *path = plugin->path;
    offer_functions();
    plugin->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin->handle == NULL) {
        const char *reason = dlerror();
        return saddle_refuse(error,
                             "the plug-in '%s' cannot be loaded (%s); give a shared object, built "
                             "with -shared -fPIC and linked to all it calls other than saddle",
                             path, reason != NULL ? reason : "no reason given");
    }
    plugin->exported = dlsym(plugin->handle, SYMBOL);
    if (plugin->exported == NULL)
        return saddle_refuse(error,
                             "the plug-in '%s' exports no symbol " SYMBOL
                             "; define the one that <saddle/plugin.h> declares",
                             path);
    return SADDLE_OK;
}

/* Check the ABI number first: if it differs, no other field has a known offset. */
static saddle_status check_exported(const saddle_plugin_object *plugin, saddle_error *error)
{
    const saddle_plugin_table *exported = plugin->exported;
    if (exported->abi == 0)
        return saddle_refuse(error,
                             SYMBOL " of the plug-in '%s' has no ABI number; set .abi = SADDLE_ABI",
                             plugin->path);
    if (exported->abi != SADDLE_ABI)
        return saddle_refuse(error,
                             "the plug-in '%s' was built for ABI %u, but this library has ABI %u; "
                             "build it again with the headers of saddle %s",
                             plugin->path, (unsigned)exported->abi, SADDLE_ABI, saddle_version());
    if (exported->problem == NULL && exported->algorithm == NULL && exported->set == NULL &&
        exported->regularizer == NULL)
        return saddle_refuse(
            error,
            SYMBOL " of the plug-in '%s' is empty; set .problem, .algorithm, .set or .regularizer",
            plugin->path);
    return SADDLE_OK;
}

/* Checks the options that an object declares. */
static saddle_status check_options(const saddle_plugin_object *plugin, saddle_error *error)
{
    const saddle_plugin_table *has = plugin->exported;
    const saddle_option *const *const table[] = {
        has->problem != NULL ? has->problem->options : NULL,
        has->algorithm != NULL ? has->algorithm->options : NULL,
        has->set != NULL ? has->set->term.options : NULL,
        has->regularizer != NULL ? has->regularizer->term.options : NULL};
    saddle_error said = {.message = ""};
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        SADDLE_THEN(status, saddle_options_check(table[k], &said));
    return status == SADDLE_OK ? status
                               : saddle_plugin_failed(plugin->path, SADDLE_BAD_INPUT, &said, error);
}

saddle_status saddle_plugin_open(saddle_plugin_object **out, const char *text, saddle_error *error)
{
    *out = NULL;
    saddle_plugin_object *plugin = saddle_alloc(1, sizeof *plugin);
    SADDLE_TRY(saddle_check_memory(plugin, "the plug-in", error));
    atomic_init(&plugin->users, 1);
    saddle_status status = split_text(plugin, text, error);
    SADDLE_THEN(status, check_file(plugin->path, error));
    SADDLE_THEN(status, load(plugin, error));
    SADDLE_THEN(status, check_exported(plugin, error));
    SADDLE_THEN(status, check_options(plugin, error));
    if (status == SADDLE_OK)
        *out = plugin;
    else
        saddle_plugin_close(plugin);
    return status;
}

bool saddle_plugin_sum(const char *text, unsigned char out[SADDLE_SHA256_BYTES])
{
    char path[PATH_MAX];
    FILE *file;
    size_t bytes;
    saddle_snprintf(path, sizeof path, "%.*s", (int)strcspn(text, ":"), text);
    if (saddle_reading_open_regular(&file, path, "the path of a shared object", &bytes, NULL) !=
        SADDLE_OK)
        return false;
    bool good = saddle_sha256_file(fileno(file), bytes, out);
    fclose(file);
    return good;
}

static void add_path(saddle_path_list *list, const char *what, const char *text, size_t length)
{
    if (memchr(text, '/', length) == NULL)
        return;
    SADDLE_OWNED char *path = saddle_format("%.*s", (int)length, text);
    if (path == NULL)
        list->short_of_memory = true;
    saddle_path_list_add(list, what, path);
}

void saddle_plugin_add_paths(saddle_path_list *list, const char *what, const char *text)
{
    for (const char *start = text; start != NULL;) {
        size_t alone = strcspn(start, ":");
        size_t listed = strcspn(start, ":,");
        add_path(list, what, start, alone);
        if (listed < alone)
            add_path(list, what, start, listed);
        start = strpbrk(start, ",*");
        start = start != NULL ? start + 1 : NULL;
    }
}

saddle_plugin_object *saddle_plugin_share(saddle_plugin_object *plugin)
{
    atomic_fetch_add(&plugin->users, 1);
    return plugin;
}

void saddle_plugin_close(saddle_plugin_object *plugin)
{
    if (plugin == NULL || atomic_fetch_sub(&plugin->users, 1) > 1)
        return;
    if (plugin->handle != NULL)
        dlclose(plugin->handle);
    saddle_free(plugin->owned);
    saddle_free(plugin);
}

saddle_status saddle_catalog_check(const saddle_catalog *catalog, const void *kind,
                                   const char *text, saddle_error *error)
{
    const char *name;
    memcpy(&name, kind, sizeof name);
    const char *missing = name == NULL || *name == '\0' ? "name" : catalog->missing(kind);
    if (missing == NULL)
        return SADDLE_OK;
    return saddle_refuse(error, "the %s '%.300s' has no %s; set it", catalog->what,
                         saddle_shown_name(text), missing);
}

/* Gets the class of the wanted kind from an object. */
static saddle_status take_class(const saddle_catalog *catalog, const saddle_plugin_object *plugin,
                                const void **kind, saddle_error *error)
{
    memcpy(kind, (const char *)plugin->exported + catalog->exported, sizeof *kind);
    if (*kind == NULL)
        return saddle_refuse(error,
                             "the plug-in '%s' has no %s; give one whose " SYMBOL " sets .%s",
                             plugin->path, catalog->what, catalog->what);
    return saddle_catalog_check(catalog, *kind, plugin->path, error);
}

saddle_status saddle_catalog_choose(const saddle_catalog *catalog, const char *text,
                                    const void **kind, saddle_plugin_object **plugin,
                                    saddle_error *error)
{
    *kind = NULL;
    *plugin = NULL;
    if (text == NULL)
        return saddle_refuse(error, "the text of the %s is NULL; give a name", catalog->what);
    SADDLE_TRY(check_name(text, error));
    if (!saddle_plugin_named(text)) {
        char name[64];
        size_t length = catalog->fields ? strcspn(text, ":") : strlen(text);
        saddle_snprintf(name, sizeof name, "%.*s", (int)length, text);
        return saddle_registry_find(kind, catalog->what, name, catalog->list, catalog->count,
                                    error);
    }
    SADDLE_TRY(saddle_plugin_open(plugin, text, error));
    saddle_status status = take_class(catalog, *plugin, kind, error);
    if (status != SADDLE_OK) {
        saddle_plugin_close(*plugin);
        *kind = NULL;
        *plugin = NULL;
    }
    return status;
}

saddle_status saddle_plugin_options(const saddle_option *const *options, bool reads_text,
                                    const char *name, char *list, void *target, saddle_error *error)
{
    if (options != NULL)
        return saddle_options_parse(options, list, target, error);
    if (reads_text || *list == '\0')
        return SADDLE_OK;
    return saddle_refuse(error, "%s takes no options, but '%.200s' was given; leave it out", name,
                         list);
}

char *saddle_plugin_text(const saddle_plugin_object *plugin, const saddle_option *const *options,
                         const void *target)
{
    char buffer[SADDLE_VALUE_SIZE];
    bool given = options == NULL && *plugin->argument != '\0';
    char *text =
        saddle_format("%s%s%s", plugin->path, given ? ":" : "", given ? plugin->argument : "");
    size_t named = 0;
    for (; text != NULL && options != NULL && *options != NULL; options++) {
        const saddle_option *option = *options;
        if (option->home != SADDLE_HOME_OWN)
            continue;
        const char *value = saddle_option_text(option, saddle_option_field(option, target), buffer);
        if (value == NULL || (*value == '\0' && *option->fallback == '\0'))
            continue;
        char *longer =
            saddle_format("%s%c%s=%s", text, named++ == 0 ? ':' : ',', option->name, value);
        saddle_free(text);
        text = longer;
    }
    return text;
}

saddle_status saddle_plugin_failed(const char *text, saddle_status status, const saddle_error *said,
                                   saddle_error *error)
{
    return saddle_fail(error, status, "the plug-in '%.*s': %.700s", (int)strcspn(text, ":"), text,
                       *said->message != '\0'
                           ? said->message
                           : "it failed and gave no reason; have it call saddle_fail");
}
