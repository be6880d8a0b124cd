/* SPDX-License-Identifier: MIT */
#include "cli/duration.h"

#include "util/array.h"

#include <stddef.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Nanoseconds of a unit; 0: there is no such unit. */
static uint64_t unit_of(const char *text)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {
        {"", 1000000000u}, {"s", 1000000000u},    {"ms", 1000000u},        {"us", 1000u},
        {"ns", 1u},        {"m", 60000000000ull}, {"h", 3600000000000ull},
    };

    for (size_t i = 0; i < ARRAY_COUNT(units); i++)
        if (strcmp(text, units[i].name) == 0)
            return units[i].ns;
    return 0;
}

bool cli_parse_duration(const char *text, uint64_t *ns)
{
    size_t whole = 0, digits;
    uint64_t unit, total = 0, part;

    while (is_digit(text[whole]))
        whole++;
    digits = whole;
    if (text[digits] == '.')
        do
            digits++;
        while (is_digit(text[digits]));
    unit = unit_of(text + digits);
    if (whole == 0 || unit == 0 || (digits > whole && digits == whole + 1))
        return false;
    for (size_t i = 0; i < whole; i++) {
        if (total > (UINT64_MAX / unit - (uint64_t)(text[i] - '0')) / 10)
            return false;
        total = total * 10 + (uint64_t)(text[i] - '0');
    }
    total *= unit;
    part = unit;
    for (size_t i = whole + 1; i < digits; i++) {
        uint64_t more = (part /= 10) * (uint64_t)(text[i] - '0');

        if (more > UINT64_MAX - total)
            return false;
        total += more;
    }
    *ns = total;
    return true;
}
