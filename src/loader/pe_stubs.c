/* SPDX-License-Identifier: MIT */
/*
 * Stubs for routines that the host does not have: for delay-loaded imports, which matter only when
 * they are called, and for all others if the user asked to start the driver anyway. The first call
 * of each is reported; each call returns STATUS_NOT_IMPLEMENTED, so a caller that expects a pointer
 * will fault (LIFE-187).
 *
 * A stub is a few bytes of code that load its index and jump to a common tail, which calls the
 * host:
 *
 *     mov r10d, INDEX              sub rsp, 40             room for the four arguments in
 *                                                          registers, aligned
 *     jmp tail                     mov rcx, IMAGE
 *                                  mov edx, r10d
 *                                  mov r8, [rsp + 40]      the return address, in the driver
 *                                  mov rax, missing_called
 *                                  call rax
 *                                  add rsp, 40
 *                                  ret
 */
#include <string.h>
#include <sys/mman.h>

#include "ddi/ddi.h"
#include "loader/pe.h"
#include "util/map.h"
#include "verify/verify.h"

#define IMPORT_STUB_BYTES 16u
#define TAIL_BYTES        48u

static uint64_t NTAPI missing_called(struct pe_image *image, uint32_t index, uintptr_t caller)
{
    struct pe_import *import = &image->import[index];
    const char *name = image->import_names + import->name;
    struct ddi_frame *frame;

    if (!import->reported) {
        import->reported = true;
        frame = ddi_callback_enter(NULL, name, caller);
        VIOLATION("LIFE-187",
                  "%s called %s!%s, which the host does not have: it got STATUS_NOT_IMPLEMENTED",
                  image->table.name, image->import_names + import->module, name);
        ddi_callback_leave(frame);
    }
    return (uint32_t)STATUS_NOT_IMPLEMENTED;
}

static void write_tail(uint8_t *at, const struct pe_image *image)
{
    static const uint8_t code[] = {
        0x48, 0x83, 0xEC, 0x28,                      /* sub rsp, 40 */
        0x48, 0xB9, 0,    0,    0,    0, 0, 0, 0, 0, /* mov rcx, image */
        0x44, 0x89, 0xD2,                            /* mov edx, r10d */
        0x4C, 0x8B, 0x44, 0x24, 0x28,                /* mov r8, [rsp + 40] */
        0x48, 0xB8, 0,    0,    0,    0, 0, 0, 0, 0, /* mov rax, missing_called */
        0xFF, 0xD0,                                  /* call rax */
        0x48, 0x83, 0xC4, 0x28,                      /* add rsp, 40 */
        0xC3,                                        /* ret */
    };
    uint64_t self = (uintptr_t)image, target = (uintptr_t)missing_called;

    _Static_assert(sizeof(code) <= TAIL_BYTES, "the tail must fit");
    memcpy(at, code, sizeof(code));
    memcpy(at + 6, &self, sizeof(self));
    memcpy(at + 24, &target, sizeof(target));
}

static void write_stub(uint8_t *at, uint32_t index, const uint8_t *tail)
{
    int32_t distance = (int32_t)(tail - (at + 11));

    at[0] = 0x41; /* mov r10d, index */
    at[1] = 0xBA;
    memcpy(at + 2, &index, sizeof(index));
    at[6] = 0xE9; /* jmp tail */
    memcpy(at + 7, &distance, sizeof(distance));
    memset(at + 11, 0xCC, IMPORT_STUB_BYTES - 11);
}

NTSTATUS pe_make_stubs(struct pe_image *image, bool all)
{
    uint32_t count = 0;
    uint8_t *tail, *at;

    for (uint32_t i = 0; i < image->imports; i++)
        count += !image->import[i].target && (all || image->import[i].delayed);
    if (count == 0)
        return STATUS_SUCCESS;
    image->stub_bytes = TAIL_BYTES + (size_t)count * IMPORT_STUB_BYTES;
    tail = util_map(NULL, image->stub_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                    -1, 0);
    if (tail == MAP_FAILED)
        return STATUS_NO_MEMORY;
    image->stub = tail;
    write_tail(tail, image);
    at = tail + TAIL_BYTES;
    for (uint32_t i = 0; i < image->imports; i++) {
        if (image->import[i].target || !(all || image->import[i].delayed))
            continue;
        write_stub(at, i, tail);
        image->import[i].target = at;
        image->import[i].stub = true;
        at += IMPORT_STUB_BYTES;
    }
    return util_protect(tail, image->stub_bytes, PROT_READ | PROT_EXEC) == 0 ? STATUS_SUCCESS
                                                                             : STATUS_NO_MEMORY;
}

void pe_free_stubs(struct pe_image *image)
{
    if (image->stub)
        util_unmap(image->stub, image->stub_bytes);
    image->stub = NULL;
}
