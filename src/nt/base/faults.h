/* SPDX-License-Identifier: MIT */
/*
 * Injected failures of resource requests, and how services that cannot fail on Windows avoid them.
 */
#ifndef DXGK_NT_FAULTS_H
#define DXGK_NT_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this request for a resource should fail. */
bool nt_faults_due(void);

/* No failure is injected from here until nt_faults_on is called with the returned value. */
struct nt_faults {
    uint64_t fail_at, requests;
};
struct nt_faults nt_faults_off(void);
void nt_faults_on(struct nt_faults faults);

#endif
