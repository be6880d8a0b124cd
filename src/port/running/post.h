/* SPDX-License-Identifier: MIT */
/* The firmware frame buffer, and who owns the screen that it shows (PRES-002 to PRES-021). */
#ifndef DXGK_PORT_POST_H
#define DXGK_PORT_POST_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

struct bus_device;
struct port;
struct port_adapter;
struct port_firmware_display;

/* Before AddDevice: if the adapter is the POST device, its frame buffer is found a place, and
 * filled with the colour that stands for a picture of the firmware. */
NTSTATUS port_post_prepare(struct port_adapter *adapter);
void port_post_forget(struct port_adapter *adapter);
void port_post_finish(struct port *port);
/* What firmware has lit on one device of the machine, before its adapter is added; NULL: on that of
 * PRES-003. Without it, all of PRES-003 holds. */
NTSTATUS port_post_configure(struct port *port, const struct bus_device *device,
                             const struct port_firmware_display *display);
/* The adapter is about to enter D0 again. */
void port_post_woke(struct port_adapter *adapter, bool hibernated);
/* The driver is stopped to be started again (PRES-258): it finds the frame buffer as it was
 * described, with what is in it unknown. */
void port_post_restarting(struct port_adapter *adapter);
/* DxgkDdiStartDevice has failed (PRES-024, PRES-025). */
void port_post_start_failed(const struct port_adapter *adapter, NTSTATUS status);

/* DxgkCbAcquirePostDisplayOwnership and its second version: what the driver gets. */
NTSTATUS port_post_acquire(struct port_adapter *adapter, DXGK_DISPLAY_INFORMATION *info,
                           DXGK_DISPLAY_OWNERSHIP_FLAGS *flags);

/* Will the adapter be stopped by StopDeviceAndReleasePostDisplayOwnership (PRES-027, PRES-029)? */
bool port_post_is_released(const struct port_adapter *adapter);
/* Do so. False: it was not, or has failed, and StopDevice is due. */
bool port_post_release(struct port_adapter *adapter);

/* Does the range lie in the frame buffer, and that in RAM (PRES-004)? */
bool port_post_is_in_ram(const struct port_adapter *adapter, uint64_t start, uint64_t bytes);
/* Somebody looks at the screen, and no source has been visible since the start: is it black
 * (PRES-022, PRES-023)? */
void port_post_look(struct port_adapter *adapter);
/* The picture that nobody owns any more, after a start that failed or a driver that has gone; NULL:
 * there is none. */
const uint8_t *port_post_left(const struct port *port, DXGK_DISPLAY_INFORMATION *info);
/* A source has been made invisible: is it black again (PRES-337)? */
void port_post_look_hidden(struct port_adapter *adapter);
/* The bytes of the frame buffer; NULL: the adapter has none. */
const uint8_t *port_post_pixels(const struct port_adapter *adapter);

#endif
