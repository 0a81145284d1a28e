const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** `2 h 5 min`: the two largest units. */
export function formatSpan(milliseconds: number): string {
  let rest = Math.max(0, Math.floor(milliseconds / 1000))
  const words: string[] = []
  for (const [unit, seconds] of units) {
    const count = Math.floor(rest / seconds)
    rest -= count * seconds
    if (count > 0) words.push(`${count} ${unit}`)
  }
  return words.slice(0, 2).join(' ') || '0 s'
}

/** `3 ms`, `1.2 s`. */
export function formatLatency(milliseconds: number): string {
  if (milliseconds < 1) return '< 1 ms'
  return milliseconds < 1000
    ? `${Math.round(milliseconds)} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`
}
