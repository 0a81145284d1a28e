import { formatRatio, paint } from './table.ts'

export type Direction = 'at least' | 'at most'

/** A performance goal and the measured value. */
export interface Goal {
  readonly text: string
  /** Default: `at least`. */
  readonly direction?: Direction
  readonly wanted: number
  /** Undefined or NaN if it was not measured. */
  readonly reached: number | undefined
}

/** A goal written as one row of a list. */
export type GoalRow = readonly [
  text: string,
  direction: Direction,
  wanted: number,
  reached: number | undefined,
]

export const toGoal = ([text, direction, wanted, reached]: GoalRow): Goal => ({
  text,
  direction,
  wanted,
  reached,
})

export interface GoalResult extends Omit<Goal, 'reached'> {
  /** Null if it was not measured, because there was no peer or it was not requested. */
  readonly reached: number | null
  readonly isReached: boolean | null
}

export function evaluateGoals(goals: readonly Goal[]): readonly GoalResult[] {
  return goals.map(({ reached, ...goal }) => {
    if (reached === undefined || Number.isNaN(reached)) {
      return { ...goal, reached: null, isReached: null }
    }
    const isReached = goal.direction === 'at most' ? reached <= goal.wanted : reached >= goal.wanted
    return { ...goal, reached: Number(reached.toFixed(3)), isReached }
  })
}

export const isMeasured = ({ reached }: GoalResult): boolean => reached !== null

export function formatGoals(goals: readonly GoalResult[]): string {
  const lines = goals.map(({ text, direction, wanted, reached, isReached }) => {
    const goal = ['wanted', direction, wanted].filter((word) => word !== undefined).join(' ')
    if (reached === null) return `${paint('dim', 'unknown')}  ${text}: not measured (${goal})`
    const mark = isReached ? paint('green', 'reached') : paint('red', 'missed ')
    return `${mark}  ${text}: ${formatRatio(reached)} (${goal})`
  })
  return [paint('bold', 'Goals'), ...lines].join('\n')
}

/**
 * The exit code of a run. With `--strict`, a missed goal fails it; an unmeasured one does not.
 */
export function toExitCode(goals: readonly GoalResult[], isStrict: boolean): number {
  return isStrict && goals.some(({ isReached }) => isReached === false) ? 1 : 0
}
