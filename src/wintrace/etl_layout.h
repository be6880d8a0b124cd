/* SPDX-License-Identifier: MIT */
/* Numbers of the file format that reading and writing share; etl.c describes it. */
#ifndef DXGK_WINTRACE_ETL_LAYOUT_H
#define DXGK_WINTRACE_ETL_LAYOUT_H

#include <stdint.h>

#define BUFFER_HEADER    72u
#define EVENT_HEADER     80u
#define SYSTEM_HEADER    32u
#define HEADER_SYSTEM_64 0x02u
#define HEADER_EVENT_64  0x13u
#define MARKER           0xC0u /* of every header, in its fourth byte */
#define CLOCK_QPC        1u

/* The description of the recording: what is before its two pointers, and behind them. */
#define FIXED_BYTES 56u
#define ZONE_BYTES  172u

/* {802EC45A-1E99-4B83-9920-87C98277BA9D} */
static const uint8_t etl_dxgkrnl[16] = {0x5A, 0xC4, 0x2E, 0x80, 0x99, 0x1E, 0x83, 0x4B,
                                        0x99, 0x20, 0x87, 0xC9, 0x82, 0x77, 0xBA, 0x9D};

#endif
