/*
 * Correctly rounded conversion between numbers and text.
 *
 * When the digits form an integer w <= 2^53 and the decimal exponent is between -22 and 22, both w
 * and the power of ten are exact doubles, and w * 10^e or w / 10^e is rounded once, correctly
 * (Clinger, PLDI 1990). Everything else goes to the C library's exact conversion.
 */
#include "core/base.h"
#include "core/float_mode.h"

/* A number as digits * 10^exponent. */
struct decimal {
    uint64_t digits;
    int exponent;
    int kept;       /* significant digits in `digits` */
    bool seen;      /* whether there was any digit */
    bool truncated; /* more digits than `digits` can hold */
    bool negative;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits from `at` on. `step` is 1 after the decimal point, where each digit lowers the exponent. */
static const char *scan_digits(const char *at, const char *end, struct decimal *number, int step)
{
    for (; at < end && is_digit(*at); at++) {
        number->seen = true;
        if (number->kept == 19) {
            number->truncated = true;
            continue;
        }
        number->digits = number->digits * 10 + (uint64_t)(*at - '0');
        number->kept += number->digits != 0;
        number->exponent -= step;
        /* Leave a million zeros after the point to the exact conversion. */
        number->truncated |= number->exponent < -1000000;
    }
    return at;
}

static const char *scan_exponent(const char *at, const char *end, struct decimal *number)
{
    if (at == end || (*at != 'e' && *at != 'E'))
        return at;
    at++;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end || !is_digit(*at))
        return NULL;
    int exponent = 0;
    for (; at < end && is_digit(*at); at++)
        exponent = exponent < 1000000 ? exponent * 10 + (*at - '0') : exponent;
    number->exponent += negative ? -exponent : exponent;
    return at;
}

static const char *scan_decimal(const char *at, const char *end, struct decimal *number)
{
    memset(number, 0, sizeof *number);
    if (at < end && (*at == '-' || *at == '+')) {
        number->negative = *at == '-';
        at++;
    }
    at = scan_digits(at, end, number, 0);
    if (at < end && *at == '.')
        at = scan_digits(at + 1, end, number, 1);
    return number->seen ? scan_exponent(at, end, number) : NULL;
}

/* Converts with the C library in the C locale, whatever locale the program has set. */
static bool convert_exactly(const char *at, const char *stop, double *out)
{
    char local[128];
    size_t length = (size_t)(stop - at);
    char *text = length < sizeof local ? local : saddle_alloc(length + 1, 1);
    bool possible = text != NULL;
    if (text != NULL) {
        memcpy(text, at, length);
        text[length] = '\0';
        *out = strtod_l(text, NULL, saddle_c_locale());
    }
    if (text != local)
        saddle_free(text);
    return possible && isfinite(*out);
}

const char *saddle_scan_real(const char *at, const char *end, double *out)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    /* A single digit: nearly every value of one-hot data. */
    if (at < end && is_digit(*at) && (at + 1 == end || at[1] == ' ')) {
        *out = *at - '0';
        return at + 1;
    }
    struct decimal number;
    const char *stop = scan_decimal(at, end, &number);
    if (stop == NULL)
        return NULL;
    if (number.truncated || number.digits > UINT64_C(1) << 53 || number.exponent > 22 ||
        number.exponent < -22)
        return convert_exactly(at, stop, out) ? stop : NULL;
    double value = (double)number.digits;
    if (number.exponent < 0)
        value /= power[-number.exponent];
    else
        value *= power[number.exponent];
    *out = number.negative ? -value : value;
    return stop;
}

bool saddle_parse_real(const char *text, double *out)
{
    SADDLE_STANDARD_FLOATS;
    double value;
    const char *end = text != NULL ? text + strlen(text) : NULL;
    if (text == NULL || saddle_scan_real(text, end, &value) != end)
        return false;
    *out = value;
    return true;
}

bool saddle_parse_integer(const char *text, uint64_t *out)
{
    SADDLE_STANDARD_FLOATS;
    if (text == NULL || *text == '\0')
        return false;
    if (text[strspn(text, "0123456789")] == '\0') {
        errno = 0;
        unsigned long long value = strtoull(text, NULL, 10);
        if (errno == 0)
            *out = value;
        return errno == 0;
    }
    double real;
    if (!saddle_parse_real(text, &real) || real < 0.0 || real > 0x1p53 || real != floor(real))
        return false;
    *out = (uint64_t)real;
    return true;
}

const char *saddle_print_real(double value, int digits, char out[SADDLE_REAL_SIZE])
{
    SADDLE_STANDARD_FLOATS;
    double back = 0.0;
    digits = digits < 1 ? 1 : digits > 17 ? 17 : digits;
    do
        saddle_snprintf(out, SADDLE_REAL_SIZE, "%.*g", digits++, value);
    while (digits <= 17 &&
           !(saddle_scan_real(out, out + strlen(out), &back) != NULL && back == value));
    return out;
}
