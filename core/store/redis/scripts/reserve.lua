-- reserve takes a place in each of some paces of this bucket, or in none when the wait would be too long.
--
--   herald:{bN}:pace:KEY  'FREE CLOSED' in microseconds: when the places taken so far are used up, were they used one at a time; until
--                         when nothing may go. It ends by itself when forgetting it changes nothing.
--   ARGV[3] the longest wait, µs; negative: any    then for each: KEY EVERY (µs) BURST
--
-- Answer: {wait in µs, 1 when the places were taken}.
local most = tonumber(ARGV[3])
local wait, keys, state = 0, {}, {}
for i = 4, #ARGV, 3 do
  local key = prefix .. 'pace:' .. ARGV[i]
  local every, burst = tonumber(ARGV[i + 1]), math.max(tonumber(ARGV[i + 2]), 1)
  local s = state[key]
  if not s then
    local free, closed = string.match(read('GET', key) or '0 0', '^(%d+) (%d+)$')
    if not free then corrupt(key, 'has a pace that cannot be read') end
    s = { free = tonumber(free), closed = tonumber(closed) }
    state[key] = s
    keys[#keys + 1] = key
  end
  local base = math.max(micros, s.closed)
  wait = math.max(wait, math.max(base, s.free - (burst - 1) * every) - micros)
  s.free = math.max(s.free, base) + every
end
if most >= 0 and wait > most then return { wait, 0 } end
for _, key in ipairs(keys) do
  local s = state[key]
  local rest = math.ceil((math.max(s.free, s.closed) - micros) / 1000)
  if rest > 0 then
    keep(key, string.format('%.0f %.0f', s.free, s.closed), rest)
  else
    call('DEL', key)
  end
end
return { wait, 1 }
