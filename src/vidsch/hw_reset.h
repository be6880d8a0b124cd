/* SPDX-License-Identifier: MIT */
/* Reset of the engine of a hardware-scheduled node, on the recovery thread (TDR-075 to TDR-077). */
#ifndef DXGK_VIDSCH_HW_RESET_H
#define DXGK_VIDSCH_HW_RESET_H

#include "vidsch/hw_record.h"

struct vidsch_device;
struct vidsch_node;

/* DxgkDdiResetHwEngine, and the loss of what the driver invalidated. `hung`: the device of the
 * context that the driver blames, which may be gone as soon as the caller yields; NULL: none. On
 * failure `why` says what failed, and an adapter reset must follow (yields, but not at the end). */
bool vidsch_hw_reset(struct vidsch_node *node, struct vidsch_device **hung, char *why,
                     size_t why_bytes);
/* DxgkDdiResumeHwEngine, after some time (yields). False as above. */
bool vidsch_hw_reopen(struct vidsch_node *node, char *why, size_t why_bytes);
/* The device of a context that is asked in vain to let go of the GPU; NULL: none. */
const struct vidsch_device *vidsch_hw_culprit(const struct vidsch_node *node);

#endif
