/* SPDX-License-Identifier: MIT */
/* The handler of the faults of drivers, for sim_on_fault. */
#ifndef DXGK_DDI_FAULT_H
#define DXGK_DDI_FAULT_H

struct sim_fault;

void ddi_on_fault(const struct sim_fault *fault);

#endif
