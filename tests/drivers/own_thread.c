/* SPDX-License-Identifier: MIT */
/* The example driver, which starts a thread of the host's process past the kernel services, and leaves it behind. */
#include <ntddk.h>

#include "../../examples/blitter/blitter.h"

static NTSTATUS NTAPI OwnInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                    DRIVER_INITIALIZATION_DATA *Data);

#define DxgkInitialize OwnInitialize
#include "../../examples/blitter/adapter.c"
#undef DxgkInitialize
#include "../../examples/blitter/memory.c"
#include "../../examples/blitter/work.c"

/* As the C library has them; its headers do not go with these. */
int pthread_create(unsigned long *thread, const void *attributes, void *(*routine)(void *),
                   void *argument);
int pthread_setname_np(unsigned long thread, const char *name);
int pause(void);

static void *Wait(void *argument)
{
    for (;;)
        pause();
    return argument;
}

static NTSTATUS NTAPI OwnInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                    DRIVER_INITIALIZATION_DATA *Data)
{
    unsigned long thread;

    if (pthread_create(&thread, NULL, Wait, NULL) == 0)
        pthread_setname_np(thread, "own worker");
    return DxgkInitialize(DriverObject, RegistryPath, Data);
}
