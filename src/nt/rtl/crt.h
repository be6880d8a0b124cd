/* SPDX-License-Identifier: MIT */
/* C run-time functions that ntoskrnl exports, for PE images: Microsoft calling convention, 16-bit
 * wide characters. */
#ifndef DXGK_NT_CRT_H
#define DXGK_NT_CRT_H

struct nt_crt_routine {
    const char *name;
    void *address;
};

/* By name; NULL: not one of these. */
void *nt_crt_find(const char *name);

#endif
