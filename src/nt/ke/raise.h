/* SPDX-License-Identifier: MIT */
/*
 * Structured exceptions that a kernel service raises in its caller.
 */
#ifndef DXGK_NT_RAISE_H
#define DXGK_NT_RAISE_H

#include <ntddk.h>

/* Returns only if the exception is not handled and the severity of the bug check was lowered. */
void nt_raise(NTSTATUS status, const char *rule, const char *routine);

/* The C++ runtime's routine for a pure virtual function; does not return. */
int NTAPI _purecall(void);

#endif
