/* SPDX-License-Identifier: MIT */
/* What sources of miniports find in GDI's header: the descriptions of bitmaps and colours. Kernel mode calls none of GDI. */
#ifndef DXGK_WDK_WINGDI_H
#define DXGK_WDK_WINGDI_H

#include <windef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BI_RGB       0
#define BI_RLE8      1
#define BI_RLE4      2
#define BI_BITFIELDS 3

#define RGB(Red, Green, Blue) \
    ((COLORREF)((BYTE)(Red) | ((DWORD)(BYTE)(Green) << 8) | ((DWORD)(BYTE)(Blue) << 16)))

typedef struct tagRGBQUAD {
    BYTE rgbBlue;
    BYTE rgbGreen;
    BYTE rgbRed;
    BYTE rgbReserved;
} RGBQUAD;

typedef struct tagBITMAPINFOHEADER {
    DWORD biSize;
    LONG biWidth;
    LONG biHeight;
    WORD biPlanes;
    WORD biBitCount;
    DWORD biCompression;
    DWORD biSizeImage;
    LONG biXPelsPerMeter;
    LONG biYPelsPerMeter;
    DWORD biClrUsed;
    DWORD biClrImportant;
} BITMAPINFOHEADER, *PBITMAPINFOHEADER;

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WINGDI_H */
