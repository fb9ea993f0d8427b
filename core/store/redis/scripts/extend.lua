-- extend makes leases end later.
--
--   ARGV[3] lease, ms, then for each claim: AGENDA MEMBER TOKEN HOLDER
--
-- Answer: for each claim 1 when it was extended and 0 when it is no longer held.
local answer = {}
for i = 4, #ARGV, 4 do
  local e = entry(ARGV[i], ARGV[i + 1])
  if e.token ~= 0 and e.token == tonumber(ARGV[i + 2]) and e.holder == ARGV[i + 3] then
    e.ends = now + tonumber(ARGV[3])
    change(e)
    answer[#answer + 1] = 1
  else
    answer[#answer + 1] = 0
  end
end
save()
return answer
