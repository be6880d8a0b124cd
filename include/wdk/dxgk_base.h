/* SPDX-License-Identifier: MIT */
/*
 * What the display headers take from their surroundings: the basic Windows types, and the way to
 * lay out bit-fields. Used by the headers that serve user mode and kernel mode alike.
 *
 * On ELF targets everything comes from include/wdk/base. With mingw-w64 it comes from the
 * toolchain: <ntddk.h> if the including source has it already, <windows.h> otherwise.
 */
#ifndef DXGK_WDK_BASE_H
#define DXGK_WDK_BASE_H

#include "dxgk_layout.h"

#if !defined(_WIN32)
#include <ntdef.h>
#include <windef.h>
#include <wdm/power.h>
#elif !defined(_NTDDK_) && !defined(_WDMDDK_) && !defined(_NTIFS_)
#include <windows.h>
#include <ntdef.h>
#else
#include <windef.h>
typedef struct tagPALETTEENTRY PALETTEENTRY;
#endif

#include <guiddef.h>

/* Annotations of the display interface itself (sal.h may be the toolchain's): they mean nothing here. */
#ifndef _Function_class_DXGK_
#define _Function_class_DXGK_(Name)
#define _IRQL_requires_DXGK_(Level)
#define _IRQL_requires_max_DXGK_(Level)
#define _IRQL_requires_min_DXGK_(Level)
#endif

#endif /* DXGK_WDK_BASE_H */
