import { type CommandParser, defineScript } from '@redis/client'
import type { RequestLimit } from '../request-limits.ts'

/**
 * The bucket of `core/buckets.ts`, in one step of Redis: 0 where a token was taken, otherwise the
 * seconds until there is one. A bucket that is full again by then is forgotten.
 */
export const tokenBucket = defineScript({
  SCRIPT: `
local most, period, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(bucket[1]) or burst, tonumber(bucket[2]) or now
tokens = math.min(burst, tokens + math.max(0, now - at) * most / period)
local wait = 0
if tokens < 1 then
  wait = math.max(1, math.ceil((1 - tokens) * period / most / 1000))
else
  tokens = tokens - 1
end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.17g', tokens), 'at', string.format('%d', now))
redis.call('PEXPIRE', KEYS[1], math.ceil((burst - tokens) * period / most) + 1000)
return wait
`,
  NUMBER_OF_KEYS: 1,
  parseCommand: pushLimit,
  transformReply: (reply: unknown) => Number(reply),
})

/** The same bucket, read only: how many tokens it has, and the seconds until there is one. */
export const tokensLeft = defineScript({
  SCRIPT: `
local most, period, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(bucket[1]) or burst, tonumber(bucket[2]) or now
tokens = math.min(burst, tokens + math.max(0, now - at) * most / period)
if tokens < 1 then
  return {0, math.max(1, math.ceil((1 - tokens) * period / most / 1000))}
end
return {math.floor(tokens), 0}
`,
  NUMBER_OF_KEYS: 1,
  IS_READ_ONLY: true,
  parseCommand: pushLimit,
  transformReply(reply: unknown): readonly [number, number] {
    const [left, wait] = Array.isArray(reply) ? reply : []
    return [Number(left), Number(wait)]
  },
})

function pushLimit(
  parser: CommandParser,
  key: string,
  { most, periodMs, burst }: RequestLimit,
): void {
  parser.pushKey(key)
  parser.push(`${most}`, `${periodMs}`, `${burst}`)
}
