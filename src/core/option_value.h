/* Parsing the value of an option and writing it into its typed field. */
#pragma once

#include <saddle/option.h>

/* The value of an option, by type. */
typedef union saddle_option_value {
    bool flag;
    uint64_t integer;
    double real;
    int choice; /* index into the choices */
    const char *text;
} saddle_option_value;

/* Returns the size in bytes of an option's field. */
size_t saddle_option_bytes(const saddle_option *option);
/* Returns the address of an option's field in a struct. */
static inline const void *saddle_option_field(const saddle_option *option, const void *target)
{
    return (const char *)target + option->offset;
}

/* Checks that an option's declaration is consistent; fails with SADDLE_CHECK_FAILED if not. */
saddle_status saddle_option_check(const saddle_option *option, saddle_error *error);
/* Checks all options of a table, their defaults, and that no two have the same name; NULL is an empty table. */
saddle_status saddle_options_check(const saddle_option *const *options, saddle_error *error);
/* Parses a value. Strings are borrowed. On failure `why` gets the reason, without the option's name. */
saddle_status saddle_option_read(const saddle_option *option, const char *text,
                                 saddle_option_value *out, saddle_error *why);
/* Writes a value into the option's field in `target`. */
void saddle_option_write(const saddle_option *option, const saddle_option_value *value,
                         void *target);
/* Writes an option's default into its field in `target`. Strings are constants. */
void saddle_option_default(const saddle_option *option, void *target);
/* Returns whether a field holds a given value. */
bool saddle_option_holds(const saddle_option *option, const void *field,
                         const saddle_option_value *value);

/* Formats the value of a field, in `buffer` unless it is a string. NULL when the field is a
 * choice that does not exist. */
const char *saddle_option_text(const saddle_option *option, const void *field,
                               char buffer[SADDLE_VALUE_SIZE]);

/*
 * Fills the fields of a table's options in `target` from "name=value,name=value"; options that
 * are not named get their defaults. Skips options of the table that belong to the plan. `list`
 * is modified and must outlive `target`, whose strings point into it.
 */
saddle_status saddle_options_parse(const saddle_option *const *options, char *list, void *target,
                                   saddle_error *error);
