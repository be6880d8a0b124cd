-- SPDX-License-Identifier: MIT
-- Most of what clients make a driver do, in a few milliseconds.
local workloads = dxgk.directory .. "/../../workloads/"
package.path = workloads .. "?.lua"
for _, name in ipairs {"escape", "burst", "hang"} do
    dofile(workloads .. name .. ".lua")
end
