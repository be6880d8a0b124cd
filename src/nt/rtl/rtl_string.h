/* SPDX-License-Identifier: MIT */
/*
 * Text of 16-bit characters, for services that take it.
 */
#ifndef DXGK_NT_RTL_STRING_H
#define DXGK_NT_RTL_STRING_H

#include <stdbool.h>
#include <stddef.h>

#include <ntddk.h>

WCHAR nt_string_upcase(WCHAR c);
size_t nt_string_length(const WCHAR *text);
int nt_string_compare(PCUNICODE_STRING a, PCUNICODE_STRING b, bool ignore_case);

#endif
