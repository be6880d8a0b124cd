// SPDX-License-Identifier: MIT
// What ask-windows.ps1 asks Windows for and no command of Windows gives, in C# 5: that the state of the adapters be written into
// a recording that runs, and the driver model of each adapter.
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Runtime.InteropServices;

namespace DxgkAsk
{
    public static class Session
    {
        const int PropertiesBytes = 120, NameBytes = 2048, Names = PropertiesBytes, Paths = PropertiesBytes + NameBytes;
        const uint Query = 0, CaptureStateCode = 2;

        [DllImport("advapi32.dll", CharSet = CharSet.Unicode)]
        static extern uint ControlTraceW(ulong handle, string name, IntPtr properties, uint code);
        [DllImport("advapi32.dll")]
        static extern uint EnableTraceEx2(ulong handle, ref Guid provider, uint code, byte level, ulong any, ulong all, uint timeout, IntPtr parameters);

        // Asks the provider to write what there is already: adapters, devices, contexts, allocations. Throws, with Windows' own
        // reason, if it does not.
        public static void CaptureState(string session, Guid provider, ulong keywords)
        {
            uint status = EnableTraceEx2(Handle(session), ref provider, CaptureStateCode, 5, keywords, 0, 30000, IntPtr.Zero);
            if (status != 0)
                throw new Win32Exception((int)status);
        }

        // EVENT_TRACE_PROPERTIES of a 64-bit process: size at 0, handle at 8, places of the two names at 112 and 116.
        static ulong Handle(string session)
        {
            int bytes = Paths + NameBytes;
            IntPtr properties = Marshal.AllocHGlobal(bytes);
            try
            {
                Marshal.Copy(new byte[bytes], 0, properties, bytes);
                Marshal.WriteInt32(properties, 0, bytes);
                Marshal.WriteInt32(properties, 112, Paths);
                Marshal.WriteInt32(properties, 116, Names);
                uint status = ControlTraceW(0, session, properties, Query);
                if (status != 0)
                    throw new Win32Exception((int)status);
                return (ulong)Marshal.ReadInt64(properties, 8);
            }
            finally
            {
                Marshal.FreeHGlobal(properties);
            }
        }
    }

    public sealed class Adapter
    {
        public int DriverModel = -1; // 2700: WDDM 2.7; -1: it does not tell
        public int Scheduling = -1;  // D3DKMT_WDDM_2_7_CAPS: 1 hardware scheduling supported, 2 enabled; -1: it does not tell
        public int Kind = -1;        // D3DKMT_ADAPTERTYPE
    }

    public static class Adapters
    {
        const int InfoBytes = 20; // D3DKMT_ADAPTERINFO, which begins with the handle
        const uint AdapterType = 15, DriverVersion = 13, Wddm27Caps = 70;

        [StructLayout(LayoutKind.Sequential)]
        struct Enumeration
        {
            public uint Count;
            public IntPtr Infos;
        }

        [StructLayout(LayoutKind.Sequential)]
        struct Question
        {
            public uint Handle, Type;
            public IntPtr Data;
            public uint Bytes;
        }

        [DllImport("gdi32.dll")]
        static extern int D3DKMTEnumAdapters2(ref Enumeration enumeration);
        [DllImport("gdi32.dll")]
        static extern int D3DKMTQueryAdapterInfo(ref Question question);
        [DllImport("gdi32.dll")]
        static extern int D3DKMTCloseAdapter(ref uint handle);

        // All adapters, software ones included, in the order of Windows.
        public static Adapter[] All()
        {
            var all = new List<Adapter>();
            var enumeration = new Enumeration { Count = 0, Infos = IntPtr.Zero };
            Check(D3DKMTEnumAdapters2(ref enumeration));
            uint room = enumeration.Count;
            enumeration.Infos = Marshal.AllocHGlobal(InfoBytes * (int)room + 1);
            try
            {
                Check(D3DKMTEnumAdapters2(ref enumeration));
                for (int i = 0; i < Math.Min(enumeration.Count, room); i++)
                {
                    uint handle = (uint)Marshal.ReadInt32(enumeration.Infos, i * InfoBytes);
                    all.Add(new Adapter { DriverModel = Ask(handle, DriverVersion), Scheduling = Ask(handle, Wddm27Caps), Kind = Ask(handle, AdapterType) });
                    D3DKMTCloseAdapter(ref handle);
                }
            }
            finally
            {
                Marshal.FreeHGlobal(enumeration.Infos);
            }
            return all.ToArray();
        }

        static void Check(int status)
        {
            if (status < 0)
                throw new InvalidOperationException("D3DKMTEnumAdapters2 failed with status 0x" + status.ToString("X8"));
        }

        // The 32 bits of an answer, or -1.
        static int Ask(uint handle, uint type)
        {
            IntPtr data = Marshal.AllocHGlobal(4);
            try
            {
                Marshal.WriteInt32(data, 0);
                var question = new Question { Handle = handle, Type = type, Data = data, Bytes = 4 };
                return D3DKMTQueryAdapterInfo(ref question) < 0 ? -1 : Marshal.ReadInt32(data);
            }
            finally
            {
                Marshal.FreeHGlobal(data);
            }
        }
    }
}
