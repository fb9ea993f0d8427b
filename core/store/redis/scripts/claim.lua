-- claim gives due members of one agenda: those whose time has come and that nobody holds, or whose lease has ended.
--
--   ARGV[3] agenda   [4] holder   [5] lease, ms   [6] limit   [7] id of the request
--   [8] '1': the request was sent before and its answer was lost: what it got is given again
--   [9...] the members that are wanted; without any, those that have been due longest
--
-- Answer: {now in ms, then for each claim MEMBER, TOKEN, ATTEMPT, UNTIL}.
local agenda, limit, request = ARGV[3], tonumber(ARGV[6]), ARGV[7]
local answer = { now }
local function tell(e)
  local a = #answer
  answer[a + 1], answer[a + 2], answer[a + 3], answer[a + 4] = e.member, e.token, e.attempt, e.ends
  limit = limit - 1
end

if ARGV[8] == '1' then
  local held = read('HGETALL', prefix .. 'claims:' .. agenda)
  for m = 1, #held, 2 do
    local e = entry(agenda, held[m])
    if e.token ~= 0 and e.request == request and e.holder == ARGV[4] then tell(e) end
  end
end

local members
if #ARGV > 8 then
  members = {}
  for m = 9, #ARGV do members[#members + 1] = ARGV[m] end
elseif limit > 0 then
  members = read('ZRANGEBYSCORE', prefix .. 'due:' .. agenda, '-inf', now, 'LIMIT', 0, limit)
else
  members = {}
end
for _, member in ipairs(members) do
  if limit < 1 then break end
  local e = entry(agenda, member)
  if e.at and e.at <= now and not e.dirty then
    give(e, ARGV[4], tonumber(ARGV[5]), request)
    tell(e)
  end
end
save()
return answer
