/* SPDX-License-Identifier: MIT */
#include "modes/refusals.h"
#include "modes/modes.h"
#include "modes/vidpn.h"

bool modes_refused_add(struct modes *modes, const struct vidpn *vidpn, UINT source)
{
    struct modes_refusal *refusal = &modes->refusal[modes->refusals];

    if (modes->refusals == MODES_MAX_REFUSALS || modes->ddi->gone)
        return false;
    refusal->vidpn = vidpn_copy(vidpn);
    refusal->source = source;
    modes->refusals += refusal->vidpn != NULL;
    return refusal->vidpn != NULL;
}

bool modes_refused(const struct modes *modes, const struct vidpn *vidpn)
{
    for (UINT i = 0; i < modes->refusals; i++)
        if (vidpn_source_equal(modes->refusal[i].vidpn, vidpn, modes->refusal[i].source))
            return true;
    return false;
}

void modes_refused_forget(struct modes *modes)
{
    while (modes->refusals)
        vidpn_destroy(modes->refusal[--modes->refusals].vidpn);
}
