import type { Check } from '@portcullis/service-kit/config-check'
import { type Chapter, duration, type Settings } from '@portcullis/service-kit/env'
import { withOldNames } from './auth-name.ts'
import { checkDuration, oneDay, oneHour } from './durations.ts'

export const migrations = {
  title: 'Migrations',
  variables: withOldNames({
    waitMs: duration(
      'AUTH_DB_MIGRATION_WAIT',
      '10m',
      'How long migrations wait for another process that applies them, and for locks on tables',
    ),
    lockTimeoutMs: duration(
      'AUTH_DB_MIGRATION_LOCK_TIMEOUT',
      '2s',
      'How long a migration waits for a lock, with requests waiting behind it, before it lets them ' +
        'pass and tries again',
    ),
  }),
} satisfies Chapter

export interface MigrationsConfig {
  readonly waitMs: number
  readonly lockTimeoutMs: number
}

export function toMigrations(
  settings: Settings<typeof migrations.variables>,
  check: Check,
): MigrationsConfig {
  const { variables } = migrations
  checkDuration(variables.waitMs, settings.waitMs, oneDay, check)
  checkDuration(variables.lockTimeoutMs, settings.lockTimeoutMs, oneHour, check)
  if (settings.lockTimeoutMs < 1) {
    check.fault(variables.lockTimeoutMs, 'must be at least 1ms: without a limit everybody waits')
  }
  return settings
}
