-- commit applies one commit to one partition and its members on the agendas.
--
--   ARGV[3] partition   [4] commit id   [5] how long its answer is kept, ms   [6] channel of the hints
--   [7] '1': the caller waits for replicas, so that a repeat must be written too
--   [8] agenda, [9] member, [10] token, [11] holder of the claim under which is written; agenda '' when under none
--   [12] number of guards, then for each: 'at' COLLECTION NAME VERSION | 'absent' INDEX MEMBER '' | 'fewer' COLLECTION N ''
--        | 'free' AGENDA MEMBER ''
--   then the operations, each a letter and its arguments (see the table 'width').
--
-- The partition P stands in
--   herald:{bN}:part:P#meta       a hash: rev (revisions given), base:LOG (entries that were trimmed)
--   herald:{bN}:part:P#docs:C     a hash for each collection: name -> 'VERSION BORN VALUE'
--   herald:{bN}:part:P#log:L      a list for each log: 'AT\nKIND\nID\nDATA', without the last line when it was blanked
--   herald:{bN}:part:P#index:I    a zset for each index
--   herald:{bN}:part:P#commit:ID  the answer to a commit, for a while
-- and the bucket has herald:{bN}:partitions (zset by last write), herald:{bN}:dead (zset) and herald:{bN}:letters (hash: 'P#ID' -> note).
--
-- Answers: {'done' | 'again', ANSWER}, {'fenced', what stands}, {'conflict', guard from 0, version}.
-- ANSWER has a line each for: the time in ms; the versions of the puts; the sequences of the appends; and then one for
-- each take: 'TOKEN ATTEMPT SINCE UNTIL' or '-'.
local width = { P = 4, D = 3, A = 5, B = 3, T = 3, S = 4, N = 3, U = 3, O = 3, W = 5, R = 7, K = 5, L = 3, X = 2 }
local part = prefix .. 'part:' .. ARGV[3] .. '#'
local meta = part .. 'meta'
local answerKey = part .. 'commit:' .. ARGV[4]

local before = read('GET', answerKey)
if before then
  if ARGV[7] == '1' then call('PEXPIRE', answerKey, ARGV[5]) end
  return { 'again', before }
end

if ARGV[8] ~= '' then
  local e = entry(ARGV[8], ARGV[9])
  if e.token == 0 or e.token ~= tonumber(ARGV[10]) or e.holder ~= ARGV[11] then
    return { 'fenced', e.token == 0 and 'nobody holds it' or string.format('token %.0f stands', e.token) }
  end
end

-- doc reads the versions of a document once; v is 0 when it does not exist. Operations change it here, and the end writes it.
local docs, changed = {}, {}
local function doc(collection, name)
  local id = collection .. '\n' .. name
  local d = docs[id]
  if d then return d end
  local key = part .. 'docs:' .. collection
  local s = read('HGET', key, name)
  d = { key = key, name = name, v = 0 }
  if s then
    d.stored = true
    local v, b = string.match(s, '^(%d+) (%d+) ')
    if not v then corrupt(key, 'has a document that cannot be read: ' .. name) end
    d.v, d.born = tonumber(v), tonumber(b)
  end
  docs[id] = d
  return d
end

local first = 13
for g = 1, tonumber(ARGV[12]) do
  local kind = ARGV[first]
  if kind == 'at' then
    local d = doc(ARGV[first + 1], ARGV[first + 2])
    if d.v ~= tonumber(ARGV[first + 3]) then return { 'conflict', g - 1, d.v } end
  elseif kind == 'absent' then
    if read('ZSCORE', part .. 'index:' .. ARGV[first + 1], ARGV[first + 2]) then return { 'conflict', g - 1, 0 } end
  elseif kind == 'free' then
    if entry(ARGV[first + 1], ARGV[first + 2]).token ~= 0 then return { 'conflict', g - 1, 0 } end
  else
    if read('HLEN', part .. 'docs:' .. ARGV[first + 1]) >= tonumber(ARGV[first + 2]) then return { 'conflict', g - 1, 0 } end
  end
  first = first + 4
end

-- First everything that will be written is read, so that nothing can fail once the writing has begun.
local n = #ARGV
local rev
-- The time of a partition never goes back, also when that of the server does.
local at = math.max(now, tonumber(read('ZSCORE', prefix .. 'partitions', ARGV[3]) or 0))
local logs, checked = {}, {}
local function log(name)
  local l = logs[name]
  if l then return l end
  l = { key = part .. 'log:' .. name, new = {} }
  l.len = read('LLEN', l.key)
  l.base = tonumber(read('HGET', meta, 'base:' .. name) or 0)
  logs[name] = l
  return l
end
local function sorted(key)
  if not checked[key] then
    read('ZCARD', key)
    checked[key] = true
  end
  return key
end
local i = first
while i <= n do
  local op = ARGV[i]
  if op == 'P' then
    if not rev then rev = tonumber(read('HGET', meta, 'rev') or 0) end
    doc(ARGV[i + 1], ARGV[i + 2])
  elseif op == 'D' then
    doc(ARGV[i + 1], ARGV[i + 2])
  elseif op == 'A' or op == 'B' or op == 'T' then
    log(ARGV[i + 1])
  elseif op == 'S' or op == 'N' or op == 'U' or op == 'O' then
    sorted(part .. 'index:' .. ARGV[i + 1])
  elseif op == 'W' or op == 'R' or op == 'K' then
    entry(ARGV[i + 1], ARGV[i + 2])
  elseif not checked.letters then
    sorted(prefix .. 'dead')
    read('HLEN', prefix .. 'letters')
    checked.letters = true
  end
  i = i + width[op]
end

