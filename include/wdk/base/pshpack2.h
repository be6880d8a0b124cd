/* SPDX-License-Identifier: MIT */
/* Packs the records that follow to 2 bytes, until <poppack.h>; may be included more than once. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpragma-pack"
#endif
#pragma pack(push, 2)
