/* The files that a command or run reads and writes, checked so that no output overwrites an input or
 * another output. */
#pragma once

#include "core/base.h"

typedef struct saddle_path_entry {
    char *path;
    const char
        *what; /* the option or argument that names the file: "--trace"; in the block of path */
} saddle_path_entry;

/* Initialise to zero for an empty list. */
typedef struct saddle_path_list {
    saddle_path_entry *entry;
    size_t count;
    size_t capacity;
    bool short_of_memory; /* a path could not be added */
} saddle_path_list;

/* Adds a path, unless it is NULL or "". `what` names it in messages: "--trace". Both are copied. */
void saddle_path_list_add(saddle_path_list *list, const char *what, const char *path);
/* Adds what follows "file:" or "schedule:" in a rule, or in a list of rules such as
 * sequence:ring,file:edges. Because a path can contain a comma, both the rest of the text and the rest
 * of the item are added. */
void saddle_path_list_add_rule(saddle_path_list *list, const char *what, const char *text);
/* Frees the entries. */
void saddle_path_list_release(saddle_path_list *list);

/* Returns whether two paths name the same file, through whatever links, existing or not. Always false
 * for devices and pipes, which cannot be overwritten. */
bool saddle_same_file(const char *a, const char *b);
/* Fails if an output is also an input or another output. Frees both lists. */
saddle_status saddle_path_lists_check(saddle_path_list *outputs, saddle_path_list *inputs,
                                      saddle_error *error);
