/* SPDX-License-Identifier: MIT */
/*
 * Exception blocks of ELF drivers (<dxgk_seh.h>).
 */
#ifndef DXGK_NT_TRY_H
#define DXGK_NT_TRY_H

#include <ntddk.h>

/* An exception in the current driver: continues at its innermost block; returns if none can be
 * reached from here. Any IRQL. */
void nt_try_raise(const EXCEPTION_RECORD *exception);

#endif
