/* SPDX-License-Identifier: MIT */
/* The Win32 spellings of the basic types, and the few GDI structures that display drivers meet. */
#ifndef DXGK_WDK_WINDEF_H
#define DXGK_WDK_WINDEF_H

#include <ntdef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int BOOL, *PBOOL, *LPBOOL;
typedef unsigned char BYTE, *PBYTE, *LPBYTE;
typedef unsigned short WORD, *PWORD, *LPWORD;
typedef ULONG DWORD, *PDWORD, *LPDWORD;
typedef void *LPVOID;
typedef const void *LPCVOID;
typedef LONG *LPLONG;
typedef DWORD COLORREF, *LPCOLORREF;
typedef UINT_PTR WPARAM;
typedef LONG_PTR LPARAM, LRESULT;

#ifndef MAX_PATH
#define MAX_PATH 260
#endif

#define LOBYTE(Word)        ((BYTE)((ULONG_PTR)(Word) & 0xFF))
#define HIBYTE(Word)        ((BYTE)(((ULONG_PTR)(Word) >> 8) & 0xFF))
#define LOWORD(Long)        ((WORD)((ULONG_PTR)(Long) & 0xFFFF))
#define HIWORD(Long)        ((WORD)(((ULONG_PTR)(Long) >> 16) & 0xFFFF))
#define MAKEWORD(Low, High) ((WORD)((BYTE)(Low) | ((WORD)(BYTE)(High) << 8)))
#define MAKELONG(Low, High) ((LONG)((WORD)(Low) | ((DWORD)(WORD)(High) << 16)))

#define Int32x32To64(Left, Right)  ((LONGLONG)(LONG)(Left) * (LONGLONG)(LONG)(Right))
#define UInt32x32To64(Left, Right) ((ULONGLONG)(ULONG)(Left) * (ULONGLONG)(ULONG)(Right))

#define DECLARE_HANDLE(Name)                                                                       \
    struct Name##__ {                                                                              \
        int unused;                                                                                \
    };                                                                                             \
    typedef struct Name##__ *Name

DECLARE_HANDLE(HWND);
DECLARE_HANDLE(HDC);
DECLARE_HANDLE(HINSTANCE);
typedef HINSTANCE HMODULE;

typedef struct tagPOINT {
    LONG x;
    LONG y;
} POINT, *PPOINT, *LPPOINT;

typedef struct _POINTL {
    LONG x;
    LONG y;
} POINTL, *PPOINTL;

typedef struct tagSIZE {
    LONG cx;
    LONG cy;
} SIZE, *PSIZE, *LPSIZE;

typedef SIZE SIZEL, *PSIZEL, *LPSIZEL;

typedef struct tagRECT {
    LONG left;
    LONG top;
    LONG right;
    LONG bottom;
} RECT, *PRECT, *LPRECT;

typedef const RECT *LPCRECT;

typedef struct _RECTL {
    LONG left;
    LONG top;
    LONG right;
    LONG bottom;
} RECTL, *PRECTL, *LPRECTL;

typedef struct tagPALETTEENTRY {
    BYTE peRed;
    BYTE peGreen;
    BYTE peBlue;
    BYTE peFlags;
} PALETTEENTRY, *PPALETTEENTRY, *LPPALETTEENTRY;

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WINDEF_H */
