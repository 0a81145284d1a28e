import type { AuditLevel, AuditRunView } from '../../../console/routes/audits-run.ts'

export interface Level {
  readonly name: AuditLevel
  readonly title: string
  readonly intro: string
  /** Of the audits that fail. */
  readonly tone: 'danger' | 'warn' | 'accent'
}

/** The most important first. */
export const levels: readonly Level[] = [
  {
    name: 'MUST',
    title: 'Required',
    intro: 'Clients rely on these: a server that fails one does not comply.',
    tone: 'danger',
  },
  {
    name: 'SHOULD',
    title: 'Recommended',
    intro: 'There may be good reasons to do otherwise; have one.',
    tone: 'warn',
  },
  {
    name: 'MAY',
    title: 'Optional',
    intro: 'Conventions that make a server easier to work with.',
    tone: 'accent',
  },
]

export interface LevelCounts {
  readonly total: number
  readonly passed: number
  readonly failed: number
}

/** What has ended so far of one level. */
export function countLevel({ audits, outcomes }: AuditRunView, level: AuditLevel): LevelCounts {
  const ofLevel = audits.filter((audit) => audit.level === level)
  const passed = ofLevel.filter(({ id }) => outcomes[id]?.status === 'ok').length
  const ended = ofLevel.filter(({ id }) => outcomes[id] !== undefined).length
  return { total: ofLevel.length, passed, failed: ended - passed }
}
