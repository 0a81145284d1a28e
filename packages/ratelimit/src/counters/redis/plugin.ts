import type { StorePlugin } from '../store-plugin.ts'
import { perSecondChapter, type RedisConfig, redisChapter, toRedis } from './variables.ts'

const chapters = { redis: redisChapter, redisPerSecond: perSecondChapter }
const variables = Object.values(chapters).flatMap((chapter) => Object.values(chapter.variables))

export const redis: StorePlugin<typeof chapters, RedisConfig> = {
  kind: 'redis',
  backendTypes: ['redis', 'kvstore'],
  place: 'in Redis (redis, kvstore)',
  chapters,
  choosingVariables: variables,
  warnedVariables: variables,
  isShared: true,
  toConfig: (settings, check) => toRedis(settings.redis, settings.redisPerSecond, check),
  open: async (config, context) => {
    const { openRedis } = await import('./open-redis.ts')
    return openRedis(config, context)
  },
}
