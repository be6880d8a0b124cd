-- What dxgk.monitor takes and refuses, with a virtio GPU of one output.

local function refuses(text, ...)
  local ok, why = pcall(dxgk.monitor, ...)
  assert(not ok and why:find(text, 1, true), why)
end

dxgk.monitor(0, { width = 1600, height = 1200 })
dxgk.monitor(0, false)
refuses("output 1: the device has fewer outputs", 1, false)
refuses("the machine has no adapter 1", 0, false, 1)
refuses("a monitor is a table, and none is false", 0, true)
refuses("outputs are counted from 0", -1, false)
refuses("adapters are counted from 0", 0, false, 64)
refuses("width is to be a whole number", 0, { width = -1, height = 600 })
refuses("without a size that it prefers", 0, { width = 800 })
refuses("an EDID has 1 to 256 blocks of 128 bytes, not 100 bytes", 0, { edid = dxgk.buffer(100) })
refuses("block 0 of the EDID has", 0, { edid = dxgk.buffer(128) })
