const MS_PER_UNIT: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
}

/** How much earlier than our deadline a caller may cancel, due to differing clocks. */
const MAX_SLACK_MS = 5

/** Whether a call with the limit `timeout` has reached its deadline, or nearly. */
export function isNearDeadline(timeout: string, deadlineMs: number, nowMs: number): boolean {
  if (timeout === '') return false
  const slackMs = Math.min(MAX_SLACK_MS, (parseTimeoutMs(timeout) ?? 0) / 4)
  return nowMs >= deadlineMs - slackMs
}

/**
 * Parses `grpc-timeout`, at most eight digits and a unit, to milliseconds. Undefined if it is
 * malformed.
 */
export function parseTimeoutMs(text: string): number | undefined {
  const match = /^(\d{1,8})([HMSmun])$/.exec(text)
  const unit = MS_PER_UNIT[match?.[2] ?? '']
  return match && unit !== undefined ? Number(match[1]) * unit : undefined
}
