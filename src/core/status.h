/* Shorthands over <saddle/status.h> for use inside the library. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/status.h>

/* clang's analyzer does not look into variadic functions: it must see that the status is the one given. */
#ifdef __clang_analyzer__
#define saddle_fail(error, status, ...) ((saddle_fail)(error, status, __VA_ARGS__), (status))
#endif

/* Fails because of invalid input: the most frequent saddle_fail(). */
#define saddle_refuse(error, ...) saddle_fail(error, SADDLE_BAD_INPUT, __VA_ARGS__)

/* Returns from the function with the status of `step` if it fails. */
#define SADDLE_TRY(step)               \
    do {                               \
        saddle_status tried_ = (step); \
        if (tried_ != SADDLE_OK)       \
            return tried_;             \
    } while (0)

/* Runs the next step only if all before it succeeded. */
#define SADDLE_THEN(status, step) SADDLE_THEN_IF(status, true, step)
/* The same, for a step that also needs a condition. */
#define SADDLE_THEN_IF(status, condition, step)   \
    do {                                          \
        if ((status) == SADDLE_OK && (condition)) \
            (status) = (step);                    \
    } while (0)

/* Reports a failed allocation: what the memory was for, and if a limit was the reason, how much is available. */
void saddle_say_no_memory(saddle_error *error, const char *what);
static inline saddle_status saddle_no_memory(saddle_error *error, const char *what)
{
    saddle_say_no_memory(error, what);
    return SADDLE_NO_MEMORY;
}

/* Returns SADDLE_OK if a block was allocated; otherwise reports what the memory was for. */
static inline saddle_status saddle_check_memory(const void *block, const char *what,
                                                saddle_error *error)
{
    return block != NULL ? SADDLE_OK : saddle_no_memory(error, what);
}

/* Receives a warning of one line. */
typedef void saddle_warning(void *context, const char *message);
/* Formats a warning as saddle_fail() does a message, and passes it on; `warning` may be NULL. */
void saddle_warn(saddle_warning *warning, void *context, const char *format, ...)
    SADDLE_PRINTF(3, 4);

/* Returns a name for messages; the name of a problem in memory may be NULL. */
static inline const char *saddle_shown_name(const char *name)
{
    return name != NULL ? name : "(unnamed)";
}

/* Puts "what: " in front of an error message, unless it already begins with the name of an
 * option or field, or with FILE:LINE:COLUMN. Returns the status. */
saddle_status saddle_in_field(const char *what, saddle_status status, saddle_error *error);
/* Fails if a struct was filled in with the headers of another version or has no ABI number. */
saddle_status saddle_check_abi(uint32_t abi, const char *type, saddle_error *error);

/* Fails, naming the argument, if a required pointer is NULL. Public functions call this before
 * they dereference any of them. */
#define SADDLE_REQUIRE(error, ...)                                                                 \
    SADDLE_TRY(saddle_require((error), __func__, #__VA_ARGS__, (const void *const[]){__VA_ARGS__}, \
                              sizeof(const void *const[]){__VA_ARGS__} / sizeof(void *)))
/* Implements SADDLE_REQUIRE(). `names` are those of the pointers, separated by ", ". */
saddle_status saddle_require(saddle_error *error, const char *function, const char *names,
                             const void *const *pointer, size_t count);

/* Passes on the failure of a function that the caller may have supplied. `said` is its message;
 * if it is empty, the message names the function as `what`. */
saddle_status saddle_pass_on(saddle_error *error, saddle_status status, const saddle_error *said,
                             const char *what, const char *name);

/* Fails with SADDLE_BAD_INPUT and "FILE:LINE:COLUMN: what". Lines and columns count from 1. */
saddle_status saddle_fail_at(saddle_error *error, const char *path, size_t line, size_t column,
                             const char *format, ...) SADDLE_PRINTF(5, 6);
