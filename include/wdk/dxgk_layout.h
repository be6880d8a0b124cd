/* SPDX-License-Identifier: MIT */
/*
 * DXGK_MS_STRUCT marks every record that holds bit-fields: they are laid out by the rules of the
 * Microsoft compilers, in which a bit-field never shares a storage unit with one of another size.
 * Compilers for Windows do so unasked.
 */
#ifndef DXGK_WDK_LAYOUT_H
#define DXGK_WDK_LAYOUT_H

#if defined(_WIN32)
#define DXGK_MS_STRUCT
#else
#define DXGK_MS_STRUCT __attribute__((ms_struct))
#endif

#endif /* DXGK_WDK_LAYOUT_H */
