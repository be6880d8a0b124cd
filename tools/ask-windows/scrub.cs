// SPDX-License-Identifier: MIT
// Takes out of a recording (.etl) what nobody needs to know who reads it, in the language that PowerShell 5.1 compiles (C# 5).
//
// Events of Microsoft-Windows-DxgKrnl whose numbers are asked for stay as they are. All other events keep their places and times
// and lose their contents; those of other providers lose the provider's name, too. The description at the beginning of the file
// loses the time zone, the name of the session and the path of the file, and what lies unused in a buffer is overwritten.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using System.Text.RegularExpressions;

namespace DxgkAsk
{
    public sealed class Counts
    {
        public long Kept, Emptied, Foreign, Lost, Buffers;
    }

    public static class Recording
    {
        const int BufferHeader = 72, EventHeader = 80, SystemHeader = 32, LeastBuffer = 1024, MostBuffer = 16 << 20;
        const int ZoneBytes = 172, FixedBytes = 56;
        // {802EC45A-1E99-4B83-9920-87C98277BA9D}
        static readonly byte[] DxgKrnl = { 0x5A, 0xC4, 0x2E, 0x80, 0x99, 0x1E, 0x83, 0x4B, 0x99, 0x20, 0x87, 0xC9, 0x82, 0x77, 0xBA, 0x9D };

        // Copies a recording without what is not asked for. Throws if it is none: the message says where and why.
        public static Counts Scrub(string from, string to, int[] keep)
        {
            var asked = new Dictionary<int, bool>(); // System.Core, which has sets, is not there in PowerShell 5.1
            foreach (int number in keep)
                asked[number] = true;
            var counts = new Counts();
            using (FileStream input = File.OpenRead(from), output = File.Create(to))
            {
                byte[] start = new byte[4];
                if (ReadWhole(input, start) < 4)
                    throw new InvalidDataException(from + " is empty");
                int size = BitConverter.ToInt32(start, 0);
                if (size < LeastBuffer || size > MostBuffer)
                    throw new InvalidDataException(from + " does not begin like a recording: its buffers would have " + size + " bytes");
                input.Position = 0;
                byte[] buffer = new byte[size];
                for (int read; (read = ReadWhole(input, buffer)) != 0 && BitConverter.ToInt32(buffer, 0) != 0; counts.Buffers++)
                {
                    string where = from + ", buffer " + counts.Buffers;
                    if (read < size)
                        throw new InvalidDataException(where + " is cut off: it has " + read + " bytes of " + size);
                    if (BitConverter.ToInt32(buffer, 0) != size)
                        throw new InvalidDataException(where + " has a size of its own: " + BitConverter.ToInt32(buffer, 0));
                    ScrubBuffer(buffer, counts.Buffers == 0, asked, counts, where);
                    output.Write(buffer, 0, size);
                }
            }
            return counts;
        }

        static int ReadWhole(Stream stream, byte[] bytes)
        {
            int have = 0;
            for (int more; have < bytes.Length && (more = stream.Read(bytes, have, bytes.Length - have)) > 0;)
                have += more;
            return have;
        }

        static void ScrubBuffer(byte[] buffer, bool first, Dictionary<int, bool> asked, Counts counts, string where)
        {
            int filled = BitConverter.ToInt32(buffer, 48);
            if (filled == 0)
                filled = BitConverter.ToInt32(buffer, 4);
            if (filled < BufferHeader || filled > buffer.Length)
                throw new InvalidDataException(where + " says that " + filled + " of its bytes are filled");
            int at = BufferHeader;
            while (at + 8 <= filled && buffer[at + 3] != 0xFF)
            {
                if ((buffer[at + 3] & 0xC0) != 0xC0)
                    throw new InvalidDataException(where + ": what is at " + at + " does not begin like an event");
                int size = BitConverter.ToUInt16(buffer, IsSystem(buffer[at + 2]) ? at + 4 : at);
                if (size < 8 || size > filled - at)
                    throw new InvalidDataException(where + ": the event at " + at + " has " + size + " bytes");
                if (first && at == BufferHeader)
                    ScrubDescription(buffer, at, size, counts, where);
                else
                    ScrubEvent(buffer, at, size, asked, counts);
                int next = Math.Min(at + (size + 7) / 8 * 8, buffer.Length);
                Array.Clear(buffer, at + size, next - at - size);
                at = next;
            }
            for (; at < buffer.Length; at++)
                buffer[at] = 0xFF;
        }

        // Types of events whose size is in their bytes 4 and 5.
        static bool IsSystem(byte type)
        {
            return type <= 4 || type == 0x10 || type == 0x11;
        }

