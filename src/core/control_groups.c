#include "core/control_groups.h"

typedef struct groups {
    char top[2][512]; /* the root directory of version 1 and of version 2 */
    saddle_control_group_visit *visit;
    void *context;
} groups;

/* Visits a group and its ancestors, except the root. */
static void climb(const groups *g, bool unified, char *path)
{
    char directory[1024];
    for (char *slash = strrchr(path, '/'); slash != NULL && slash[1] != '\0';
         slash = strrchr(path, '/')) {
        saddle_snprintf(directory, sizeof directory, "%s%s", g->top[unified], path);
        g->visit(g->context, directory, unified);
        *slash = '\0';
    }
}

/* Returns whether a comma-separated list such as "cpu,cpuacct" contains a word. Modifies the list. */
static bool lists(char *list, const char *word)
{
    char *rest = NULL;
    for (char *item = strtok_r(list, ",", &rest); item != NULL; item = strtok_r(NULL, ",", &rest))
        if (strcmp(item, word) == 0)
            return true;
    return false;
}

void saddle_control_groups(const char *root, const char *controller,
                           saddle_control_group_visit *visit, void *context)
{
    groups g = {.visit = visit, .context = context};
    char line[512];
    saddle_snprintf(g.top[1], sizeof g.top[1], "%s/sys/fs/cgroup", root);
    saddle_snprintf(g.top[0], sizeof g.top[0], "%s/sys/fs/cgroup/%s", root, controller);
    visit(context, g.top[1], true);
    visit(context, g.top[0], false);
    saddle_snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *f = fopen(line, "re");
    /* Lines are NUMBER:CONTROLLERS:PATH; version 2 has "0::PATH". */
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *names = strchr(line, ':');
        char *path = names != NULL ? strchr(names + 1, ':') : NULL;
        if (path == NULL)
            continue;
        *path++ = '\0';
        if (names[1] == '\0')
            climb(&g, true, path);
        else if (lists(names + 1, controller))
            climb(&g, false, path);
    }
    if (f != NULL)
        fclose(f);
}
