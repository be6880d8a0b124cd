/* SPDX-License-Identifier: MIT */
/* Stands for hal.dll at link time only: the linker makes an import library in Microsoft's short form from what it exports. */
__declspec(dllexport) long long KeQueryPerformanceCounter(long long *frequency);

__declspec(dllexport) long long KeQueryPerformanceCounter(long long *frequency)
{
    return *frequency;
}
