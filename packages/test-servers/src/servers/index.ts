import { openChromium } from './chromium.ts'
import { openEnvoy } from './envoy.ts'
import { openMemcached } from './memcached.ts'
import { openPgbouncer } from './pgbouncer.ts'
import { openPostgres, openPostgresEmbedded } from './postgres.ts'
import { openPrometheus } from './prometheus.ts'
import { openRedis } from './redis.ts'
import { openRedisCluster } from './redis-cluster.ts'
import { openRedisSentinel } from './redis-sentinel.ts'

/** Every server that a test can open, by name. The contract test iterates over this object. */
export const servers = {
  redis: openRedis,
  'redis-cluster': openRedisCluster,
  'redis-sentinel': openRedisSentinel,
  memcached: openMemcached,
  postgres: openPostgres,
  'postgres-embedded': openPostgresEmbedded,
  pgbouncer: openPgbouncer,
  prometheus: openPrometheus,
  chromium: openChromium,
  envoy: openEnvoy,
}

export type ServerName = keyof typeof servers
