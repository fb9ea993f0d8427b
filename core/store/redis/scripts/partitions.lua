-- partitions lists partitions of the bucket in the order of their last write.
--
--   ARGV[3] instant (ms) and [4] partition after which to begin; '' for both: from the start   [5] limit
--
-- Answer: {PARTITION, instant in ms ...}.
local key = prefix .. 'partitions'
local limit = tonumber(ARGV[5])
if ARGV[3] == '' then return read('ZRANGE', key, 0, limit - 1, 'WITHSCORES') end

-- Those of the same instant are sorted by name; the partition itself may have moved on.
local answer, skip = {}, 0
while limit > 0 do
  local page = read('ZRANGEBYSCORE', key, ARGV[3], '+inf', 'WITHSCORES', 'LIMIT', skip, limit + 1)
  if #page == 0 then break end
  for i = 1, #page, 2 do
    if limit > 0 and (tonumber(page[i + 1]) > tonumber(ARGV[3]) or page[i] > ARGV[4]) then
      local a = #answer
      answer[a + 1], answer[a + 2] = page[i], page[i + 1]
      limit = limit - 1
    end
  end
  skip = skip + #page / 2
end
return answer
