#include "core/base.h"

#ifndef SADDLE_VERSION
#error "SADDLE_VERSION comes from the build"
#endif

const char *saddle_status_text(saddle_status status)
{
    static const char *const text[] = {
#define SADDLE_STATUS_TEXT(name, words) [name] = (words),
        SADDLE_STATUS_LIST(SADDLE_STATUS_TEXT)
#undef SADDLE_STATUS_TEXT
    };
    size_t index = (size_t)status;
    return index < sizeof text / sizeof *text ? text[index] : "unknown status";
}

/* Formats one line. Names and values come from callers and files, and may contain newlines and escape
 * sequences, so control characters are shown as \x0a. */
SADDLE_PRINTF(3, 0)
static void format_line(char *out, size_t size, const char *format, va_list arguments)
{
    char text[2 * sizeof((saddle_error *)0)->message];
    saddle_vsnprintf(text, size < sizeof text ? size : sizeof text, format, arguments);
    saddle_show_text(out, size, text);
}

#undef saddle_fail
saddle_status saddle_fail(saddle_error *error, saddle_status status, const char *format, ...)
{
    if (error != NULL) {
        error->status = status;
        va_list arguments;
        va_start(arguments, format);
        format_line(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

void saddle_warn(saddle_warning *warning, void *context, const char *format, ...)
{
    char message[2 * sizeof((saddle_error *)0)->message];
    va_list arguments;
    if (warning == NULL)
        return;
    va_start(arguments, format);
    format_line(message, sizeof message, format, arguments);
    va_end(arguments);
    warning(context, message);
}

saddle_status saddle_require(saddle_error *error, const char *function, const char *names,
                             const void *const *pointer, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        size_t length = strcspn(names, ",");
        if (pointer[k] == NULL)
            return saddle_refuse(error, "%s: the argument %.*s is NULL; give it", function,
                                 (int)length, names);
        names += length + strspn(names + length, ", ");
    }
    return SADDLE_OK;
}

saddle_status saddle_pass_on(saddle_error *error, saddle_status status, const saddle_error *said,
                             const char *what, const char *name)
{
    if (status == SADDLE_OK)
        return SADDLE_OK;
    if (*said->message == '\0')
        return saddle_fail(error, status,
                           "%s %.300s refused without giving a reason; have it call saddle_fail()",
                           what, name);
    return saddle_fail(error, status, "%s", said->message);
}

saddle_status saddle_fail_at(saddle_error *error, const char *path, size_t line, size_t column,
                             const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    saddle_vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return saddle_refuse(error, "%.400s:%zu:%zu: %s", path, line, column, what);
}

/* Returns whether a message begins with its origin: "--x-set: ...", "SADDLE_MEMORY: ..." or "rows.csv:3:1: ...". */
static bool is_located(const char *message)
{
    size_t name =
        strspn(message, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-.");
    const char *colon = strstr(message, ": ");
    if (name > 0 && colon == message + name)
        return true;
    if (colon == NULL)
        return false;
    /* Two numbers, LINE:COLUMN, before the colon. */
    const char *at = colon;
    for (int k = 0; k < 2; k++) {
        const char *end = at;
        while (at > message && at[-1] >= '0' && at[-1] <= '9')
            at--;
        if (at == end || at == message || *--at != ':')
            return false;
    }
    return true;
}

saddle_status saddle_in_field(const char *what, saddle_status status, saddle_error *error)
{
    if (status == SADDLE_OK || status == SADDLE_NO_MEMORY || error == NULL ||
        is_located(error->message))
        return status;
    saddle_error said = *error;
    return saddle_fail(error, status, "%s: %.900s", what, said.message);
}

saddle_status saddle_check_abi(uint32_t abi, const char *type, saddle_error *error)
{
    if (abi == SADDLE_ABI)
        return SADDLE_OK;
    return saddle_refuse(error,
                         "%s has ABI number %u, but saddle %s expects %u; set .abi = SADDLE_ABI, "
                         "compiled with its headers",
                         type, (unsigned)abi, SADDLE_VERSION, SADDLE_ABI);
}

const char *saddle_version(void)
{
    return SADDLE_VERSION;
}
