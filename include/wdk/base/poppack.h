/* SPDX-License-Identifier: MIT */
/* Ends what the last <pshpackN.h> began. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpragma-pack"
#endif
#pragma pack(pop)
