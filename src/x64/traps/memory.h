/* SPDX-License-Identifier: MIT */
/* Memory of any kind, by the address that driver code uses. */
#ifndef DXGK_X64_MEMORY_H
#define DXGK_X64_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "x64/traps/plan.h"

#define X64_PAGE 4096u

/* Execute an access. If it fails, x64_refuse is called and false returned. */
bool x64_read(const struct x64_plan *plan, const struct x64_interrupted *frame, uintptr_t address,
              uint32_t bytes, void *to);
bool x64_write(const struct x64_plan *plan, const struct x64_interrupted *frame, uintptr_t address,
               uint32_t bytes, const void *from);
/* Whether an access there traps and is emulated. */
bool x64_traps_at(uintptr_t address);

#endif
