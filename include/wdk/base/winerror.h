/* SPDX-License-Identifier: MIT */
/* Result codes of COM and Win32, as far as kernel halves of drivers use them. */
#ifndef DXGK_WDK_WINERROR_H
#define DXGK_WDK_WINERROR_H

#include <ntdef.h>

#define SUCCEEDED(Result) ((HRESULT)(Result) >= 0)
#define FAILED(Result)    ((HRESULT)(Result) < 0)

#define S_OK           ((HRESULT)0)
#define S_FALSE        ((HRESULT)1)
#define E_NOTIMPL      ((HRESULT)0x80004001)
#define E_NOINTERFACE  ((HRESULT)0x80004002)
#define E_POINTER      ((HRESULT)0x80004003)
#define E_ABORT        ((HRESULT)0x80004004)
#define E_FAIL         ((HRESULT)0x80004005)
#define E_UNEXPECTED   ((HRESULT)0x8000FFFF)
#define E_ACCESSDENIED ((HRESULT)0x80070005)
#define E_HANDLE       ((HRESULT)0x80070006)
#define E_OUTOFMEMORY  ((HRESULT)0x8007000E)
#define E_INVALIDARG   ((HRESULT)0x80070057)

#ifndef NO_ERROR
#define NO_ERROR 0L
#endif
#define ERROR_SUCCESS             0L
#define ERROR_INVALID_FUNCTION    1L
#define ERROR_NOT_ENOUGH_MEMORY   8L
#define ERROR_GEN_FAILURE         31L
#define ERROR_DEV_NOT_EXIST       55L
#define ERROR_INVALID_PARAMETER   87L
#define ERROR_INSUFFICIENT_BUFFER 122L
#define ERROR_MORE_DATA           234L
#define ERROR_IO_PENDING          997L

#endif /* DXGK_WDK_WINERROR_H */
