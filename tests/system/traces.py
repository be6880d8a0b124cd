#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check-trace and compare as a user runs them. Usage: traces.py CASE BUILD_FOLDER."""
import html.parser
import os
import subprocess
import sys
import tempfile

BUILD = ""
DXGK = "{802ec45a-1e99-4b83-9920-87c98277ba9d}"
FIELDS = {
    (23, 0): ("pDxgAdapter", "hContext", "NodeOrdinal", "ReadyContextPriorityMapBits", "ReadyNodeSwMapBits", "ReadyNodeHwMapBits"),
    (175, 1): ("hContext", "hQueuePacketContext", "PacketType", "uliSubmissionId", "ulQueueSubmitSequence", "pDmaBuffer", "QuantumStatus"),
    (177, 1): ("hContext", "PacketType", "uliCompletionId", "ulQueueSubmitSequence", "InterruptType", "QuantumStatus", "FaultedVirtualAddress",
               "PageFaultFlags", "FaultedProcessHandle"),
    (178, 1): ("hContext", "PacketType", "SubmitSequence", "DmaBufferSize", "AllocationListSize", "PatchLocationListSize", "bPresent", "hDmaBuffer",
               "pQueuePacket", "ProgressFenceValue"),
    (310, 0): ("pDxgAdapter", "hDmaBuffer", "ContinueNextBuffer", "hAllocationGlobalHandle", "RootPageTableSegmentId",
               "RootPageTableSegmentOffset", "hProcess", "StartVirtualAddress", "EndVirtualAddress"),
}


def fail(text):
    print(text)
    sys.exit(1)


def story(process=44, handles=0x10000, numbers=0, packets=5, end=0x2000):
    """(process, event, version, values) of a context's packets and one operation of paging."""
    context, adapter = handles + 0x100, handles + 0xA000
    events = [(4, 23, 0, (adapter, context, 1, 1, 1, 1))]
    for i in range(packets):
        events += [(process, 178, 1, (context, 0, numbers + i, 64, 0, 0, 0, 0, 0, 0)), (4, 175, 1, (context, 0, 0, 9 * numbers + i, numbers + i, 0, 0)),
                   (4, 177, 1, (context, 0, 9 * numbers + i, numbers + i, 1, 0, 0, 0, 0))]
    return events + [(4, 310, 0, (adapter, 0, 0, handles + 0x200, 1, 0, 0, 0x1000, end))]


def write_csv(path, events):
    columns = ("Event Name, Type, Event ID, Version, Channel, Level, Opcode, Task, Keyword, PID, TID, Processor Number, Instance ID, "
               "Parent Instance ID, Activity ID, Related Activity ID, Clock-Time, Kernel(ms), User(ms), User Data")
    with open(path, "w", encoding="utf-8") as file:
        file.write(columns + "\n")
        file.write("EventTrace, Header, 0, 2, 0, 0, 0, 0, 0x0, 0x1, 0x1, 0, , , , , 134000000000000000, 0, 0, 65536, 1, 19045, 2, 0, 0, 0, 0, 0, 0, 8, 0, 2000\n")
        for number, (process, event, version, values) in enumerate(events):
            file.write(f"Microsoft-Windows-DxgKrnl, Info, {event}, {version}, 17, 0, 0, 0, 0x0, 0x{process:X}, 0x8, 0, , , , , "
                       f"{134000000000000000 + 10 * number}, 0, 0, {', '.join(map(str, values))}\n")


def write_xml(path, events):
    with open(path, "w", encoding="utf-16") as file:
        file.write('<?xml version="1.0" encoding="utf-16"?>\n<Events>\n<Event><System><Provider Guid="{68fdd900-4a3e-11d1-84f4-0000f80464e3}"/>'
                   '</System><EventData><Data Name="ProviderVersion">19045</Data><Data Name="NumberOfProcessors">2</Data></EventData></Event>\n')
        for number, (process, event, version, values) in enumerate(events):
            data = "".join(f'<Data Name="{name}">{value}</Data>' for name, value in zip(FIELDS[event, version], values))
            file.write(f'<Event><System><Provider Name="Microsoft-Windows-DxgKrnl" Guid="{DXGK}"/><EventID>{event}</EventID><Version>{version}</Version>'
                       f'<TimeCreated SystemTime="2026-01-02T03:04:05.{number * 1000:09}Z"/><Execution ProcessID="{process}" ThreadID="8" ProcessorID="0"/>'
                       f'</System><EventData>{data}</EventData></Event>\n')
        file.write("</Events>\n")


