/* SPDX-License-Identifier: MIT */
/* For the time of the move: everything of vidmm that other rooms use. */
#ifndef DXGK_VIDMM_ALL_H
#define DXGK_VIDMM_ALL_H

#include "vidmm/allocation.h"
#include "vidmm/aperture_range.h"
#include "vidmm/budget.h"
#include "vidmm/context.h"
#include "vidmm/context_record.h"
#include "vidmm/context_allocation.h"
#include "vidmm/cpu_access.h"
#include "vidmm/destroy.h"
#include "vidmm/driver_run.h"
#include "vidmm/fence_memory.h"
#include "vidmm/gpu_va.h"
#include "vidmm/handle_callbacks.h"
#include "vidmm/offer.h"
#include "vidmm/open_place.h"
#include "vidmm/paging_process.h"
#include "vidmm/portion.h"
#include "vidmm/process.h"
#include "vidmm/reset.h"
#include "vidmm/residency.h"
#include "vidmm/scheduler.h"
#include "vidmm/vidmm.h"
#include "vidmm/vidmm_config.h"

#endif
