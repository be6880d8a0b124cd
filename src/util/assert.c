/* SPDX-License-Identifier: MIT */
#include "util/assert.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void util_assert_failed(const char *file, unsigned line, const char *condition)
{
    fprintf(stderr, "dxgkhost: mistake of the host: %s:%u: %s does not hold\n", file, line,
            condition);
    abort();
}
