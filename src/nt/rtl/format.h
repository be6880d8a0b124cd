/* SPDX-License-Identifier: MIT */
/* The kernel's printf. */
#ifndef DXGK_NT_FORMAT_H
#define DXGK_NT_FORMAT_H

#include <ntddk.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Destination of formatted text: characters up to the capacity are stored, all are counted. */
struct nt_text {
    void *buffer;
    size_t capacity; /* characters */
    size_t length;
    bool wide;       /* 16-bit characters */
    bool used_wide;  /* there was a conversion that needs PASSIVE_LEVEL (%S, %ws, %wZ, ...) */
    bool used_float; /* there was a floating-point conversion, for which nothing is printed */
};

/* `format` has 8-bit or 16-bit characters, as text->wide says. The buffer is not terminated. */
void nt_format(struct nt_text *text, const void *format, __builtin_ms_va_list arguments);

#endif
