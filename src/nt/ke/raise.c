/* SPDX-License-Identifier: MIT */
/* Structured exceptions that kernel services raise, and those that drivers raise through them. */
#include "nt/ke/raise.h"
#include "nt/base/export.h"
#include "nt/base/state.h"
#include "nt/base/status_name.h"
#include "nt/ke/try.h"
#include "sim/point.h"
#include "sim/stop.h"
#include "verify/verify.h"

#define KMODE_EXCEPTION_NOT_HANDLED 0x1Eu

void nt_raise(NTSTATUS status, const char *rule, const char *routine)
{
    const struct nt_config *config = &nt_state()->config;
    const EXCEPTION_RECORD exception = {.ExceptionCode = status,
                                        .ExceptionFlags = EXCEPTION_NONCONTINUABLE};
    const char *name = nt_status_name(status);

    nt_try_raise(&exception);
    if (config->raise)
        config->raise(config->raise_context, status);
    verify_fatal(rule, KMODE_EXCEPTION_NOT_HANDLED, (uint32_t)status, 0, 0, 0,
                 "%s raised %s (%#x) and no handler caught it", routine, name ? name : "a status",
                 (unsigned)status);
}

_Noreturn static void raise_status(NTSTATUS status, const char *routine)
{
    nt_raise(status, "NT-002", routine);
    sim_stop();
    for (;;)
        sim_spin();
}

NT_EXPORT DECLSPEC_NORETURN VOID NTAPI ExRaiseStatus(NTSTATUS Status)
{
    raise_status(Status, __func__);
}

NT_EXPORT DECLSPEC_NORETURN VOID NTAPI ExRaiseAccessViolation(void)
{
    raise_status(STATUS_ACCESS_VIOLATION, __func__);
}

NT_EXPORT DECLSPEC_NORETURN VOID NTAPI ExRaiseDatatypeMisalignment(void)
{
    raise_status(STATUS_DATATYPE_MISALIGNMENT, __func__);
}

/* What a pure virtual function of C++ comes to (NT-186); an ELF driver has another name for it. */
NT_EXPORT void __cxa_pure_virtual(void);

NT_EXPORT int NTAPI _purecall(void)
{
    VIOLATION("NT-186", "a pure virtual function was called");
    raise_status(STATUS_NOT_IMPLEMENTED, __func__);
}

NT_EXPORT void __cxa_pure_virtual(void)
{
    _purecall();
}
