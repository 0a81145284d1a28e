const timeoutMs = 1_000

/** The part of the service's answer that we need. */
interface Answer {
  readonly overallCode: 'OK' | 'OVER_LIMIT'
  readonly statuses: readonly { readonly durationUntilReset?: string }[]
  readonly responseHeadersToAdd?: readonly { readonly key: string; readonly value: string }[]
}

export interface Decision {
  readonly isAllowed: boolean
  readonly retryAfterSeconds: number
  readonly headers: readonly (readonly [name: string, value: string])[]
}

export type CountRequest = (key: 'user' | 'address', value: string) => Promise<Decision>

/** Counts requests as the rules of the domain `graphql` say; the rate limit service decides. */
export function createCountRequest(ratelimitUrl: string): CountRequest {
  return async (key, value) => {
    try {
      const response = await fetch(`${ratelimitUrl}/json`, {
        method: 'POST',
        body: JSON.stringify({ domain: 'graphql', descriptors: [{ entries: [{ key, value }] }] }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      // 429 is an answer too.
      if (!response.ok && response.status !== 429) throw new Error(`status ${response.status}`)
      return toDecision(await response.json())
    } catch (error) {
      // No limits for a while are better than no API for a while. You may think otherwise.
      console.error(`The rate limit could not be checked: ${toReason(error)}`)
      return { isAllowed: true, retryAfterSeconds: 0, headers: [] }
    }
  }
}

function toDecision({ overallCode, statuses, responseHeadersToAdd = [] }: Answer): Decision {
  return {
    isAllowed: overallCode === 'OK',
    retryAfterSeconds: Math.max(1, Number.parseInt(statuses[0]?.durationUntilReset ?? '1', 10)),
    headers: responseHeadersToAdd.map(({ key, value }) => [key, value]),
  }
}

/** `fetch` keeps the interesting half to itself. */
function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
