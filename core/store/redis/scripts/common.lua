-- What every script begins with. KEYS and the first arguments are the same for all of them:
--
--   KEYS[1]  herald:{bN}:mark, a hash: store (the id of the store), format, buckets, token (the latest one given)
--   KEYS[2]  herald:{bN}:none, a key that never exists. Redis looks for it before it runs the script: while the bucket's
--            slot is being moved to another node the script is refused whole (TRYAGAIN, ASK) on both of them, so
--            that it never sees one half of the bucket.
--   ARGV[1]  the id of the store that the caller opened
--   ARGV[2]  the caller's clock in microseconds, only in tests; '' otherwise: the time is Redis' own
--
-- A script reads and checks everything before its first write, so that it writes all or nothing. Its errors begin with:
--   CHANGED   the mark is missing or another store's          CORRUPT   a key holds what Herald did not write
-- All other keys of a script share the hash tag of KEYS[1] and are named below it.
local call, pcall = redis.call, redis.pcall
local prefix = string.sub(KEYS[1], 1, -5)

-- read calls a command that changes nothing and names the key when it holds something else than it should.
local function read(command, key, ...)
  local r = pcall(command, key, ...)
  if type(r) == 'table' and r.err then
    if string.sub(r.err, 1, 9) == 'WRONGTYPE' then
      error({ err = 'CORRUPT ' .. key .. ' has another type than Herald gave it' })
    end
    error(r)
  end
  return r
end

local function corrupt(key, what)
  error({ err = 'CORRUPT ' .. key .. ' ' .. what })
end

local mark = read('HMGET', KEYS[1], 'store', 'token')
if mark[1] ~= ARGV[1] then
  return redis.error_reply('CHANGED ' .. (mark[1] or 'no mark'))
end

local micros
if ARGV[2] == '' then
  local t = call('TIME')
  micros = t[1] * 1000000 + t[2]
else
  micros = tonumber(ARGV[2])
end
local now = math.floor(micros / 1000)

-- keep writes a key that ends by itself after ms. With a test's clock it stays: Redis lets keys end by its own time.
local function keep(key, value, ms)
  if ARGV[2] == '' then
    call('SET', key, value, 'PX', ms)
  else
    call('SET', key, value)
  end
end
