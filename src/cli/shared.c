/* SPDX-License-Identifier: MIT */
#include "cli/shared.h"

#include <stdio.h>

void cli_clear_line(struct cli_shared *shared)
{
    if (shared && atomic_exchange(&shared->line, false))
        fputs("\r\033[K", stderr);
}
