/* The rule for redirects, apart so that it can be tested without a TLS server. */
#ifndef SADDLE_DATA_FETCH_H
#define SADDLE_DATA_FETCH_H

#include <stdbool.h>

/* Whether a download from one address may go on at another: http and https only, and not from
 * https down to http. */
bool saddle_redirect_allowed(const char *from, const char *to);

#endif
