/* SPDX-License-Identifier: MIT */
/*
 * Stands in for the recorder of WPP tracing, which keeps the last messages in memory: there is none, so that settings are taken and
 * change nothing. Messages go where dxgk_wpp.h sends them, whichever filter a driver sets.
 */
#ifndef DXGK_WDK_WPPRECORDER_H
#define DXGK_WDK_WPPRECORDER_H

#include <ntddk.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef PVOID RECORDER_LOG;

typedef struct _RECORDER_CONFIGURE_PARAMS {
    ULONG Size;
    BOOLEAN CreateDefaultLog;
    BOOLEAN UseTimeStamp;
} RECORDER_CONFIGURE_PARAMS, *PRECORDER_CONFIGURE_PARAMS;

FORCEINLINE VOID RECORDER_CONFIGURE_PARAMS_INIT(PRECORDER_CONFIGURE_PARAMS Parameters)
{
    Parameters->Size = sizeof(*Parameters);
    Parameters->CreateDefaultLog = TRUE;
    Parameters->UseTimeStamp = FALSE;
}

FORCEINLINE VOID WppRecorderConfigure(PRECORDER_CONFIGURE_PARAMS Parameters)
{
    (void)Parameters;
}

/* A place to assign to. */
__attribute__((unused)) static BOOLEAN DxgkWppRecorderFilter;
#define WPP_RECORDER_LEVEL_FILTER(Flag)              DxgkWppRecorderFilter
#define WPP_RECORDER_FLAG_FILTER(Flag)               DxgkWppRecorderFilter
#define WPP_RECORDER_LEVEL_FLAGS_FILTER(Level, Flag) DxgkWppRecorderFilter

FORCEINLINE RECORDER_LOG WppRecorderLogGetDefault(VOID)
{
    return NULL;
}

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WPPRECORDER_H */
