/** How far back charts go. Each range is bounded: memory does not depend on how long the console runs. */
export const ranges = {
  '15m': { minutes: 15, stepSeconds: 5 },
  '1h': { minutes: 60, stepSeconds: 20 },
  '24h': { minutes: 1_440, stepSeconds: 300 },
} as const

export type RangeName = keyof typeof ranges

export const rangeNames = Object.keys(ranges) as readonly RangeName[]
