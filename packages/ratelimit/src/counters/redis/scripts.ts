import { createHash } from 'node:crypto'

/** A Lua script. A server that has it in its cache runs it by the SHA-1 of its text. */
export interface Script {
  /** The encoded words of the command before the number of keys. */
  readonly byText: Buffer
  readonly byName: Buffer
  /** The permissions that a user needs to run it. */
  readonly needs: string
}

/**
 * Never goes below 0, even with concurrent refunds, and does not create a missing counter. Lua counts in
 * doubles, so above 2^53 the first step may subtract slightly too much.
 */
const refund = `
local function refund(key, hits)
  local count = tonumber(redis.call('GET', key) or '0')
  local change = math.max(hits, -count)
  if change >= 0 then return math.max(count, 0) end
  local after = redis.call('INCRBY', key, string.format('%.0f', change))
  if after < 0 then after = redis.call('INCRBY', key, string.format('%.0f', -after)) end
  return after
end`

/**
 * A sliding counter is a hash with a field per window. The first hit of each window renews the TTL of the
 * hash, so that the hash exists until that window is no longer the previous one. EXPIRE is called before
 * the count, so that a Redis user without the permission for it cannot create a counter without a TTL.
 * Besides the current and the previous window, one older window is kept, because the clocks of several
 * instances differ slightly.
 *
 * `at` is where the arguments of a counter start: window, previous window, overlap and length of a
 * window in milliseconds, hits, most, TTL. Returns the count, limited to 2^53 so that it can be sent, and
 * the count of the previous window.
 */
const slide = `
local function look(key, at)
  local counts = redis.call('HMGET', key, ARGV[at + 1], ARGV[at + 2])
  local previous = tonumber(counts[2] or 0)
  local share = math.floor(previous * ARGV[at + 3] / ARGV[at + 4])
  return tonumber(counts[1] or 0), share, previous, counts[1]
end
local function slide(key, at, hits)
  local window, change = ARGV[at + 1], tonumber(hits)
  local current, share, previous, isThere = look(key, at)
  if change < 0 then
    change = math.max(change, -current)
    if change < 0 then redis.call('HINCRBY', key, window, string.format('%.0f', change)) end
  elseif change > 0 and current + share + change <= tonumber(ARGV[at + 6]) then
    local isNew = not isThere and redis.call('EXPIRE', key, ARGV[at + 7]) == 0
    redis.call('HINCRBY', key, window, hits)
    if isNew then redis.call('EXPIRE', key, ARGV[at + 7]) end
    if not isThere then
      local oldest = 2 * ARGV[at + 2] - window
      for _, field in ipairs(redis.call('HKEYS', key)) do
        if tonumber(field) < oldest then redis.call('HDEL', key, field) end
      end
    end
  end
  return math.min(current + share + change, 9007199254740992), previous
end`

/**
 * Checks all counters of a request and then changes them, in one step: see `addSparing`. The arguments of
 * each are those of a sliding counter and whether it is strict; a fixed one has no overlap. Returns two
 * numbers for each. A counter without room stays refused, even if a refund in the same request makes room,
 * because the other counters were left unchanged.
 */
const spare = `
local function add(key, at, hits)
  if tonumber(hits) < 0 then return refund(key, tonumber(hits)) end
  local ttl = redis.call('TTL', key)
  if ttl == -2 then redis.call('SET', key, 0, 'EX', ARGV[at + 7])
  elseif ttl * 1000 < tonumber(ARGV[at + 4]) then redis.call('EXPIRE', key, ARGV[at + 7]) end
  return redis.call('INCRBY', key, hits)
end
local highest = 9007199254740991
local counts, wanted, isOver = {}, {}, false
for i, key in ipairs(KEYS) do
  local at, count = 8 * (i - 1), 0
  if ARGV[at + 3] == '0' then
    count = tonumber(redis.call('GET', key) or 0) or 0
  else
    local current, share = look(key, at)
    count = current + share
  end
  counts[i] = count
  wanted[i] = count + ARGV[at + 5]
  if wanted[i] > tonumber(ARGV[at + 6]) and ARGV[at + 8] == '1' then isOver = true end
end
local answers = {}
for i, key in ipairs(KEYS) do
  local at, count, previous = 8 * (i - 1), 0, 0
  local hits, hasRoom = ARGV[at + 5], wanted[i] <= tonumber(ARGV[at + 6])
  if isOver and hasRoom and tonumber(hits) > 0 then hits = '0' end
  if wanted[i] > highest and tonumber(hits) > 0 then
    count = highest
    if ARGV[at + 3] == '0' and counts[i] < highest then
      add(key, at, string.format('%.0f', highest - counts[i]))
    end
  elseif ARGV[at + 3] == '0' then count = add(key, at, hits)
  else count, previous = slide(key, at, hits) end
  if isOver and not hasRoom and ARGV[at + 8] == '1' then
    count = math.min(math.max(count, wanted[i]), 9007199254740992)
  end
  answers[2 * i - 1], answers[2 * i] = count, previous
end
return answers`

const slideNeeds = 'HMGET, HINCRBY, HKEYS, HDEL and EXPIRE'

/** Changes one fixed counter. Its argument is the number of hits. */
export const refundScript = createScript(
  `${refund}\nreturn refund(KEYS[1], tonumber(ARGV[1]))`,
  'a refund needs EVAL, and in it GET and INCRBY',
)

/** Changes one sliding counter. */
export const slideScript = createScript(
  `${slide}\nreturn {slide(KEYS[1], 0, ARGV[5])}`,
  `a sliding window needs EVALSHA and EVAL, and in them ${slideNeeds}`,
)

/** Changes any number of fixed and sliding counters. */
export const spareScript = createScript(
  `${refund}${slide}${spare}`,
  `it needs EVALSHA and EVAL, and in them GET, SET, INCRBY, TTL, ${slideNeeds}`,
)

function createScript(text: string, needs: string): Script {
  const name = createHash('sha1').update(text).digest('hex')
  const byText = Buffer.from(`$4\r\nEVAL\r\n$${Buffer.byteLength(text)}\r\n${text}\r\n`)
  const byName = Buffer.from(`$7\r\nEVALSHA\r\n$40\r\n${name}\r\n`)
  return { byText, byName, needs }
}
