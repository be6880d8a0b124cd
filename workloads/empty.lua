-- SPDX-License-Identifier: MIT
-- Nothing: the adapter is started and stopped. What the start of a driver costs, and what it does wrong without a client.
return true
