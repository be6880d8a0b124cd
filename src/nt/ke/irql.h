/* SPDX-License-Identifier: MIT */
/*
 * The IRQL of the current processor, as drivers change it: KeRaiseIrql, KeLowerIrql, CR8.
 */
#ifndef DXGK_NT_IRQL_H
#define DXGK_NT_IRQL_H

#include <stdint.h>

/* A write to the task priority register, which is how inlined KeRaiseIrql and KeLowerIrql set the
 * level (NT-075, NT-076). `irql` is at most HIGH_LEVEL. Lowering delivers what the new level
 * allows. */
void nt_irql_write(uint8_t irql);

#endif
