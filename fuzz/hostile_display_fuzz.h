/* SPDX-License-Identifier: MIT */
/* What the files of hostile_display_fuzz.c have in common. */
#ifndef DXGK_FUZZ_HOSTILE_DISPLAY_H
#define DXGK_FUZZ_HOSTILE_DISPLAY_H

#include "submission_rig.h"

#include "port/support/full_display.h"

/* One call in so many goes wrong, as the input says; none once it has ended. */
bool display_goes_wrong(void);
NTSTATUS display_any_status(void);
/* A number near what is there, or any. */
uint64_t display_changed(uint64_t value, unsigned bytes);
/* One word of a structure. */
void display_spoil(void *structure, size_t bytes);
UINT display_any_target(void);

/* hostile_display_fuzz_calls.c: calls of the interfaces of VidPNs and monitors, with this VidPN and
 * whatever was handed out before. */
void display_calls(D3DKMDT_HVIDPN vidpn);
void display_calls_begin(void);
void display_call_monitor(void);

/* hostile_display_fuzz_driver.c: its answers. */
void display_driver(struct probe *p, bool is_full);
/* It tells something of its own accord. */
void display_tell(void);

/* hostile_display_fuzz_client.c: what is asked of it. */
void display_client(struct probe *p);

#endif
