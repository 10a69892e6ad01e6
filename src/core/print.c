#include <pthread.h>

#include "core/base.h"

static locale_t c_locale;

static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t saddle_c_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_locale);
    return c_locale;
}

int saddle_vsnprintf(char *out, size_t size, const char *format, va_list arguments)
{
    locale_t before = uselocale(saddle_c_locale());
    int length = vsnprintf(out, size, format, arguments);
    uselocale(before);
    return length;
}

int saddle_snprintf(char *out, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = saddle_vsnprintf(out, size, format, arguments);
    va_end(arguments);
    return length;
}

int saddle_fprintf(FILE *stream, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    locale_t before = uselocale(saddle_c_locale());
    int length = vfprintf(stream, format, arguments);
    uselocale(before);
    va_end(arguments);
    return length;
}

int saddle_vasprintf(char **out, const char *format, va_list arguments)
{
    locale_t before = uselocale(saddle_c_locale());
    int length = vasprintf(out, format, arguments);
    uselocale(before);
    return length;
}

int saddle_asprintf(char **out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = saddle_vasprintf(out, format, arguments);
    va_end(arguments);
    return length;
}
