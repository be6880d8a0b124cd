// SPDX-License-Identifier: MIT
// tools/ask-windows/scrub.cs as a program. Usage: scrub FROM TO NUMBER,..., or find FILE WORD..., or xml FROM TO
using System;
using DxgkAsk;

static class Program
{
    static int Main(string[] arguments)
    {
        try
        {
            if (arguments[0] == "find")
            {
                var words = new string[arguments.Length - 2];
                Array.Copy(arguments, 2, words, 0, words.Length);
                Console.WriteLine(string.Join(" ", Text.Find(arguments[1], words)));
            }
            else if (arguments[0] == "xml")
            {
                Text.CleanXml(arguments[1], arguments[2]);
            }
            else
            {
                Counts counts = Recording.Scrub(arguments[1], arguments[2], Array.ConvertAll(arguments[3].Split(','), int.Parse));
                Console.WriteLine(counts.Kept + " " + counts.Emptied + " " + counts.Foreign + " " + counts.Lost + " " + counts.Buffers);
            }
            return 0;
        }
        catch (Exception error)
        {
            Console.Error.WriteLine(error.Message);
            return 1;
        }
    }
}
