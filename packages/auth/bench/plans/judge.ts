import { median, round } from '@portcullis/bench-kit/statistics'
import type { CapturedPlan } from './captured-plans.ts'
import type { Kind } from './requests.ts'

export interface Observation extends CapturedPlan {
  readonly title: string
  readonly kind: Kind
}

interface Goal {
  readonly ms: number
  readonly buffers?: number
}

export const goals: Readonly<Record<Kind, Goal>> = {
  request: { ms: 5, buffers: 100 },
  admin: { ms: 150 },
  cleanup: { ms: 50 },
  // It updates as many messages as it takes, so its buffers have no bound.
  sender: { ms: 5 },
}

export interface StatementScore {
  readonly kind: Kind
  /** What it was seen in: of requests the statement alone, of pages which page. */
  readonly title: string
  readonly statement: string
  readonly count: number
  readonly medianMs: number
  readonly medianBuffers: number
  readonly indexes: readonly string[]
  readonly scans: readonly string[]
  readonly isReached: boolean
}

/** Statements of requests are the same whatever the request; pages differ by what they look for. */
export function toScores(observations: readonly Observation[]): readonly StatementScore[] {
  const groups = Map.groupBy(observations, ({ kind, title, statement }) =>
    kind === 'admin' ? `${kind} ${title} ${statement}` : `${kind} ${statement}`,
  )
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const { kind, statement } = first
    const medianMs = round(median(group.map(({ ms }) => ms)), 3)
    const medianBuffers = Math.round(median(group.map(({ buffers }) => buffers)))
    const goal = goals[kind]
    return {
      kind,
      title: kind === 'admin' ? first.title : '',
      statement,
      count: group.length,
      medianMs,
      medianBuffers,
      indexes: toNames(group.flatMap(({ indexes }) => indexes)),
      scans: toNames(group.flatMap(({ scans }) => scans)),
      isReached: medianMs <= goal.ms && medianBuffers <= (goal.buffers ?? Number.POSITIVE_INFINITY),
    }
  })
}

function toNames(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted()
}
