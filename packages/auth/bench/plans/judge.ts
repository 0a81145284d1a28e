import { median, round } from '@portcullis/bench-kit/statistics'
import type { CapturedPlan } from './captured-plans.ts'
import type { Kind } from './requests.ts'

export interface Observation extends CapturedPlan {
  readonly title: string
  readonly kind: Kind
  /** The request of the statement; the statements of a page are added up. */
  readonly request: number
}

interface Goal {
  readonly ms: number
  readonly buffers?: number
}

export const goals: Readonly<Record<Kind, Goal>> = {
  request: { ms: 5, buffers: 100 },
  admin: { ms: 150 },
  cleanup: { ms: 50 },
  // The sender updates as many messages as it claims, so its buffers are not limited.
  sender: { ms: 5 },
}

export interface StatementScore {
  readonly kind: Kind
  /** The name of the page, for admin requests. */
  readonly title: string
  /** One statement, or several if a page needs more than one. */
  readonly statement: string
  readonly count: number
  readonly medianMs: number
  readonly medianBuffers: number
  readonly indexes: readonly string[]
  readonly scans: readonly string[]
  readonly isReached: boolean
}

/** Statements of requests are grouped by statement, and pages by what they search for. */
export function toScores(observations: readonly Observation[]): readonly StatementScore[] {
  const groups = Map.groupBy(addUpPages(observations), ({ kind, title, statement }) =>
    kind === 'admin' ? `${kind} ${title}` : `${kind} ${statement}`,
  )
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const { kind } = first
    const statement = toNames(group.map((one) => one.statement)).join('; ')
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

/** An administrator waits for all statements of a page. */
function addUpPages(observations: readonly Observation[]): readonly Observation[] {
  const isPage = ({ kind }: Observation) => kind === 'admin'
  const pages = Map.groupBy(observations.filter(isPage), ({ request }) => request)
  const sums = [...pages.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [others.reduce(addUp, first)],
  )
  return [...observations.filter((one) => !isPage(one)), ...sums]
}

function addUp(one: Observation, other: Observation): Observation {
  return {
    ...one,
    statement: toNames([...one.statement.split(', '), other.statement]).join(', '),
    ms: one.ms + other.ms,
    buffers: one.buffers + other.buffers,
    indexes: [...one.indexes, ...other.indexes],
    scans: [...one.scans, ...other.scans],
  }
}

function toNames(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted()
}
