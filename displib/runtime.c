/* SPDX-License-Identifier: MIT */
/*
 * What compilers ask of a runtime library, for drivers that link none: a pure virtual function of C++ under gcc's name, which
 * the kernel has under Microsoft's, and the mark that a source uses floating point.
 */
#include <ntddk.h>

NTSYSAPI int __cdecl _purecall(void);
void __cxa_pure_virtual(void);

void __cxa_pure_virtual(void)
{
    _purecall();
}

int _fltused = 0;
