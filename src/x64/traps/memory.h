/* SPDX-License-Identifier: MIT */
/* Memory as driver code sees it by address, of whatever kind it is. */
#ifndef DXGK_X64_MEMORY_H
#define DXGK_X64_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "x64/traps/plan.h"

#define X64_PAGE 4096u

/* Nobody can be told when an access does not go through: x64_refuse was called, and false
 * returned. */
bool x64_read(const struct x64_plan *plan, const struct x64_interrupted *frame, uintptr_t address,
              uint32_t bytes, void *to);
bool x64_write(const struct x64_plan *plan, const struct x64_interrupted *frame, uintptr_t address,
               uint32_t bytes, const void *from);
/* Does an access there trap, and is it emulated? */
bool x64_traps_at(uintptr_t address);

#endif
