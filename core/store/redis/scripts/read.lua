-- read answers questions to one partition, from one state.
--
--   ARGV[3] partition, then the questions, each a letter and its arguments:
--   G COLLECTION NAME     -> the document, or nothing
--   L COLLECTION          -> NAME, document ...
--   R LOG FROM LIMIT      -> the sequence of the first, entry ...     (LIMIT 0: all)
--   T LOG N               -> the sequence of the first, entry ...
--   S INDEX MIN MAX LIMIT -> MEMBER, SCORE ...                        (LIMIT 0: all)
--   M INDEX MEMBER        -> its score, or nothing
--
-- Answer: {now in ms, answer ...}; a missing one is an empty list.
local part = prefix .. 'part:' .. ARGV[3] .. '#'
local answers = { math.max(now, tonumber(read('ZSCORE', prefix .. 'partitions', ARGV[3]) or 0)) }
local i, n = 4, #ARGV

local function entriesOf(name, from, to)
  local key = part .. 'log:' .. name
  local base = tonumber(read('HGET', part .. 'meta', 'base:' .. name) or 0)
  if from >= 0 then
    from = math.max(from - base - 1, 0)
    if to >= 0 then to = from + to - 1 end
  else
    from = math.max(read('LLEN', key) + from, 0)
  end
  local r = read('LRANGE', key, from, to)
  table.insert(r, 1, base + from + 1)
  return r
end

while i <= n do
  local q, r = ARGV[i], nil
  if q == 'G' then
    r = read('HGET', part .. 'docs:' .. ARGV[i + 1], ARGV[i + 2]) or {}
    i = i + 3
  elseif q == 'L' then
    r = read('HGETALL', part .. 'docs:' .. ARGV[i + 1])
    i = i + 2
  elseif q == 'R' then
    local limit = tonumber(ARGV[i + 3])
    r = entriesOf(ARGV[i + 1], math.max(tonumber(ARGV[i + 2]), 0), limit > 0 and limit or -1)
    i = i + 4
  elseif q == 'T' then
    r = tonumber(ARGV[i + 2]) > 0 and entriesOf(ARGV[i + 1], -tonumber(ARGV[i + 2]), -1) or { 1 }
    i = i + 3
  elseif q == 'S' then
    local limit = tonumber(ARGV[i + 4])
    r = read('ZRANGEBYSCORE', part .. 'index:' .. ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], 'WITHSCORES', 'LIMIT', 0, limit > 0 and limit or -1)
    i = i + 5
  else
    r = read('ZSCORE', part .. 'index:' .. ARGV[i + 1], ARGV[i + 2]) or {}
    i = i + 3
  end
  answers[#answers + 1] = r
end
return answers
