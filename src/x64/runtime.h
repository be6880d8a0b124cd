/* SPDX-License-Identifier: MIT */
/* What compilers call in images without being asked: routines that the kernel exports for them,
 * with calling conventions of their own. The loader offers them beside those of nt. */
#ifndef DXGK_X64_RUNTIME_H
#define DXGK_X64_RUNTIME_H

/* By the name that an image imports; NULL: not one of these. */
void *x64_runtime_find(const char *name);

#endif
