/* SPDX-License-Identifier: MIT */
/*
 * The types of GDI's driver interface that sources of WDDM miniports meet. Such a miniport serves none of that interface: its
 * sources include this header by habit, so that the functions of the graphics engine and DirectDraw's structures, for which
 * Windows' header needs others, are left out.
 */
#ifndef DXGK_WDK_WINDDI_H
#define DXGK_WDK_WINDDI_H

#include "dxgk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef LONG FIX, *PFIX;
typedef FLOAT FLOATL;
typedef ULONG ROP4, MIX;

typedef struct _POINTFIX {
    FIX x;
    FIX y;
} POINTFIX, *PPOINTFIX;

typedef struct _RECTFX {
    FIX xLeft;
    FIX yTop;
    FIX xRight;
    FIX yBottom;
} RECTFX, *PRECTFX;

DECLARE_HANDLE(HDEV);
DECLARE_HANDLE(HSURF);
DECLARE_HANDLE(DHPDEV);
DECLARE_HANDLE(DHSURF);

/* Formats of bitmaps: bits of a pixel, and run lengths of 4 and 8 bits. */
#define BMF_1BPP  1
#define BMF_4BPP  2
#define BMF_8BPP  3
#define BMF_16BPP 4
#define BMF_24BPP 5
#define BMF_32BPP 6
#define BMF_4RLE  7
#define BMF_8RLE  8

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WINDDI_H */
