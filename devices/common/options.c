/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse(const char *text, const struct option_number *number)
{
    uint64_t value;
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    value = strtoull(text, &end, 0);
    if (errno || *end || value < number->least || value > number->most)
        return false;
    *number->value = value;
    return true;
}

const char *options_text(const struct dxgk_device_config *config, const char *key, size_t index)
{
    const size_t length = strlen(key);

    for (size_t i = 0; i < config->count; i++) {
        const char *option = config->option[i];

        if (strncmp(option, key, length) == 0 && option[length] == '=' && index-- == 0)
            return option + length + 1;
    }
    return NULL;
}

const char *options_read(const struct dxgk_device_config *config,
                         const struct option_number *numbers, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        const char *text;

        for (size_t i = 0; (text = options_text(config, numbers[n].key, i)) != NULL; i++)
            if (!parse(text, &numbers[n]))
                return numbers[n].error;
    }
    return NULL;
}
