-- hold closes a pace of this bucket for a while; see reserve. It never shortens an earlier hold.
--
--   ARGV[3] KEY   [4] how long, µs
--
-- Answer: {1}.
local key = prefix .. 'pace:' .. ARGV[3]
local free, closed = string.match(read('GET', key) or '0 0', '^(%d+) (%d+)$')
if not free then corrupt(key, 'has a pace that cannot be read') end
free, closed = tonumber(free), math.max(tonumber(closed), micros + tonumber(ARGV[4]))
local rest = math.ceil((math.max(free, closed) - micros) / 1000)
if rest > 0 then
  keep(key, string.format('%.0f %.0f', free, closed), rest)
end
return { 1 }
