/**
 * @file status.h
 * @brief Status codes and error messages.
 *
 * Every function that can fail returns a ::saddle_status. Its last argument is a ::saddle_error,
 * which receives one line that names the offending value and the remedy; it may always be NULL. Any
 * other argument that is NULL where its description does not allow NULL is an error that names the
 * argument. Functions that return no status, such as saddle_set_project(), do not check their
 * arguments. The library never prints, never exits and keeps no global state.
 */
#ifndef SADDLE_STATUS_H
#define SADDLE_STATUS_H

#include <stddef.h>

/**
 * The version of the structs in these headers. It increases whenever a struct that callers or
 * plug-ins fill in changes. Plans, plug-ins and option structs record it, so that a library of
 * another version rejects them with an error message.
 */
#define SADDLE_ABI 12u

#ifdef __cplusplus
/** Declares a function or constant of C. */
#define SADDLE_EXTERN extern "C"
#else
#define SADDLE_EXTERN extern
#endif
/** Declares what the shared library exports. Everything else is hidden. */
#define SADDLE_API SADDLE_EXTERN __attribute__((visibility("default")))

#if defined(__GNUC__)
/** Lets the compiler check the arguments of a printf-like function. */
#define SADDLE_PRINTF(format_index, first_argument) \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define SADDLE_PRINTF(format_index, first_argument)
#endif

/** The list from which both the enum and the status texts are made. */
#define SADDLE_STATUS_LIST(X)                                                \
    X(SADDLE_OK, "success")                                                  \
    X(SADDLE_BAD_INPUT, "wrong option, file, number, graph or size")         \
    X(SADDLE_NO_MEMORY, "out of memory")                                     \
    X(SADDLE_IO, "could not read or write")                                  \
    X(SADDLE_NUMERIC, "a numerical method failed")                           \
    X(SADDLE_CHECK_FAILED, "a self-check found the computation to be wrong") \
    X(SADDLE_UNSUPPORTED, "not available in this build or for this combination")

/** Whether a call succeeded. The reason why a run ended is a ::saddle_stop. */
typedef enum saddle_status {
#define SADDLE_STATUS_ENUM(name, text) name,
    SADDLE_STATUS_LIST(SADDLE_STATUS_ENUM)
#undef SADDLE_STATUS_ENUM
} saddle_status;

/** The explanation of a failed call. Owned by the caller; needs no clean-up. */
typedef struct saddle_error {
    saddle_status status; /**< The status that was returned. */
    char message[1024];   /**< One line: the value and the remedy. Options have their dashes. */
} saddle_error;

/** Returns the text of a status. Never NULL. */
SADDLE_API const char *saddle_status_text(saddle_status status);

/**
 * Records a failure and returns its status, so that a function can `return saddle_fail(...)`.
 * @param error   receives the message; may be NULL.
 * @param status  the status to return.
 * @param format  printf-like; one line that names the value and the remedy.
 */
SADDLE_API saddle_status saddle_fail(saddle_error *error, saddle_status status, const char *format,
                                     ...) SADDLE_PRINTF(3, 4);

/** Returns the version of the library, such as "0.2.0". */
SADDLE_API const char *saddle_version(void);

#endif
