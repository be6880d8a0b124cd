/* SPDX-License-Identifier: MIT */
#include "cli/source_page.h"

#include <stdio.h>
#include <string.h>

#define DRIVERS    "https://learn.microsoft.com/windows-hardware/drivers"
#define SEPARATORS ";, "

/* "ns-", a header, "-" and a name, for a structure: the page is in the folder of its header. */
static bool of_header(const char *name, size_t length, size_t *header)
{
    static const char kinds[] = "acefs";
    size_t dash = 3;

    if (length < 8 || name[0] != 'n' || !strchr(kinds, name[1]) || name[2] != '-')
        return false;
    while (dash < length && name[dash] != '-')
        dash++;
    *header = dash - 3;
    return dash < length;
}

bool cli_source_page(const char *name, size_t length, char *address, size_t bytes)
{
    size_t header;

    if (length < 4 || strncmp(name + length - 3, ".md", 3) != 0)
        return false;
    length -= 3;
    for (size_t i = 0; i < length; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_-", name[i]))
            return false;
    if (of_header(name, length, &header))
        snprintf(address, bytes, DRIVERS "/ddi/%.*s/%.*s", (int)header, name + 3, (int)length, name);
    else if (strncmp(name, "bug-check-0x", 12) == 0)
        snprintf(address, bytes, DRIVERS "/debugger/%.*s", (int)length, name);
    else
        return false;
    return true;
}

const char *cli_source_next(const char **text, size_t *length)
{
    const char *name = *text + strspn(*text, SEPARATORS);

    *length = strcspn(name, SEPARATORS);
    *text = name + *length;
    return *length ? name : NULL;
}
