/* The files that a piece of work reads and those that it writes, so that no output overwrites an input or
 * another output. */
#ifndef SADDLE_FILES_PATH_LIST_H
#define SADDLE_FILES_PATH_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include <saddle/status.h>

typedef struct saddle_path_entry {
    const char *option; /* whose file it is, for messages; borrowed */
    char *path;
} saddle_path_entry;

/* Zeroed: an empty list. */
typedef struct saddle_path_list {
    saddle_path_entry *entry;
    size_t count;
    size_t capacity;
    bool short_of_memory; /* a path could not be added */
} saddle_path_list;

/* Add a path, which is copied; NULL or "": there is none. */
void saddle_path_list_add(saddle_path_list *list, const char *option, const char *path);
/* The same for what follows "file:" in a text, if it begins so. */
void saddle_path_list_add_rule(saddle_path_list *list, const char *option, const char *text);
/* Free what it holds. */
void saddle_path_list_release(saddle_path_list *list);

/* Whether two paths are of one file, by whatever names and links, there already or not. Devices and pipes,
 * which are not overwritten, never are. */
bool saddle_same_file(const char *a, const char *b);
/* Refuse outputs of which one is an input or another output, and free both lists. */
saddle_status saddle_path_lists_check(saddle_path_list *outputs, saddle_path_list *inputs,
                                      saddle_error *error);

#endif
