import { formatRatio, paint } from './table.ts'

export type Direction = 'at least' | 'at most'

/** A performance target and the measured value. */
export interface Wish {
  readonly text: string
  /** Default: at least. */
  readonly direction?: Direction
  readonly wanted: number
  /** Undefined or NaN if it was not measured. */
  readonly reached: number | undefined
}

/** The same as a table row. */
export type WishRow = readonly [
  text: string,
  direction: Direction,
  wanted: number,
  reached: number | undefined,
]

export const toWish = ([text, direction, wanted, reached]: WishRow): Wish => ({
  text,
  direction,
  wanted,
  reached,
})

export interface Aim extends Omit<Wish, 'reached'> {
  /** Null if it was not measured, because there was no peer or it was not requested. */
  readonly reached: number | null
  readonly isReached: boolean | null
}

export function judgeAims(wishes: readonly Wish[]): readonly Aim[] {
  return wishes.map(({ reached, ...wish }) => {
    if (reached === undefined || Number.isNaN(reached)) {
      return { ...wish, reached: null, isReached: null }
    }
    const isReached = wish.direction === 'at most' ? reached <= wish.wanted : reached >= wish.wanted
    return { ...wish, reached: Number(reached.toFixed(3)), isReached }
  })
}

export const isMeasured = ({ reached }: Aim): boolean => reached !== null

export function formatAims(aims: readonly Aim[]): string {
  const lines = aims.map(({ text, direction, wanted, reached, isReached }) => {
    const wish = ['wanted', direction, wanted].filter((word) => word !== undefined).join(' ')
    if (reached === null) return `${paint('dim', 'unknown')}  ${text}: not measured (${wish})`
    const mark = isReached ? paint('green', 'reached') : paint('red', 'missed ')
    return `${mark}  ${text}: ${formatRatio(reached)} (${wish})`
  })
  return [paint('bold', 'Aims'), ...lines].join('\n')
}

/**
 * The exit code of a run. With `--strict`, a missed target fails it; an unmeasured one does not.
 */
export function toExitCode(aims: readonly Aim[], isStrict: boolean): number {
  return isStrict && aims.some(({ isReached }) => isReached === false) ? 1 : 0
}
