/* SPDX-License-Identifier: MIT */
#include "cli/argument.h"

#include <string.h>

const char *cli_argument(const char *argument, char name[CLI_NAME_BYTES])
{
    const char *equals = strncmp(argument, "--", 2) == 0 ? strchr(argument, '=') : NULL;
    size_t length = equals ? (size_t)(equals - argument) : strlen(argument);

    if (length >= CLI_NAME_BYTES) { /* no option */
        length = CLI_NAME_BYTES - 1;
        equals = NULL;
    }
    memcpy(name, argument, length);
    name[length] = '\0';
    return equals ? equals + 1 : NULL;
}
