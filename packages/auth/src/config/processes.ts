import { availableParallelism } from 'node:os'
import type { Check } from '@portcullis/service-kit/config-check'
import { type Chapter, type Settings, string } from '@portcullis/service-kit/env'
import { withOldNames } from './auth-name.ts'

export const processes = {
  title: 'Processes',
  variables: withOldNames({
    workers: string(
      'AUTH_WORKERS',
      '1',
      'How many processes share the port on this machine; auto or 0: one for each core',
      { aliases: ['WORKERS'] },
    ),
  }),
} satisfies Chapter

const mostWorkers = 1_024

/** How many processes answer requests. */
export function toWorkers(
  settings: Settings<typeof processes.variables>,
  check: Check,
  cores = availableParallelism(),
): number {
  const text = settings.workers.trim().toLowerCase()
  if (text === '') return 1
  if (text === 'auto') return cores
  const count = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (count <= mostWorkers) return count || cores
  check.fault(
    processes.variables.workers,
    `must be a whole number from 0 to ${mostWorkers}, or auto`,
  )
  return 1
}
