/* What the value of an option may be, and the typed field that it is written into. */
#ifndef SADDLE_CORE_OPTION_VALUE_H
#define SADDLE_CORE_OPTION_VALUE_H

#include <saddle/option.h>

/* A value as the option's field holds it. */
typedef union saddle_option_value {
    bool flag;
    uint64_t integer;
    double real;
    int choice; /* its place among the choices */
    const char *text;
} saddle_option_value;

/* Bytes of an option's field. */
size_t saddle_option_bytes(const saddle_option *option);
/* The field of an option in a struct. */
static inline const void *saddle_option_field(const saddle_option *option, const void *target)
{
    return (const char *)target + option->offset;
}

/* Refuse a declaration that contradicts itself, SADDLE_CHECK_FAILED. */
saddle_status saddle_option_check(const saddle_option *option, saddle_error *error);
/* Read a value; texts are borrowed. `why` gets the reason of a refusal without the option's name. */
saddle_status saddle_option_read(const saddle_option *option, const char *text,
                                 saddle_option_value *out, saddle_error *why);
/* Write a value into the option's field in `target`. */
void saddle_option_write(const saddle_option *option, const saddle_option_value *value,
                         void *target);
/* Write the default of an option into its field in `target`; texts are constants. */
void saddle_option_default(const saddle_option *option, void *target);
/* Whether a field holds a value. */
bool saddle_option_holds(const saddle_option *option, const void *field,
                         const saddle_option_value *value);

/* The longest list of choices. */
#define SADDLE_CHOICES_SIZE 512
/* What a field holds as text, in `buffer` unless it is a text itself. NULL: the field is the number of a
 * choice that does not exist. */
const char *saddle_option_text(const saddle_option *option, const void *field,
                               char buffer[SADDLE_CHOICES_SIZE]);

/*
 * Fill the fields of a table's options in `target` from "name=value,name=value"; options that are not
 * named get their defaults. Options of the plan in the table are left out. `list` is cut into pieces and
 * must outlive `target`, whose texts point into it.
 */
saddle_status saddle_options_parse(const saddle_option *const *options, char *list, void *target,
                                   saddle_error *error);

#endif
