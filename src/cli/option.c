/* SPDX-License-Identifier: MIT */
#include "cli/option.h"

#include <string.h>

#include "cli/number.h"

const struct cli_option *cli_option_find(const struct cli_option *table, size_t count,
                                         const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, table[i].name) == 0)
            return &table[i];
    return NULL;
}

bool cli_option_store(const struct cli_option *option, void *options, const char *value)
{
    void *member = (char *)options + option->member;
    uint64_t number;

    switch (option->kind) {
    case CLI_KIND_SWITCH:
        *(bool *)member = true;
        return true;
    case CLI_KIND_PATH:
        *(const char **)member = value;
        return *value != '\0';
    case CLI_KIND_NUMBER:
        if (!cli_parse_number(value, &number) || number < option->least || number > option->most)
            return false;
        *(uint64_t *)member = number;
        return true;
    default:
        return false;
    }
}
