export { type Authority, createAuthority, type Identity } from './certificates.ts'
export { isDeclared } from './declared-servers.ts'
export { findFreePort } from './free-port.ts'
export { MissingError } from './missing-error.ts'
export { open, provideOrSkip, runOrSkip } from './open.ts'
export { listProcesses, type RunningProcess, readResidentMegabytes } from './processes.ts'
export { programEnvironment } from './program-environment.ts'
export { type ProgramName, programs } from './programs/programs.ts'
export { withCurlOnPath } from './programs/provide-curl.ts'
export {
  installMissingPackages,
  MissingProgramError,
  provideProgram,
} from './programs/provide-program.ts'
export type { Address, OpenServer } from './server.ts'
export { type ChromiumServer, openChromium } from './servers/chromium.ts'
export { type EnvoyOptions, type EnvoyServer, openEnvoy } from './servers/envoy.ts'
export { type ServerName, servers } from './servers/index.ts'
export { type MemcachedOptions, type MemcachedServer, openMemcached } from './servers/memcached.ts'
export { openPgbouncer, type PgbouncerOptions, type PgbouncerServer } from './servers/pgbouncer.ts'
export {
  openPostgres,
  openPostgresEmbedded,
  type PostgresOptions,
  type PostgresServer,
} from './servers/postgres.ts'
export {
  openPrometheus,
  type PrometheusOptions,
  type PrometheusServer,
} from './servers/prometheus.ts'
export { openRedis, type RedisNode, type RedisOptions, type RedisServer } from './servers/redis.ts'
export { openRedisCluster, type RedisCluster } from './servers/redis-cluster.ts'
export { openRedisSentinel, type RedisSentinel } from './servers/redis-sentinel.ts'
export type { Service } from './service.ts'
export { MissingTerminalError, openTerminal, runOnTerminal, type Terminal } from './terminal.ts'
