/* SPDX-License-Identifier: MIT */
/*
 * The number of elements of an array.
 */
#ifndef DXGK_NT_ITEMS_H
#define DXGK_NT_ITEMS_H

#define NT_ITEMS(array) (sizeof(array) / sizeof((array)[0]))

#endif
