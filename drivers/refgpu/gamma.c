/* SPDX-License-Identifier: MIT */
/* Gamma ramps: 256 entries of 16 bits for each channel, in the path of an output. */
#include "driver.h"

NTSTATUS refgpu_gamma_take(struct refgpu_adapter *adapter, ULONG output,
                           const D3DKMDT_GAMMA_RAMP *ramp)
{
    struct refgpu_ramp *kept = &adapter->display.ramp[output];

    kept->given = FALSE;
    if (ramp->Type == D3DDDI_GAMMARAMP_DEFAULT)
        return STATUS_SUCCESS;
    if (ramp->Type != D3DDDI_GAMMARAMP_RGB256x3x16 ||
        ramp->DataSize != sizeof *ramp->Data.pRgb256x3x16)
        return STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED;
    kept->given = TRUE;
    RtlCopyMemory(kept->value, ramp->Data.pRgb256x3x16, sizeof kept->value);
    return STATUS_SUCCESS;
}

void refgpu_gamma_load(struct refgpu_adapter *adapter, ULONG output)
{
    const struct refgpu_ramp *kept = &adapter->display.ramp[output];
    const ULONG others = adapter->display.control[output] & ~REFGPU_OUT_CONTROL_GAMMA;

    if (!kept->given) {
        if (others != adapter->display.control[output])
            refgpu_output_control(adapter, output, others);
        return;
    }
    refgpu_output_write(adapter, output, REFGPU_OUT_GAMMA_INDEX, 0);
    for (ULONG i = 0; i < REFGPU_GAMMA_ENTRIES; i++)
        refgpu_output_write(adapter, output, REFGPU_OUT_GAMMA_DATA, kept->value[i]);
    refgpu_output_control(adapter, output, others | REFGPU_OUT_CONTROL_GAMMA);
}
