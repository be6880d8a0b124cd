/* SPDX-License-Identifier: MIT */
/*
 * Lines of a report of which thread waits for what. Objects are numbered in order of appearance,
 * since addresses differ from run to run.
 */
#ifndef DXGK_NT_WAIT_REPORT_H
#define DXGK_NT_WAIT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NT_WAIT_REPORT_DEPTH   48u /* the most return addresses that are examined */
#define NT_WAIT_REPORT_OBJECTS 64u

struct nt_wait_report {
    const void *object[NT_WAIT_REPORT_OBJECTS];
    unsigned objects;
};

void nt_wait_report_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
unsigned nt_wait_report_number(struct nt_wait_report *report, const volatile void *object);
/* Such as "refgpu.so!wait+0x10 < refgpu.so!StopDevice+0x52"; false: no driver is on the stack. */
bool nt_wait_report_stack(const uintptr_t *pc, size_t count, char *text, size_t bytes);

#endif
