/* SPDX-License-Identifier: MIT */
/* Include before a header that names GUIDs, in the one source file that is to define them. */
#ifndef INITGUID
#define INITGUID
#endif

#include <guiddef.h>
