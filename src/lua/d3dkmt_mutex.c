/* SPDX-License-Identifier: MIT */
/* Keyed mutexes. */
#include "lua/d3dkmt_mutex.h"

#include <ntddk.h>
#include <d3dkmthk.h>

#include "lua/d3dkmt_call.h"
#include "lua/field.h"
#include "util/array.h"

static const struct field create_mutex[] = {V(D3DKMT_CREATEKEYEDMUTEX, InitialValue),
                                            V(D3DKMT_CREATEKEYEDMUTEX, hSharedHandle),
                                            V(D3DKMT_CREATEKEYEDMUTEX, hKeyedMutex)};
static const struct field create_mutex2[] = {
    V(D3DKMT_CREATEKEYEDMUTEX2, InitialValue), V(D3DKMT_CREATEKEYEDMUTEX2, hSharedHandle),
    V(D3DKMT_CREATEKEYEDMUTEX2, hKeyedMutex),
    B(D3DKMT_CREATEKEYEDMUTEX2, pPrivateRuntimeData, PrivateRuntimeDataSize),
    VN(D3DKMT_CREATEKEYEDMUTEX2, "Flags", Flags)};
static const struct field open_mutex[] = {V(D3DKMT_OPENKEYEDMUTEX, hSharedHandle),
                                          V(D3DKMT_OPENKEYEDMUTEX, hKeyedMutex)};
static const struct field open_mutex2[] = {
    V(D3DKMT_OPENKEYEDMUTEX2, hSharedHandle), V(D3DKMT_OPENKEYEDMUTEX2, hKeyedMutex),
    B(D3DKMT_OPENKEYEDMUTEX2, pPrivateRuntimeData, PrivateRuntimeDataSize)};
static const struct field open_mutex_nt[] = {
    V(D3DKMT_OPENKEYEDMUTEXFROMNTHANDLE, hNtHandle),
    V(D3DKMT_OPENKEYEDMUTEXFROMNTHANDLE, hKeyedMutex),
    B(D3DKMT_OPENKEYEDMUTEXFROMNTHANDLE, pPrivateRuntimeData, PrivateRuntimeDataSize)};
static const struct field destroy_mutex[] = {V(D3DKMT_DESTROYKEYEDMUTEX, hKeyedMutex)};
static const struct field acquire_mutex[] = {
    V(D3DKMT_ACQUIREKEYEDMUTEX, hKeyedMutex), V(D3DKMT_ACQUIREKEYEDMUTEX, Key),
    P1(D3DKMT_ACQUIREKEYEDMUTEX, pTimeout), V(D3DKMT_ACQUIREKEYEDMUTEX, FenceValue)};
static const struct field acquire_mutex2[] = {
    V(D3DKMT_ACQUIREKEYEDMUTEX2, hKeyedMutex), V(D3DKMT_ACQUIREKEYEDMUTEX2, Key),
    P1(D3DKMT_ACQUIREKEYEDMUTEX2, pTimeout), V(D3DKMT_ACQUIREKEYEDMUTEX2, FenceValue),
    B(D3DKMT_ACQUIREKEYEDMUTEX2, pPrivateRuntimeData, PrivateRuntimeDataSize)};
static const struct field release_mutex[] = {V(D3DKMT_RELEASEKEYEDMUTEX, hKeyedMutex),
                                             V(D3DKMT_RELEASEKEYEDMUTEX, Key),
                                             V(D3DKMT_RELEASEKEYEDMUTEX, FenceValue)};
static const struct field release_mutex2[] = {
    V(D3DKMT_RELEASEKEYEDMUTEX2, hKeyedMutex), V(D3DKMT_RELEASEKEYEDMUTEX2, Key),
    V(D3DKMT_RELEASEKEYEDMUTEX2, FenceValue),
    B(D3DKMT_RELEASEKEYEDMUTEX2, pPrivateRuntimeData, PrivateRuntimeDataSize)};

#define CALLS(X)                                                                    \
    X(CreateKeyedMutex, D3DKMT_CREATEKEYEDMUTEX, create_mutex)                      \
    X(CreateKeyedMutex2, D3DKMT_CREATEKEYEDMUTEX2, create_mutex2)                   \
    X(OpenKeyedMutex, D3DKMT_OPENKEYEDMUTEX, open_mutex)                            \
    X(OpenKeyedMutex2, D3DKMT_OPENKEYEDMUTEX2, open_mutex2)                         \
    X(OpenKeyedMutexFromNtHandle, D3DKMT_OPENKEYEDMUTEXFROMNTHANDLE, open_mutex_nt) \
    X(DestroyKeyedMutex, D3DKMT_DESTROYKEYEDMUTEX, destroy_mutex)                   \
    X(AcquireKeyedMutex, D3DKMT_ACQUIREKEYEDMUTEX, acquire_mutex)                   \
    X(AcquireKeyedMutex2, D3DKMT_ACQUIREKEYEDMUTEX2, acquire_mutex2)                \
    X(ReleaseKeyedMutex, D3DKMT_RELEASEKEYEDMUTEX, release_mutex)                   \
    X(ReleaseKeyedMutex2, D3DKMT_RELEASEKEYEDMUTEX2, release_mutex2)

CALLS(CALLER)

static const struct d3dkmt_call calls[] = {CALLS(ENTRY)};

void lua_d3dkmt_mutex(lua_State *L)
{
    lua_d3dkmt_add(L, calls, ARRAY_COUNT(calls));
}
