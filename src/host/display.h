/* SPDX-License-Identifier: MIT */
/* Displays of adapters, for the files of this room that make calls about them. */
#ifndef DXGK_HOST_DISPLAY_H
#define DXGK_HOST_DISPLAY_H

#include <stddef.h>

#include <ntddk.h>

#include "dxgkhost/dxgkhost.h"

struct dxgk_display;
struct dxgk_picture;
struct modes;
struct port_adapter;
struct vidpn;

/* NULL: there are not so many. */
struct port_adapter *host_display_adapter(const struct dxgk_machine *machine, unsigned number);
/* Those of an adapter that shows something; NULL: with a reason. */
struct modes *host_display_modes(struct dxgk_machine *machine, unsigned adapter, unsigned source,
                                 char *error, size_t error_bytes);
/* What this VidPN says of a source; *display stays as it is if it has no path, or no mode. */
void host_display_describe(const struct modes *modes, const struct vidpn *vidpn, unsigned source,
                           struct dxgk_display *display);
/* capture.c: the screen of a source that the adapter has. */
enum dxgk_result host_display_capture(struct port_adapter *port, unsigned source,
                                      struct dxgk_picture *picture, char *error, size_t error_bytes);
/* What became of a task of the host, in words. */
enum dxgk_result host_display_result(enum dxgk_result result, NTSTATUS status, const char *what,
                                     const char *reason, char *error, size_t error_bytes);

#endif