def run(folder, *words, expect):
    done = subprocess.run([os.path.join(BUILD, "dxgkhost"), *words], capture_output=True, text=True, timeout=60, cwd=folder, check=False)
    if done.returncode != expect:
        fail(f"{words}: exit status {done.returncode}, not {expect}\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def require(text, *words):
    for word in words:
        if word not in text:
            fail(f"{word!r} is missing in:\n{text}")


def forms(folder):
    """Both forms of one trace give the same answer."""
    events = story(packets=8)
    del events[8]  # a submission: the next one's number is one too far
    write_csv(os.path.join(folder, "t.csv"), events)
    write_xml(os.path.join(folder, "t.xml"), events)
    said = [run(folder, "check-trace", name, expect=3).replace(name, "") for name in ("t.csv", "t.xml")]
    if said[0] != said[1]:
        fail("\n".join(said))
    require(said[0], "Windows build 19045, 2 processors", "SUBMIT-039   1 of 6 submissions break it")


def equal(folder):
    """The same work on two machines."""
    write_csv(os.path.join(folder, "ours.csv"), story())
    write_xml(os.path.join(folder, "windows.xml"), story(process=1956, handles=0xFFFF800000000000, numbers=700, end=0x3000))
    said = run(folder, "compare", "ours.csv", "windows.xml", expect=0)
    require(said, "3 of 3 lanes are equal", "1 known differences (--all shows them)", "process 44,", "process 1956,")
    said = run(folder, "compare", "ours.csv", "windows.xml", "--all", expect=0)
    require(said, "1 times, event 310, EndVirtualAddress: GPU virtual addresses depend")


def parts(folder):
    """Where two traces part is told, with the rule and what is around."""
    write_csv(os.path.join(folder, "ours.csv"), story())
    events = story(process=1956, handles=0x700000, numbers=700)
    events[8] = (4, 175, 1, (0x700100, 0, 0, 9 * 700 + 12, 702, 0, 0))
    write_csv(os.path.join(folder, "windows.csv"), events)
    said = run(folder, "compare", "ours.csv", "windows.csv", expect=3)
    require(said, "2 of 3 lanes are equal", "node 1 (10 events and 10, 2 agree with none): uliSubmissionId differs", "touches SUBMIT-039: Fence ids are",
            "> 5. 0.000008000 s  DmaPacket Start hContext #1 hQueuePacketContext none PacketType 0 uliSubmissionId +2",
            "> 5. 0.000008000 s  DmaPacket Start hContext #1 hQueuePacketContext none PacketType 0 uliSubmissionId +12")
    said = run(folder, "compare", "ours.csv", "windows.csv", "--process-windows", "4", expect=1)
    require(said, "dxgkhost: windows.csv: process 4 queues no packet in it")
    said = run(folder, "compare", "ours.csv", "windows.csv", "--adapter", "0x70a000", "--adapter", "0x1a000", expect=3)
    require(said, "ours.csv: adapter 0x1a000", "windows.csv: adapter 0x70a000")


class Page(html.parser.HTMLParser):
    """Every element ends, and nothing is from elsewhere."""

    def __init__(self, path):
        super().__init__()
        self.open, self.text = [], ""
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())
        if self.open:
            fail(f"{path}: not ended: {self.open}")

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "link", "img", "iframe") or any(name in ("src", "href") or name.startswith("on") for name, _ in attrs):
            fail(f"element {tag} {attrs}")
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            fail(f"</{tag}> ends nothing")

    def handle_data(self, data):
        self.text += data


def page(folder):
    """Pages are whole, and texts are escaped."""
    name = "<script>alert('1') & \"2\".csv"
    write_csv(os.path.join(folder, name), story())
    write_csv(os.path.join(folder, "windows.csv"), story(packets=4))
    said = run(folder, "check-trace", name, "--html", "check.html", expect=0)
    require(said, "SUBMIT-039   0 of 4 submissions break it")
    require(Page(os.path.join(folder, "check.html")).text, name, "SUBMIT-039", "submissions of a node are numbered without gaps", "not seen")
    run(folder, "compare", name, "windows.csv", "--html", "compare.html", expect=3)
    require(Page(os.path.join(folder, "compare.html")).text, name, "2 of 3 lanes part", "only our trace has the event", "It touches SUBMIT-017",
            "(the end)", "What must happen before what", "a packet is queued before it is submitted")
    said = run(folder, "check-trace", name, "--html", "nowhere/x.html", expect=2)
    require(said, "dxgkhost: nowhere/x.html: No such file or directory")
    said = run(folder, "compare", name, "windows.csv", "--html", "/dev/full", expect=4)
    require(said, "/dev/full")


def refused(folder):
    """What is wrong is told in a sentence."""
    write_csv(os.path.join(folder, "t.csv"), story())
    with open(os.path.join(folder, "bad.xml"), "w", encoding="utf-8") as file:
        file.write("<Events><Event></Events>")
    with open(os.path.join(folder, "empty.csv"), "w", encoding="utf-8") as file:
        file.write("Event Name, Type\n")
    require(run(folder, "compare", "t.csv", "bad.xml", expect=1), "dxgkhost: bad.xml: line 1: mismatched tag")
    require(run(folder, "compare", "empty.csv", "t.csv", expect=1), 'dxgkhost: empty.csv: line 1: there is no column "Event ID"')
    require(run(folder, "compare", "t.csv", "nothing", expect=1), "dxgkhost: nothing: No such file or directory")
    write_csv(os.path.join(folder, "empty.csv"), [])
    require(run(folder, "compare", "t.csv", "empty.csv", expect=1), "empty.csv: no packet is queued in it, so there is nothing to compare")
    for words, why in (((), "it takes two files"), (("t.csv",), "it takes two files"), (("t.csv", "t.csv", "t.csv"), "more than two files: t.csv"),
                       (("t.csv", "t.csv", "--html"), "a value is missing behind: --html"), (("t.csv", "t.csv", "--nonsense", "1"), "unknown option: --nonsense"),
                       (("t.csv", "t.csv", "--process-ours", "x"), "not the number of a process: x"),
                       (("t.csv", "t.csv", "--process-ours", "4294967296"), "not the number of a process"),
                       (("t.csv", "t.csv", "--adapter", "0"), "not the handle of an adapter: 0"),
                       (("t.csv", "t.csv", *["--adapter", "1"] * 3), "--adapter more than twice")):
        require(run(folder, "compare", *words, expect=2), why)


CASES = {"forms": forms, "equal": equal, "parts": parts, "page": page, "refused": refused}

if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as FOLDER:
        CASES[sys.argv[1]](FOLDER)
