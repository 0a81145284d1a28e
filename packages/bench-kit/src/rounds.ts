/** How long everybody is measured: many short slices, taking turns. */
export interface RoundPlan {
  readonly rounds: number
  /** How many times the rounds are interrupted to start all servers anew, the first included. */
  readonly starts: number
  readonly seconds: number
  readonly warmupSeconds: number
}

/** How far a run is. */
export type OnProgress = (done: number, total: number, what: string) => void

/** Whether all servers are started anew before this round: at even distances. */
export function beginsAnew(round: number, { rounds, starts }: RoundPlan): boolean {
  const startOf = (one: number) => Math.floor((one * starts) / rounds)
  return round === 0 || startOf(round) !== startOf(round - 1)
}

/** The order of a round: reversed every second time, and starting further on each time. */
export function inTurn<T>(list: readonly T[], round: number): readonly T[] {
  const first = (round * 5) % list.length
  const turned = [...list.slice(first), ...list.slice(0, first)]
  return round % 2 === 0 ? turned : turned.reverse()
}
