/* SPDX-License-Identifier: MIT */
/*
 * Injected shortage: which requests for a resource fail although there is enough, and how services
 * that cannot fail on Windows pass it by.
 */
#ifndef DXGK_NT_FAULTS_H
#define DXGK_NT_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

/* Should this request for a resource fail? */
bool nt_faults_due(void);

/* Injected faults pass by what follows, until nt_faults_on with the value returned. */
struct nt_faults {
    uint64_t fail_at, requests;
};
struct nt_faults nt_faults_off(void);
void nt_faults_on(struct nt_faults faults);

#endif
