/* SPDX-License-Identifier: MIT */
/*
 * GUIDs. DEFINE_GUID declares one; in the source file that includes <initguid.h> first it also
 * defines it. The definition is weak, so that several files may do so.
 */
#ifndef GUID_DEFINED
#define GUID_DEFINED

typedef struct _GUID {
    unsigned int Data1;
    unsigned short Data2;
    unsigned short Data3;
    unsigned char Data4[8];
} GUID, *LPGUID, *PGUID;

typedef const GUID *LPCGUID;
typedef GUID IID, *LPIID, CLSID, *LPCLSID, FMTID, *LPFMTID;

#ifdef __cplusplus
#define REFGUID const GUID &
#define REFIID  const IID &
#else
#define REFGUID const GUID *
#define REFIID  const IID *
#endif

#ifdef __cplusplus
static inline bool IsEqualGUID(const GUID &left, const GUID &right)
{
    return __builtin_memcmp(&left, &right, sizeof(GUID)) == 0;
}

static inline bool operator==(const GUID &left, const GUID &right)
{
    return IsEqualGUID(left, right);
}

static inline bool operator!=(const GUID &left, const GUID &right)
{
    return !IsEqualGUID(left, right);
}
#else
#define IsEqualGUID(Left, Right) (!__builtin_memcmp(Left, Right, sizeof(GUID)))
#endif
#define IsEqualIID(Left, Right) IsEqualGUID(Left, Right)
#define InlineIsEqualGUID(Left, Right) IsEqualGUID(Left, Right)

#endif /* GUID_DEFINED */

/* Not under the guard: <initguid.h> may come after a first <guiddef.h>. */
#undef DXGK_DECLARE_GUID
#ifdef __cplusplus
#define DXGK_DECLARE_GUID(Name) extern "C" const GUID Name
#else
#define DXGK_DECLARE_GUID(Name) extern const GUID Name
#endif

#undef DEFINE_GUID
#ifdef INITGUID
#define DEFINE_GUID(Name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8)                               \
    DXGK_DECLARE_GUID(Name) __attribute__((weak));                                                 \
    const GUID Name = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}}
#else
#define DEFINE_GUID(Name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) DXGK_DECLARE_GUID(Name)
#endif
