/* SPDX-License-Identifier: MIT */
/* News of a machine, for the log of who made it. */
#ifndef DXGK_HOST_LOG_H
#define DXGK_HOST_LOG_H

struct dxgk_machine;

/* A line, of at most 1023 bytes; nothing if nobody asked for a log. */
void host_log(struct dxgk_machine *machine, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A line of the description of a driver. */
void host_inspect_say(const struct dxgk_machine *machine, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
