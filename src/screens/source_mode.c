/* SPDX-License-Identifier: MIT */
#include "screens/source_mode.h"
#include "modes/mode_check.h"
#include "modes/vidpn.h"

const D3DKMDT_VIDPN_SOURCE_MODE *source_mode(const struct vidpn *vidpn, UINT source)
{
    const union mode *mode = mode_set_pinned(*vidpn_source_set(vidpn, source));

    return mode ? &mode->source : NULL;
}

D3DDDI_RATIONAL source_rate(const struct vidpn *vidpn, const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    const union mode *mode = mode_set_pinned(*vidpn_target_set(vidpn, path->VidPnTargetId));

    if (mode && mode_frequency_given(&mode->target.VideoSignalInfo.VSyncFreq))
        return mode->target.VideoSignalInfo.VSyncFreq;
    return (D3DDDI_RATIONAL){60, 1};
}
