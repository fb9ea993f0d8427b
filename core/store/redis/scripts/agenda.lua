-- The agendas of a bucket, for the scripts that change them. An agenda A is
--   herald:{bN}:due:A     a zset: member -> the instant (ms) from which it can be claimed; for a held one the end of its lease
--   herald:{bN}:claims:A  a hash: member -> 'TOKEN ATTEMPT SINCE UNTIL WAKE REQUEST HOLDER': who holds it. WAKE is the earliest
--                         wake that no claim has used up, or '-'. TOKEN 0: nobody holds it, but ATTEMPT claims in a row ended
--                         without a release.
local token = tonumber(mark[2] or 0)
local tokenBefore = token
local entries, touched = {}, {}

-- entry reads a member's state once; the script changes it in memory, and save writes what has changed.
local function entry(agenda, member)
  local id = agenda .. '\n' .. member
  local e = entries[id]
  if e then return e end
  e = { agenda = agenda, member = member, due = prefix .. 'due:' .. agenda, claims = prefix .. 'claims:' .. agenda, token = 0, attempt = 0 }
  local s = read('HGET', e.claims, member)
  e.at = tonumber(read('ZSCORE', e.due, member) or nil)
  e.wake = e.at
  if s then
    local tok, attempt, since, ends, wake, request, holder = string.match(s, '^(%d+) (%d+) (%d+) (%d+) (%S+) (%S+) (.*)$')
    if not tok then corrupt(e.claims, 'has a claim that cannot be read: ' .. member) end
    e.stored, e.token, e.attempt = true, tonumber(tok), tonumber(attempt)
    if e.token ~= 0 then
      e.since, e.ends, e.wake, e.request, e.holder = tonumber(since), tonumber(ends), tonumber(wake), request, holder
    end
  end
  entries[id] = e
  return e
end

local function change(e)
  if not e.dirty then
    e.dirty = true
    touched[#touched + 1] = e
  end
end

-- wake puts a member on the agenda at an instant; the earliest stays.
local function wake(e, at)
  e.wake = math.min(e.wake or at, at)
  change(e)
end

-- give lets holder have a member that the caller has found free. A wake whose time has come is used up, a later one stays.
local function give(e, holder, lease, request)
  token = token + 1
  if e.wake and e.wake <= now then e.wake = nil end
  e.token, e.attempt, e.since, e.ends, e.request, e.holder = token, e.attempt + 1, now, now + lease, request, holder
  change(e)
end

-- save writes what has changed. A member that is neither held nor due leaves the agenda, its attempts with it.
local function save()
  for _, e in ipairs(touched) do
    local at = e.wake
    if e.token ~= 0 then at = e.ends end
    if at then
      call('ZADD', e.due, at, e.member)
    else
      call('ZREM', e.due, e.member)
    end
    if at and (e.token ~= 0 or e.attempt > 0) then
      call('HSET', e.claims, e.member, string.format('%.0f %.0f %.0f %.0f %s %s %s', e.token, e.attempt, e.since or 0,
        e.ends or 0, e.wake and string.format('%.0f', e.wake) or '-', e.request or '-', e.holder or ''))
    elseif e.stored then
      call('HDEL', e.claims, e.member)
    end
  end
  if token ~= tokenBefore then call('HSET', KEYS[1], 'token', token) end
end
