/* Shorthands over <saddle/status.h> for use inside the library. */
#ifndef SADDLE_CORE_STATUS_H
#define SADDLE_CORE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/status.h>

/* A step that must go well: the function returns its status if it does not. */
#define SADDLE_TRY(step)               \
    do {                               \
        saddle_status tried_ = (step); \
        if (tried_ != SADDLE_OK)       \
            return tried_;             \
    } while (0)

/* The next step of several: made only if all before it went well. */
#define SADDLE_THEN(status, step) SADDLE_THEN_IF(status, true, step)
/* The same for a step that is made only under a condition. */
#define SADDLE_THEN_IF(status, condition, step)   \
    do {                                          \
        if ((status) == SADDLE_OK && (condition)) \
            (status) = (step);                    \
    } while (0)

/* The one message for a failed allocation: what the memory was for, and how much there is where that is why. */
void saddle_say_no_memory(saddle_error *error, const char *what);
static inline saddle_status saddle_no_memory(saddle_error *error, const char *what)
{
    saddle_say_no_memory(error, what);
    return SADDLE_NO_MEMORY;
}

/* A name for messages: of a problem in memory it may be NULL. */
static inline const char *saddle_shown_name(const char *name)
{
    return name != NULL ? name : "(unnamed)";
}

/* Begin the message of a failure with "field: ", unless it begins with the name of a field or with
 * FILE:LINE:COLUMN already. Returns the status. */
saddle_status saddle_in_field(const char *field, saddle_status status, saddle_error *error);
/* Refuse a struct that a caller filled in with the headers of another version, or without its ABI number. */
saddle_status saddle_check_abi(uint32_t abi, const char *type, saddle_error *error);

/* Refuse a call with a required pointer that is NULL, and name the argument: the first thing that a public
 * function does, before it follows any of them. */
#define SADDLE_REQUIRE(error, ...)                                                                 \
    SADDLE_TRY(saddle_require((error), __func__, #__VA_ARGS__, (const void *const[]){__VA_ARGS__}, \
                              sizeof(const void *const[]){__VA_ARGS__} / sizeof(void *)))
/* What SADDLE_REQUIRE() calls. `names` are those of the pointers, separated by ", ". */
saddle_status saddle_require(saddle_error *error, const char *function, const char *names,
                             const void *const *pointer, size_t count);

/* Pass on the failure of a function that may be the caller's: `said` is its message, `what` names it should it
 * have given none. */
saddle_status saddle_pass_on(saddle_error *error, saddle_status status, const saddle_error *said,
                             const char *what, const char *name);

/* Refuse what is at a position of a file, both from 1: "FILE:LINE:COLUMN: what", SADDLE_BAD_INPUT. */
saddle_status saddle_fail_at(saddle_error *error, const char *path, size_t line, size_t column,
                             const char *format, ...) SADDLE_PRINTF(5, 6);

#endif
