/* SPDX-License-Identifier: MIT */
/* Compiled for Microsoft's own environment, which no kernel headers are installed for: what the compiler itself calls. */
typedef unsigned long long u64;

u64 DriverEntry(void *object, u64 *path);

/* A frame of several pages: the compiler calls __chkstk, which the kernel exports. */
static __attribute__((noinline)) u64 large_frame(u64 a, u64 b, u64 c, u64 d, u64 bytes)
{
    char frame[40000];
    u64 sum = a + 2 * b + 3 * c + 4 * d;

    for (u64 i = 0; i < bytes; i++)
        frame[i * 4000] = (char)i;
    __asm__ volatile("" : : "r"(frame) : "memory"); /* somebody looks at it */
    for (u64 i = 0; i < bytes; i++)
        sum += (u64)frame[i * 4000];
    return sum;
}

u64 DriverEntry(void *object, u64 *path)
{
    (void)object;
    *path = large_frame(1, 10, 100, 1000, 10);
    return 0;
}