call('ZADD', prefix .. 'partitions', at, ARGV[3])
local versions, seqs, takes, hints = {}, {}, {}, {}
local stamp = string.format('%.0f\n', at)
-- push writes the entries that were appended to a log so far: one command, however many they are.
local function push(l)
  if #l.new > 0 then
    call('RPUSH', l.key, unpack(l.new))
    l.new = {}
  end
end
local function hint(e)
  if not e.hinted then
    e.hinted = true
    hints[#hints + 1] = 'wake\n' .. e.agenda .. '\n' .. e.member
  end
end
i = first
while i <= n do
  local op = ARGV[i]
  if op == 'P' then
    local d = doc(ARGV[i + 1], ARGV[i + 2])
    rev = rev + 1
    if d.v == 0 then d.born = rev end
    d.v, d.value = rev, ARGV[i + 3]
    changed[d] = true
    versions[#versions + 1] = string.format('%.0f', rev)
  elseif op == 'D' then
    local d = doc(ARGV[i + 1], ARGV[i + 2])
    d.v, d.value = 0, nil
    changed[d] = true
  elseif op == 'A' then
    local l = log(ARGV[i + 1])
    l.len = l.len + 1
    l.new[#l.new + 1] = stamp .. ARGV[i + 3] .. '\n' .. ARGV[i + 2] .. '\n' .. ARGV[i + 4]
    seqs[#seqs + 1] = string.format('%.0f', l.base + l.len)
  elseif op == 'B' then
    local l = log(ARGV[i + 1])
    push(l)
    local place = tonumber(ARGV[i + 2]) - l.base - 1
    if place >= 0 and place < l.len then
      local head = string.match(call('LINDEX', l.key, place), '^([^\n]*\n[^\n]*\n[^\n]*)')
      if head then call('LSET', l.key, place, head) end
    end
  elseif op == 'T' then
    local l = log(ARGV[i + 1])
    push(l)
    local gone = math.min(tonumber(ARGV[i + 2]) - l.base - 1, l.len)
    if gone > 0 then
      call('LTRIM', l.key, gone, -1)
      l.base, l.len = l.base + gone, l.len - gone
      call('HSET', meta, 'base:' .. ARGV[i + 1], l.base)
    end
  elseif op == 'S' then
    call('ZADD', part .. 'index:' .. ARGV[i + 1], ARGV[i + 3], ARGV[i + 2])
  elseif op == 'N' then
    call('ZADD', part .. 'index:' .. ARGV[i + 1], at, ARGV[i + 2])
  elseif op == 'U' then
    call('ZREM', part .. 'index:' .. ARGV[i + 1], ARGV[i + 2])
  elseif op == 'O' then
    call('ZREMRANGEBYSCORE', part .. 'index:' .. ARGV[i + 1], '-inf', string.format('(%.0f', at - tonumber(ARGV[i + 2])))
  elseif op == 'W' then
    local e = entry(ARGV[i + 1], ARGV[i + 2])
    local due = ARGV[i + 3] ~= '' and tonumber(ARGV[i + 3]) or now + tonumber(ARGV[i + 4])
    wake(e, due)
    if due <= now then hint(e) end
  elseif op == 'R' then
    local e = entry(ARGV[i + 1], ARGV[i + 2])
    if e.token ~= 0 and e.token == tonumber(ARGV[i + 3]) and e.holder == ARGV[i + 4] then
      local sign, due = string.sub(ARGV[i + 5], 1, 1), tonumber(string.sub(ARGV[i + 5], 2))
      if sign == '+' then due = now + due end
      if sign ~= '' then wake(e, due) end
      -- One that is not due again leaves the agenda at once, its attempts with it.
      e.attempt = ARGV[i + 6] == '1' and e.wake and e.attempt - 1 or 0
      e.token, e.since, e.ends, e.request, e.holder = 0, nil, nil, nil, nil
      change(e)
      if e.wake and e.wake <= now then hint(e) end
    end
  elseif op == 'K' then
    local e = entry(ARGV[i + 1], ARGV[i + 2])
    if e.token ~= 0 then
      takes[#takes + 1] = '-'
    else
      give(e, ARGV[i + 3], tonumber(ARGV[i + 4]), '-')
      takes[#takes + 1] = string.format('%.0f %.0f %.0f %.0f', e.token, e.attempt, e.since, e.ends)
    end
  elseif op == 'L' then
    local id = ARGV[3] .. '#' .. ARGV[i + 1]
    call('ZADD', prefix .. 'dead', at, id)
    call('HSET', prefix .. 'letters', id, ARGV[i + 2])
  elseif op == 'X' then
    local id = ARGV[3] .. '#' .. ARGV[i + 1]
    call('ZREM', prefix .. 'dead', id)
    call('HDEL', prefix .. 'letters', id)
  end
  i = i + width[op]
end

for _, l in pairs(logs) do push(l) end
local puts = {}
for d in pairs(changed) do
  if d.value then
    local p = puts[d.key]
    if not p then
      p = {}
      puts[d.key] = p
    end
    local k = #p
    p[k + 1], p[k + 2] = d.name, string.format('%.0f %.0f ', d.v, d.born) .. d.value
  elseif d.stored then
    call('HDEL', d.key, d.name)
  end
end
for key, p in pairs(puts) do call('HSET', key, unpack(p)) end
if #versions > 0 then call('HSET', meta, 'rev', rev) end
save()
local answer = stamp .. table.concat(versions, ' ') .. '\n' .. table.concat(seqs, ' ')
if #takes > 0 then answer = answer .. '\n' .. table.concat(takes, '\n') end
call('SET', answerKey, answer, 'PX', ARGV[5])
for _, h in ipairs(hints) do call('PUBLISH', ARGV[6], h) end
return { 'done', answer }