        static void ScrubDescription(byte[] buffer, int at, int size, Counts counts, string where)
        {
            int payload = at + SystemHeader, end = at + size;
            int pointer = size >= SystemHeader + FixedBytes && BitConverter.ToInt32(buffer, payload + 44) == 8 ? 8 : 4;
            int zone = payload + FixedBytes + 2 * pointer, rest = payload + (FixedBytes + 2 * pointer + ZoneBytes + 7) / 8 * 8;
            if (buffer[at + 2] != 1 && buffer[at + 2] != 2 || end < rest + 32)
                throw new InvalidDataException(where + " does not begin with a description of the recording");
            counts.Lost = BitConverter.ToUInt32(buffer, payload + 48) + (long)BitConverter.ToUInt32(buffer, rest + 28);
            Array.Clear(buffer, zone, ZoneBytes);
            Array.Clear(buffer, rest + 32, end - rest - 32);
        }

        static void ScrubEvent(byte[] buffer, int at, int size, Dictionary<int, bool> asked, Counts counts)
        {
            byte type = buffer[at + 2];
            if ((type != 0x12 && type != 0x13) || size < EventHeader)
            {
                int header = type <= 2 ? SystemHeader : type == 0x10 || type == 0x11 ? 16 : 24;
                Array.Clear(buffer, at + Math.Min(header, size), size - Math.Min(header, size));
                counts.Foreign++;
                return;
            }
            bool extended = (buffer[at + 4] & 1) != 0; // by a user's SID, a stack, or the like
            if (!IsOfDxgKrnl(buffer, at + 24) || extended)
            {
                buffer[at + 4] &= 0xFE;
                Array.Clear(buffer, at + 24, 16);
                Array.Clear(buffer, at + 64, size - 64);
                counts.Foreign++;
            }
            else if (asked.ContainsKey(BitConverter.ToUInt16(buffer, at + 40)))
            {
                counts.Kept++;
            }
            else
            {
                Array.Clear(buffer, at + 64, size - 64);
                counts.Emptied++;
            }
        }

        static bool IsOfDxgKrnl(byte[] buffer, int at)
        {
            for (int i = 0; i < DxgKrnl.Length; i++)
                if (buffer[at + i] != DxgKrnl[i])
                    return false;
            return true;
        }
    }

    public static class Text
    {
        static readonly Regex Machine = new Regex("<Computer>[^<]*</Computer>"), User = new Regex(" UserID=\"[^\"]*\"");

        // Copies the XML of tracerpt without the names of the machine and of users.
        public static void CleanXml(string from, string to)
        {
            using (var input = new StreamReader(from))
            using (var output = new StreamWriter(to, false, new UTF8Encoding(false)))
                for (string line; (line = input.ReadLine()) != null;)
                    output.WriteLine(User.Replace(Machine.Replace(line, "<Computer></Computer>"), ""));
        }

        // Which of the words stand in a file, in one byte or two for each character, whatever their case. A word that begins or ends
        // with a letter, a digit or '_' counts where none of these is beside it there.
        public static string[] Find(string path, string[] words)
        {
            var found = new List<string>();
            byte[] bytes = File.ReadAllBytes(path);
            foreach (string word in words)
                if (word.Length != 0 && (Stands(bytes, Encoding.UTF8.GetBytes(word), 1) || Stands(bytes, Encoding.Unicode.GetBytes(word), 2)))
                    found.Add(word);
            return found.ToArray();
        }

        static bool Stands(byte[] bytes, byte[] word, int width)
        {
            for (int at = 0; at <= bytes.Length - word.Length; at++)
            {
                int have = 0;
                while (have < word.Length && Lower(bytes[at + have]) == Lower(word[have]))
                    have++;
                if (have == word.Length && !Continues(bytes, at - width, at, width) && !Continues(bytes, at + have, at + have - width, width))
                    return true;
            }
            return false;
        }

        // Whether the character at `beside` makes the one at `edge` part of a longer word.
        static bool Continues(byte[] bytes, int beside, int edge, int width)
        {
            return IsOfWord(bytes, edge, width) && IsOfWord(bytes, beside, width);
        }

        static byte Lower(byte value)
        {
            return value >= 'A' && value <= 'Z' ? (byte)(value + 32) : value;
        }

        static bool IsOfWord(byte[] bytes, int at, int width)
        {
            if (at < 0 || at + width > bytes.Length || width == 2 && bytes[at + 1] != 0)
                return false;
            byte value = Lower(bytes[at]);
            return value >= 'a' && value <= 'z' || value >= '0' && value <= '9' || value == '_';
        }
    }
}
