#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Workloads that nobody would write: random programs over all that a script can reach, with values of every kind, metatables that
call back, coroutines, finalizers, objects that are gone, memory and loops without end. Each run must end in time, with a status that
fits, a reason and a whole trace, and in bounded memory.

Usage: lua_campaign.py BUILD_FOLDER [--runs N] [--first I] [--seed N] [--keep FOLDER] [--jobs N]"""
import os
import random
import re
import sys
import tempfile

import campaign

LONGEST_S = 60
MEMORY_MIB = 64
# Beside what the script may hold: the host, and simulated memory that was written.
MOST_KIB = 1200 * 1024
TREE = """
local seen = {}
local function walk(path, t)
    if seen[t] then return end
    seen[t] = true
    for k, v in pairs(t) do
        if type(k) == "string" and k:find("^[%a_][%w_]*$") then
            local name = path .. "." .. k
            if type(v) == "function" then io.write("F ", name, "\\n") elseif type(v) == "table" then walk(name, v)
            elseif type(v) == "number" then io.write("N ", name, "\\n") end
        end
    end
end
walk("_G", _G)
walk("getmetatable('').__index", getmetatable('').__index)
"""
# What ends or changes more than the run, or waits for a user.
NEVER = ("os.execute", "io.popen", "os.remove", "os.rename", "os.setlocale", "io.read", "debug.debug", "package.loadlib", "os.tmpname", "io.tmpfile")
SCALARS = ["nil", "true", "false", "0", "1", "2", "-1", "7", "0.5", "-0.0", "0/0", "1/0", "-1/0", "2^31", "2^53", "1 << 31", "1 << 32", "1 << 40", "4096", "65536",
           "math.maxinteger", "math.mininteger", "0xFFFFFFFF", "0x40000000", "''", "'a'", "'\\0'", "'x\\0y'", "('x'):rep(5000)", "'%s%d%q%5.1f'", "'(((((a*)*)*)*)*)$'",
           "'/dev/null'", "'/dev/zero'", "'/dev/full'", "'/'", "fifo", "path", "'DRIVER'", "'NT-002'", "'D3'", "'*a'", "'b'", "'\\27Lua'", "_G", "dxgk", "D3DKMT"]
MADE = ["{}", "{1, 2, 3}", "{{}}", "evil()", "evil()", "function() end", "function(...) return ... end", "function() error({}) end", "function() error(evil()) end",
        "coroutine.create(function(...) coroutine.yield(...) error('x') end)", "coroutine.wrap(function() while true do coroutine.yield(1) end end)",
        "coroutine.running()", "dxgk.buffer(64)", "dxgk.buffer(65536)", "io.stdout", "io.open(path)", "io.open('/dev/null', 'w')", "setmetatable({}, {__close = gone})",
        "setmetatable({}, {__mode = 'kv'})", "lock(gpu)", "pick()", "pick()", "pick()", "pick()", "pick()"]
KNOWN = {"hDevice": "gpu.device", "hAdapter": "gpu.adapter", "hContext": "gpu.copy", "hPagingQueue": "gpu.queue", "hAllocation": "memory()", "hResource": "0",
         "phAllocationList": "{memory()}", "HandleList": "{memory()}", "ObjectHandleArray": "{fence()}", "hSyncObject": "fence()", "BroadcastContext": "{gpu.copy}",
         "FenceValueArray": "{1}", "MonitoredFenceValueArray": "{1}", "Flags": "0", "NumAllocations": "1", "ObjectCount": "1"}
HANDLES = ["gpu.device", "gpu.copy", "gpu.adapter", "gpu.queue", "handle()", "handle()", "handle()", "math.random(0, 1 << 32)", "0", "-1", "0x40000000", "gpu.device + 64"]
PRELUDE = """
local random, path, fifo = math.random, dxgk.out .. "/file", dxgk.set.fifo
package.path = dxgk.set.modules .. "/?.lua;" .. package.path
math.randomseed({seed})
local refgpu = require("refgpu")
local gpu = refgpu.open()
local held, handles, depth = {{}}, {{}}, 0
local function pick() return held[random(1, #held + 1)] end
local function handle() return handles[random(1, #handles + 1)] or 0 end
local function keep(...)
    for i = 1, select("#", ...) do
        local v = select(i, ...)
        if v ~= nil then held[#held % 200 + 1] = v end
        if type(v) == "table" and not getmetatable(v) then
            for k, h in next, v do if type(k) == "string" and type(h) == "number" then handles[#handles % 100 + 1] = math.tointeger(h) or 0 end end
        end
    end
end
local function lock(g)
    local made = {{hDevice = g.device, hAllocation = g:allocate(8192, refgpu.CPU_VISIBLE).handle, Size = 8192}}
    keep(made)
    local data = D3DKMT.Lock2(made).pData
    if random() < 0.3 then D3DKMT.DestroyAllocation2{{hDevice = g.device, phAllocationList = {{made.hAllocation}}, Flags = 0}} end
    return data
end
local function memory()
    return gpu:allocate(8192, refgpu.CPU_VISIBLE).handle
end
local function fence()
    local made = D3DKMT.CreateSynchronizationObject2{{hDevice = gpu.device, Info = {{Type = D3DDDI_MONITORED_FENCE}}}}
    keep(made)
    return made.hSyncObject
end
local gone
local function any(...)
    depth = depth + 1
    if depth < 20 then keep(pcall({any}, ...)) end
    depth = depth - 1
    return pick()
end
gone = function(t) any(t) end
local function evil()
    local t = {{}}
    for _, name in ipairs{{"__index", "__newindex", "__call", "__tostring", "__len", "__eq", "__lt", "__le", "__concat", "__unm", "__add", "__close", "__pairs", "__name"}} do
        if random() < 0.5 then t[name] = ({{any, gone, {{}}, function() error("evil") end, function() return math.mininteger end, function(t) return t end, pick(), error}})[random(1, 8)] end
    end
    return setmetatable({{pick()}}, t)
end
"""


class Run:
    def __init__(self, options, index):
        self.index = index
        self.name = f"{options.seed} lua {index}"
        self.chance = random.Random(self.name)

    def __str__(self):
        return f"script {self.index}"


class Writer:
    """Writes a random program."""

    def __init__(self, chance, functions, numbers, members):
        self.chance, self.functions, self.numbers, self.members = chance, functions, numbers, members
        self.names = sorted({name for own in members.values() for name in own})
        self.calls = [name for name in functions if ".D3DKMT." in name]

    def value(self, depth=0):
        kind = self.chance.random()
        if kind < 0.4:
            return self.chance.choice(SCALARS)
        if kind < 0.65:
            return self.chance.choice(MADE)
        if kind < 0.75:
            return self.chance.choice(HANDLES)
        if kind < 0.85 and depth < 3:
            return self.table(depth)
        if kind < 0.9 and self.numbers:
            return self.chance.choice(self.numbers)
        if kind < 0.95:
            return self.chance.choice(self.functions)
        return self.call(depth + 1) if depth < 3 else "held"

    def arguments(self, function, depth):
        """Of a call that has members of these names: mostly those, mostly with what they want."""
        own = self.members.get(function.rpartition(".")[2].lower())
        if not own or self.chance.random() < 0.15:
            return self.table(depth)
        items = []
        for name in own:
            if self.chance.random() < 0.9:
                fits = KNOWN.get(name, self.chance.choice(("0", "1", "4096", "65536")))
                items.append(f"{name} = {fits if self.chance.random() < 0.8 else self.value(depth + 1)}")
        return "{" + ", ".join(items) + "}"

    def table(self, depth=0):
        members = self.chance.sample(self.names, self.chance.randint(0, 6))
        items = [f"{name} = {self.chance.choice(HANDLES) if name.startswith('h') else self.value(depth + 1)}" for name in members]
        items += [self.value(depth + 1) for _ in range(self.chance.choice((0, 0, 1, 3)))]
        return "{" + ", ".join(items) + "}"

    def call(self, depth=0):
        function = self.chance.choice(self.functions if self.chance.random() < 0.5 else self.calls)
        if ".D3DKMT." in function and self.chance.random() < 0.8:
            return f"pcall({function}, {self.arguments(function, depth)})"
        arguments = ", ".join(self.value(depth + 1) for _ in range(self.chance.choice((0, 1, 1, 2, 2, 3, 5))))
        return f"pcall({function}{', ' if arguments else ''}{arguments})"

    def statement(self, depth=0):
        kind = self.chance.random()
        if kind < 0.55 or depth > 3:
            return f"keep({self.call()})"
        if kind < 0.62:
            return f"for i = 1, {self.chance.choice((2, 10, 100))} do {self.statement(depth + 1)} end"
        if kind < 0.68:
            return f"keep(pcall(coroutine.wrap(function(...) {self.statement(depth + 1)} coroutine.yield({self.value()}) {self.statement(depth + 1)} end), {self.value()}))"
        if kind < 0.73:
            return f"keep(pcall(function() local x <close> = evil() {self.statement(depth + 1)} error({self.value()}) end))"
        if kind < 0.78:
            operator = self.chance.choice(("+", "-", "*", "/", "//", "%", "^", "&", "|", "<<", "..", "==", "<", "<="))
            return f"keep(pcall(function() return ({self.value()}) {operator} ({self.value()}) end))"
        if kind < 0.82:
            return f"keep(pcall(table.sort, {{{', '.join(self.value() for _ in range(5))}}}, {self.chance.choice(('any', 'gone', 'evil', self.value()))}))"
        if kind < 0.86:
            pattern = self.chance.choice(("'a'", "'(a)(b)'", "''", self.value()))
            return f"keep(pcall(string.gsub, ('ab'):rep({self.chance.choice((3, 300))}), {pattern}, any))"
        if kind < 0.9:
            return self.chance.choice(("collectgarbage()", "collectgarbage('step')", "collectgarbage('generational')", "held = {}", "collectgarbage('incremental', 1000, 1)"))
        if kind < 0.93:
            return f"keep(pcall(function() for k, v in pairs({self.value()}) do keep(k, v) end end))"
        if kind < 0.96:
            return f"keep(pcall(xpcall, {self.chance.choice(self.functions)}, {self.chance.choice(('any', 'evil', 'function(e) return e .. nil end', self.value()))}, {self.value()}))"
        return f"keep(pcall(load, {self.chance.choice(('any', self.value()))}))"

    def end(self):
        return self.chance.choice((
            "return true", "return nil", "return false, 'no'", "return evil()", "return false, evil()", "error(evil())", "error({})", "error(nil)", "os.exit(0)", "os.exit(3, true)",
            "local s = 'x' while true do s = s .. s end", "while true do any() end", "while true do pcall(any) held[#held + 1] = {} end", "while true do end",
            "local function f() return f() end f()", "local function f() return 1 + f() end f()", "while true do coroutine.wrap(function() while true do coroutine.yield() end end)() end",
            "dxgk.sleep(1 << 62)", "return coroutine.wrap(function() while true do pcall(any) end end)()", "D3DKMT.WaitForIdle{hDevice = gpu.device}",
            "pcall(setmetatable, held, {__gc = any})", "goto again ::again::"))

    def program(self, seed):
        lines = [self.statement() for _ in range(self.chance.randint(5, 60))]
        return PRELUDE.format(seed=seed, any=self.chance.choice(self.functions)) + "\n".join(lines) + "\ndo " + self.end() + " end\n"


def known(options):
    """Functions and numbers that a script sees, and members of structures."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tree.lua")
        with open(path, "w", encoding="utf-8") as file:
            file.write(TREE)
        done = campaign.perform([campaign.program(options.build), "run", refgpu(options), path, "--out", folder], folder, LONGEST_S)
    names = [line.split(" ", 1) for line in done.out.splitlines() if line[:2] in ("F ", "N ")]
    functions = sorted(name.removeprefix("_G.") if ".D3DKMT." not in name else name for kind, name in names if kind == "F")
    functions = [name for name in functions if not name.endswith(NEVER) and name != "os.exit"]
    if len(functions) < 150:
        sys.exit(f"a script sees {len(functions)} functions only:\n{done}")
    members = {}
    for root, _, files in os.walk(os.path.join(campaign.SOURCE, "src", "lua")):
        for file in sorted(files):
            with open(os.path.join(root, file), encoding="utf-8") as text:
                for structure, name in re.findall(r"\b[A-Z]{1,3}\(\s*(?:D3DKMT_|D3DDDI_)(\w+),\s*\"?(\w+)", text.read()):
                    own = members.setdefault(structure.lower(), [])
                    if name not in own:
                        own.append(name)
    return functions, sorted(name for kind, name in names if kind == "N"), members


def refgpu(options):
    return os.path.join(options.build, "drivers", "refgpu.so")


def perform(options, run, seen):
    writer = Writer(run.chance, *seen)
    text = writer.program(run.index)
    with tempfile.TemporaryDirectory() as folder:
        path, trace, fifo = (os.path.join(folder, name) for name in ("workload.lua", "trace.json", "fifo"))
        os.mkfifo(fifo)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        words = [campaign.program(options.build), "run", refgpu(options), path, "--out", os.path.join(folder, "out"), "--set", f"fifo={fifo}",
                 "--set", f"modules={os.path.join(campaign.SOURCE, 'workloads')}", "--script-limit", "1", "--stall-limit", "10", "--script-memory", f"{MEMORY_MIB}M", "--limit", "100ms",
                 "--seed", str(run.index), "--trace", trace, "--cpus", str(run.chance.choice((1, 2, 4)))]
        done = campaign.perform(words, folder, LONGEST_S, cwd=folder, preexec_fn=campaign.small_core)
        problem = campaign.problem_of(done, (0, 1, 4) if "os.exit" in text else (0, 1), trace)
    if not problem and done.kib > MOST_KIB and not campaign.sanitized(options.build):
        problem = f"took {done.kib >> 10} MiB"
    return problem, f"{done}\n--- the script\n{text}", done.status


def main():
    options = campaign.arguments(__doc__, runs=200).parse_args()
    seen = known(options)
    runs = [Run(options, index) for index in range(options.first, options.first + options.runs)]
    return 1 if campaign.sweep("lua campaign", options, runs, lambda run: perform(options, run, seen)) else 0


if __name__ == "__main__":
    sys.exit(main())
