/* SPDX-License-Identifier: MIT */
/* Routines that compilers call implicitly: the kernel exports them for images, with special calling
 * conventions. The loader offers them in addition to those of nt. */
#ifndef DXGK_X64_RUNTIME_H
#define DXGK_X64_RUNTIME_H

/* Finds one by the name that an image imports; NULL: not one of these. */
void *x64_runtime_find(const char *name);

#endif
