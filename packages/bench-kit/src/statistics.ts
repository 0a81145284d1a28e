export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** The 90th percentile: the performance that is possible while nothing else uses the machine. */
export function best(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.round((values.length - 1) * 0.9)] ?? Number.NaN
}

/**
 * Median of the ratios of each round. A temporary slowdown of the machine affects all slices of a
 * round alike, so this is more stable than the ratio of two medians.
 */
export function medianRatio(values: readonly number[], others: readonly number[]): number {
  return median(values.map((value, round) => value / (others[round] ?? Number.NaN)))
}

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
