/* SPDX-License-Identifier: MIT */
/* Sources that include <ntifs.h> in place of <ntddk.h> get the same declarations. */
#ifndef _NTIFS_
#define _NTIFS_

#include <ntddk.h>

#endif /* _NTIFS_ */
