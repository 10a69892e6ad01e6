#include "engines/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/print.h"
#include "core/status.h"

/* Directories, separated by colons, relative to the one of this program or library unless they begin with /. */
static const char places[] = SADDLE_MODULE_PLACES;

void saddle_signals_save(saddle_signals *out)
{
    for (int k = 1; k < _NSIG; k++)
        sigaction(k, NULL, &out->action[k]);
}

void saddle_signals_restore(const saddle_signals *saved)
{
    for (int k = 1; k < _NSIG; k++)
        sigaction(k, &saved->action[k], NULL);
}

/* Finds the directory of the program or library that contains this code; false if it is unknown. */
static bool own_directory(char out[PATH_MAX])
{
    Dl_info info;
    void *map = NULL;
    if (dladdr1(places, &info, &map, RTLD_DL_LINKMAP) == 0)
        return false;
    const char *name = ((const struct link_map *)map)->l_name;
    /* That of the program is empty. */
    if (realpath(*name != '\0' ? name : "/proc/self/exe", out) == NULL)
        return false;
    *strrchr(out, '/') = '\0';
    return true;
}

/* Writes the path of the module in the first directory that has it; false, and its path in the last one, if
 * none has. */
static bool find(const char *module, char path[PATH_MAX])
{
    char own[PATH_MAX];
    const char *given = getenv("SADDLE_MODULES");
    if (given != NULL && *given != '\0') {
        saddle_snprintf(path, PATH_MAX, "%s/libsaddle-%s.so", given, module);
        return access(path, F_OK) == 0;
    }
    if (!own_directory(own))
        saddle_snprintf(own, sizeof own, "/");
    for (const char *list = places; *list != '\0';) {
        int length = (int)strcspn(list, ":");
        saddle_snprintf(path, PATH_MAX, "%s%s%.*s/libsaddle-%s.so", *list != '/' ? own : "",
                        *list != '/' ? "/" : "", length, list, module);
        if (access(path, F_OK) == 0)
            return true;
        list += length + (list[length] == ':');
    }
    return false;
}

static saddle_status check(const saddle_module *found, const saddle_module_name *module,
                           const char *path, size_t bytes, saddle_error *error)
{
    if (found == NULL)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "%s: '%s' is not a module of saddle; install the one of saddle %s",
                           module->user, path, saddle_version());
    if (strcmp(found->version, saddle_version()) != 0 || found->bytes != bytes)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "%s: the module '%s' is of another build, of saddle %s, and this is "
                           "saddle %s; install both from one build",
                           module->user, path, found->version, saddle_version());
    return SADDLE_OK;
}

static saddle_status load(const saddle_module **out, const saddle_module_name *module, size_t bytes,
                          saddle_error *error)
{
    char path[PATH_MAX];
    saddle_signals signals;
    if (!find(module->name, path))
        return saddle_fail(
            error, SADDLE_UNSUPPORTED,
            "%s needs a module that is not installed ('%s'); %s%s%sinstall %s and "
            "build saddle again%s",
            module->user, path,
            module->unpackaged ? "" : "install the package libsaddle" SADDLE_SOVERSION "-",
            module->unpackaged ? "" : module->name, module->unpackaged ? "" : ", or ",
            module->needs, module->other);
    saddle_signals_save(&signals);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    saddle_signals_restore(&signals);
    if (handle == NULL) {
        const char *reason = dlerror();
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "%s needs the module '%s', which cannot be loaded (%s); install the "
                           "libraries that it was built with: %s%s",
                           module->user, path, reason != NULL ? reason : "no reason given",
                           module->needs, module->other);
    }
    /* It stays open, also if it is of no use: its libraries may have started threads. */
    const saddle_module *found = dlsym(handle, "saddle_module_table");
    SADDLE_TRY(check(found, module, path, bytes, error));
    *out = found;
    return SADDLE_OK;
}

saddle_status saddle_module_open(const saddle_module **out, const saddle_module_name *module,
                                 size_t bytes, saddle_error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    saddle_status status = *out != NULL ? SADDLE_OK : load(out, module, bytes, error);
    pthread_mutex_unlock(&lock);
    return status;
}
