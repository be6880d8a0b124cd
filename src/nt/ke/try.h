/* SPDX-License-Identifier: MIT */
/*
 * Exception blocks of ELF drivers (<dxgk_seh.h>).
 */
#ifndef DXGK_NT_TRY_H
#define DXGK_NT_TRY_H

#include <ntddk.h>

/* An exception in the driver that runs: goes to its innermost block; returns if there is none
 * that it may reach from here. Any IRQL. */
void nt_try_raise(const EXCEPTION_RECORD *exception);

#endif
