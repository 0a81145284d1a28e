const limitHeader = /^(?:x-ratelimit-|ratelimit-|retry-after$)/

/** Whether a response header is about a rate limit. */
export function isLimitHeader([name]: readonly [name: string, value: string]): boolean {
  return limitHeader.test(name)
}

/** Formats JSON; other text is returned unchanged. */
export function toPretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

export function toStatusTone(status: number): 'ok' | 'warn' | 'danger' {
  if (status >= 500) return 'danger'
  return status >= 400 ? 'warn' : 'ok'
}
