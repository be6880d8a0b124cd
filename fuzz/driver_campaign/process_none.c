/* SPDX-License-Identifier: MIT */
/* A Windows image cannot reach the process of its host. */
#include "acts.h"

BOOLEAN acts_do_process(ULONG act, ULONG seed)
{
    UNREFERENCED_PARAMETER(act);
    UNREFERENCED_PARAMETER(seed);
    return FALSE;
}
