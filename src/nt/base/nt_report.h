/* SPDX-License-Identifier: MIT */
/*
 * Reports of rules that Driver Verifier enforces on Windows, with its codes.
 */
#ifndef DXGK_NT_REPORT_H
#define DXGK_NT_REPORT_H

#include "verify/verify.h"

#define DRIVER_VERIFIER 0xC4u
/* Report a broken rule that Driver Verifier has a code for: 0xC4 with `sub` as first parameter
 * (NT-001). Execution continues. */
#define NT_VERIFIER(rule, sub, p2, p3, p4, ...) \
    verify_report_code(rule, DRIVER_VERIFIER, sub, p2, p3, p4, __VA_ARGS__)

#endif
