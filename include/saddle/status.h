/**
 * @file status.h
 * @brief What a call returns, and how it says what went wrong.
 *
 * Every function that can fail returns a ::saddle_status and takes, as its last argument, a
 * ::saddle_error that receives one line naming the offending value and what would be right. A pointer
 * that is NULL although its description does not allow it is refused by the name of the argument; the
 * error itself may always be NULL. Functions that return no status, such as saddle_set_project(), take what
 * the others have made and check nothing. The
 * library never prints, never exits and keeps no global state.
 */
#ifndef SADDLE_STATUS_H
#define SADDLE_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The version of the structs in these headers: it grows whenever one that a caller or a plug-in fills in
 * changes. Plans, plug-ins and options of calls that take no plan carry it, so that a library of another version refuses them with a message.
 */
#define SADDLE_ABI 11u

/** Visible from the shared library. Everything else is hidden. */
#define SADDLE_API __attribute__((visibility("default")))

#if defined(__GNUC__)
/** Lets the compiler check printf-like arguments. */
#define SADDLE_PRINTF(format_index, first_argument) \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define SADDLE_PRINTF(format_index, first_argument)
#endif

/** The one list from which both the enum and its texts are made. */
#define SADDLE_STATUS_LIST(X)                                                \
    X(SADDLE_OK, "success")                                                  \
    X(SADDLE_BAD_INPUT, "wrong option, file, number, graph or size")         \
    X(SADDLE_NO_MEMORY, "out of memory")                                     \
    X(SADDLE_IO, "could not read or write")                                  \
    X(SADDLE_NUMERIC, "a numerical method did not deliver")                  \
    X(SADDLE_CHECK_FAILED, "a self-check found the computation to be wrong") \
    X(SADDLE_UNSUPPORTED, "not available in this build or for this combination")

/** Whether a call worked. Why a *run* ended is another matter: see ::saddle_stop. */
typedef enum saddle_status {
#define SADDLE_STATUS_ENUM(name, text) name,
    SADDLE_STATUS_LIST(SADDLE_STATUS_ENUM)
#undef SADDLE_STATUS_ENUM
} saddle_status;

/** Where a failed call leaves its explanation. Owned by the caller; needs no clean-up. */
typedef struct saddle_error {
    saddle_status status; /**< The status that was returned. */
    char message[1024];   /**< One line, no newline: the value and the remedy. */
} saddle_error;

/** The text that goes with a status. Never NULL. */
SADDLE_API const char *saddle_status_text(saddle_status status);

/**
 * Record a failure and return its status, so that a function can `return saddle_fail(...)`.
 * @param error   receives the message; may be NULL.
 * @param status  what to return.
 * @param format  printf-like; one line that names the value and what would be right.
 */
SADDLE_API saddle_status saddle_fail(saddle_error *error, saddle_status status, const char *format,
                                     ...) SADDLE_PRINTF(3, 4);

/** The library's version, such as "0.2.0". */
SADDLE_API const char *saddle_version(void);

#ifdef __cplusplus
}
#endif
#endif
