/* SPDX-License-Identifier: MIT */
/* The probes that the driver makes by itself whenever an entry point of it is called: name and rule. docs/seeds.md says what
 * each is about. */
#ifndef SEEDS_PROBES_H
#define SEEDS_PROBES_H

/* clang-format off */
#define SEEDS_PROBES(X) \
    /* DXGKARG_RENDER, as far as Patch goes back to it */ \
    X(RENDER_BUFFER_ALIGNED, "render.dma-buffer-is-aligned-to-4096", "PATCH-064") \
    X(RENDER_CAPACITY, "render.capacity-is-at-least-the-promised-one", "PATCH-035") \
    X(RENDER_LIST_OUT, "render.patch-list-has-at-least-the-promised-elements", "PATCH-046") \
    X(RENDER_PRIVATE_ZEROED, "render.private-data-starts-as-zeroes", "PATCH-042") \
    X(RENDER_PRIVATE_KEPT, "render.recycled-private-data-is-left-alone", "PATCH-042") \
    X(RENDER_NULL_ELEMENT, "render.handle-0-becomes-a-null-element", "PATCH-072") \
    X(RENDER_LAST_PLACE, "render.element-has-the-last-place-or-none", "PATCH-080") \
    X(RENDER_MULTIPASS, "render.multipass-offset-comes-back", "PATCH-086") \
    X(RENDER_NOT_IN_FLIGHT, "render.buffer-is-not-in-use", "PATCH-043") \
    /* DxgkDdiPatch */ \
    X(PATCH_ADAPTER, "patch.adapter-is-the-miniports-context", "PATCH-138") \
    X(PATCH_IRQL, "patch.is-called-at-passive-level", "PATCH-138") \
    X(PATCH_NO_OVERLAP, "patch.overlaps-nothing-of-its-class", "PATCH-138") \
    X(PATCH_KNOWN, "patch.follows-its-render", "PATCH-090") \
    X(PATCH_EVERY, "patch.comes-before-every-submission", "PATCH-140") \
    /* DXGKARG_PATCH, member by member */ \
    X(PATCH_CONTEXT, "patch.context-handle-of-a-multi-engine-driver", "PATCH-143") \
    X(PATCH_DEVICE, "patch.device-handle-of-a-single-engine-driver", "PATCH-143") \
    X(PATCH_SEGMENT, "patch.segment-of-the-dma-buffer", "PATCH-144") \
    X(PATCH_SEGMENT_ZERO, "patch.segment-0-is-contiguous-system-memory", "PATCH-039") \
    X(PATCH_ADDRESS, "patch.address-shows-the-bytes-of-the-dma-buffer", "PATCH-144") \
    X(PATCH_POINTER, "patch.pointer-is-byte-0-of-the-buffer", "PATCH-145") \
    X(PATCH_SIZE, "patch.size-is-the-capacity", "PATCH-145") \
    X(PATCH_START, "patch.portion-starts-where-the-last-ended", "PATCH-146") \
    X(PATCH_END, "patch.portion-ends-within-the-bytes-produced", "PATCH-146") \
    X(PATCH_LAST_END, "patch.last-portion-ends-with-the-bytes-produced", "PATCH-120") \
    X(PATCH_PRIVATE_POINTER, "patch.private-pointer-is-byte-0-of-the-block", "PATCH-147") \
    X(PATCH_PRIVATE_SIZE, "patch.private-size-is-the-whole-block", "PATCH-147") \
    X(PATCH_PRIVATE_START, "patch.private-start-is-0", "PATCH-147") \
    X(PATCH_PRIVATE_END, "patch.private-end-is-what-render-used", "PATCH-069") \
    X(PATCH_PRIVATE_CONTENT, "patch.private-content-is-what-render-wrote", "PATCH-042") \
    X(PATCH_PRIVATE_NONE, "patch.no-private-data-is-null-and-0", "PATCH-041") \
    X(PATCH_LIST_SIZE, "patch.allocation-list-is-the-whole-one", "PATCH-148") \
    X(PATCH_LIST_HANDLES, "patch.allocation-list-keeps-its-order", "PATCH-148") \
    X(PATCH_PATCHES_SIZE, "patch.patch-list-is-the-whole-one", "PATCH-149") \
    X(PATCH_FIRST_INDEX, "patch.elements-start-after-the-last-portions", "PATCH-150") \
    X(PATCH_LENGTH, "patch.elements-stay-within-the-list", "PATCH-150") \
    X(PATCH_ALL_ELEMENTS, "patch.every-element-is-given-once", "PATCH-150") \
    X(PATCH_ELEMENT_RANGE, "patch.elements-belong-to-their-portion", "PATCH-121") \
    X(PATCH_FENCE, "patch.fence-is-not-0-and-later-than-all-before", "PATCH-153") \
    X(PATCH_FLAGS, "patch.flags-of-a-render-packet", "PATCH-154") \
    X(PATCH_ENGINE_ORDINAL, "patch.engine-ordinal-is-0", "PATCH-155") \
    X(PATCH_SPLIT, "patch.later-portion-starts-above-0", "PATCH-146") \
    X(PATCH_SLOT_STAYS, "patch.binding-that-stays-keeps-its-address", "PATCH-122") \
    /* D3DDDI_PATCHLOCATIONLIST */ \
    X(LOCATION_INDEX, "location.allocation-index-is-kept", "PATCH-101") \
    X(LOCATION_SLOT, "location.slot-id-is-kept", "PATCH-103") \
    X(LOCATION_DRIVER_ID, "location.driver-id-is-kept", "PATCH-106") \
    X(LOCATION_ALLOCATION_OFFSET, "location.allocation-offset-is-kept", "PATCH-107") \
    X(LOCATION_PATCH_OFFSET, "location.patch-offset-is-kept", "PATCH-109") \
    X(LOCATION_SPLIT_OFFSET, "location.split-offset-is-kept", "PATCH-111") \
    /* DXGK_ALLOCATIONLIST */ \
    X(ELEMENT_WRITE, "element.write-operation-is-the-clients", "PATCH-075") \
    X(ELEMENT_RESERVED, "element.reserved-bits-are-0", "PATCH-081") \
    X(ELEMENT_SEGMENT, "element.segment-is-one-that-was-asked-for", "PATCH-080") \
    X(ELEMENT_INSIDE, "element.address-lies-in-its-segment", "PATCH-148") \
    X(ELEMENT_THERE, "element.address-shows-the-allocation", "PATCH-148") \
    X(ELEMENT_MOVED, "element.new-place-after-a-move", "PATCH-148") \
    X(ELEMENT_NULL, "element.null-has-no-place", "PATCH-071") \
    /* from Patch to SubmitCommand */ \
    X(SUBMIT_IRQL, "submit.is-called-at-dispatch-level", "PATCH-139") \
    X(SUBMIT_FENCE, "submit.has-the-fence-of-patch", "PATCH-153") \
    X(SUBMIT_WINDOW, "submit.has-the-window-of-patch", "PATCH-146") \
    X(SUBMIT_PLACE, "submit.has-segment-and-address-of-patch", "PATCH-144") \
    X(SUBMIT_PRIVATE, "submit.has-the-private-window-of-patch", "PATCH-147") \
    X(SUBMIT_UNCHANGED, "submit.buffer-is-as-patch-left-it", "PATCH-159") \
    X(SUBMIT_NO_DEVICE, "submit.paging-names-no-device-for-a-single-engine-driver", "PATCH-006") \
    X(SUBMIT_POWER, "submit.paging-names-nobody-in-power-management", "PAGE-083") \
    X(VIRTUAL_CONTEXT, "submit.virtual-paging-names-the-system-context", "PAGE-083") \
    X(VIRTUAL_POWER, "submit.virtual-paging-names-it-in-power-management-too", "PAGE-083") \
    /* again after preemption */ \
    X(AGAIN_WINDOW, "again.same-portion-is-patched-anew", "PATCH-158") \
    X(AGAIN_FENCE, "again.with-a-new-fence", "PATCH-158") \
    X(AGAIN_LATER, "again.later-portion-is-patched-anew", "PATCH-158") \
    /* paging buffers */ \
    X(PAGING_FLAGS, "paging.flag-is-the-only-one", "PATCH-154") \
    X(PAGING_LISTS, "paging.lists-are-null-and-0", "PATCH-151") \
    X(PAGING_CONTEXT, "paging.context-is-the-system-context", "PATCH-143") \
    X(PAGING_NO_DEVICE, "paging.device-is-null-for-a-single-engine-driver", "PATCH-006") \
    X(PAGING_POWER, "paging.context-is-null-in-power-management", "PATCH-143") \
    X(PAGING_BUILT_FOR, "paging.is-built-for-the-system-context", "PAGE-083") \
    X(PAGING_BUILT_POWER, "paging.is-built-for-it-in-power-management-too", "PAGE-083") \
    X(PAGING_WINDOW, "paging.window-is-what-was-built", "PATCH-152") \
    X(PAGING_PRIVATE, "paging.private-window-is-what-was-built", "PATCH-147") \
    X(PAGING_PRIVATE_WHOLE, "paging.private-window-is-the-block-if-nothing-moves-it", "PAGE-084") \
    X(PAGING_PLACE, "paging.address-shows-the-bytes-of-the-buffer", "PATCH-144") \
    X(PAGING_SEGMENT, "paging.segment-of-the-paging-buffer", "PATCH-144") \
    X(PAGING_SEGMENT_ZERO, "paging.segment-0-while-it-is-nowhere-else", "PATCH-144") \
    X(PAGING_SIZE, "paging.size-is-the-capacity", "PATCH-145")
/* clang-format on */

enum seeds_probe {
#define SEEDS_ENUM(Id, Name, Rule) SEEDS_##Id,
    SEEDS_PROBES(SEEDS_ENUM)
#undef SEEDS_ENUM
        SEEDS_PROBE_COUNT
};

#endif
