/* SPDX-License-Identifier: MIT */
/* A shared object that is no driver. */
#include <ntddk.h>

DECLSPEC_EXPORT NTSTATUS NTAPI SomethingElse(void);

DECLSPEC_EXPORT NTSTATUS NTAPI SomethingElse(void)
{
    return STATUS_SUCCESS;
}
