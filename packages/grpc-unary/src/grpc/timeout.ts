const MS_PER_UNIT: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
}

/** A caller's clock and its cancellation may be this much ahead of ours. */
const MAX_SLACK_MS = 5

/** True when a call that took `timeout` as its limit has come to its deadline, or nearly. */
export function isNearDeadline(timeout: string, deadlineMs: number, nowMs: number): boolean {
  if (timeout === '') return false
  const slackMs = Math.min(MAX_SLACK_MS, (parseTimeoutMs(timeout) ?? 0) / 4)
  return nowMs >= deadlineMs - slackMs
}

/** `grpc-timeout` in milliseconds: at most eight digits and a unit. Undefined when it is neither. */
export function parseTimeoutMs(text: string): number | undefined {
  const match = /^(\d{1,8})([HMSmun])$/.exec(text)
  const unit = MS_PER_UNIT[match?.[2] ?? '']
  return match && unit !== undefined ? Number(match[1]) * unit : undefined
}
