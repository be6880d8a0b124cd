/* SPDX-License-Identifier: MIT */
#include "cli/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool cli_parse_number(const char *text, uint64_t *value)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 0);
    return errno == 0 && *end == 0;
}

bool cli_parse_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    unsigned shift = 0;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *bytes = strtoull(text, &end, 0);
    if (errno)
        return false;
    if (*end) {
        const char *unit = strchr(units, *end >= 'a' && *end <= 'z' ? *end - 'a' + 'A' : *end);

        if (!unit)
            return false;
        shift = 10u * (unsigned)(unit - units + 1);
        end++;
        if (end[0] == 'i')
            end++;
        if (end[0] == 'B')
            end++;
        if (*end)
            return false;
    }
    if (shift && *bytes >> (64 - shift))
        return false;
    *bytes <<= shift;
    return true;
}
