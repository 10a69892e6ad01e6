/* What all files use: the C library's common headers, statuses, memory, text and printing. Headers include it, and
 * files have it from them. */
#pragma once

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/print.h"
#include "core/status.h"
#include "core/text.h"
