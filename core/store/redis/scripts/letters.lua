-- letters lists the bucket's dead letters, newest first.
--
--   ARGV[3] limit
--
-- Answer: {PARTITION#ID, instant in ms, note ...}.
local found = read('ZREVRANGE', prefix .. 'dead', 0, tonumber(ARGV[3]) - 1, 'WITHSCORES')
local answer = {}
for i = 1, #found, 2 do
  local a = #answer
  answer[a + 1], answer[a + 2] = found[i], found[i + 1]
  answer[a + 3] = read('HGET', prefix .. 'letters', found[i]) or ''
end
return answer
