/** How long each server is measured: in many short slices, in turn with the others. */
export interface RoundPlan {
  readonly rounds: number
  /** How often all servers are started, including the first time. */
  readonly starts: number
  readonly seconds: number
  readonly warmupSeconds: number
}

/** Reports the progress of a run. */
export type OnProgress = (done: number, total: number, what: string) => void

/** Whether all servers are restarted before this round; restarts are evenly distributed. */
export function startsServers(round: number, { rounds, starts }: RoundPlan): boolean {
  const startOf = (one: number) => Math.floor((one * starts) / rounds)
  return round === 0 || startOf(round) !== startOf(round - 1)
}

/** The order of a round: another server is first each time, and every second round is reversed. */
export function toRoundOrder<T>(list: readonly T[], round: number): readonly T[] {
  const first = (round * 5) % list.length
  const turned = [...list.slice(first), ...list.slice(0, first)]
  return round % 2 === 0 ? turned : turned.reverse()
}
