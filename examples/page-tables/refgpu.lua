-- The page tables of the reference GPU (docs/refgpu.md), as the host reads them with
--   dxgkhost run DRIVER WORKLOAD.lua --page-table-format refgpu.lua
-- docs/page-tables.md says what each member means.
local function bit(n) return 1 << n end

return {
    name = "refgpu",
    entry_bytes = 8,
    index_bits = {9, 9, 9, 9}, -- from the leaf up
    valid = bit(0),
    read_only = bit(1),
    zero = bit(3),
    coherent = bit(4),
    big = bit(5),
    no_execute = bit(7),
    address = {mask = 0x000FFFFFFFFFF000},
    segment_mask = bit(2) | bit(6),
    segments = {
        {segment = 0, bits = bit(2)}, -- system memory
        {segment = 1, bits = 0},      -- video memory
        {segment = 2, bits = bit(6)}, -- the aperture
    },
    tables_plain = true, -- entries that point to tables have none of these bits
}
