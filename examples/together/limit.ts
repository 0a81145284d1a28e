// Whether there is room for one more request: the rate limit service counts and decides.

const url = `${process.env.RATELIMIT_URL ?? 'http://localhost:8080'}/json`
const timeoutMs = Number(process.env.RATELIMIT_TIMEOUT_MS ?? 1_000)

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

/** Counts one request as the entry says, such as `user` with their id; see rules/graphql.yaml. */
export async function countRequest(key: 'user' | 'address', value: string): Promise<Decision> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      body: JSON.stringify({ domain: 'graphql', descriptors: [{ entries: [{ key, value }] }] }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    // 429 is an answer too.
    if (!response.ok && response.status !== 429) throw new Error(`status ${response.status}`)
    return toDecision(await response.json())
  } catch (error) {
    // No limits for a while are better than no API for a while. You may think otherwise.
    console.error('The rate limit could not be checked:', error)
    return { isAllowed: true, retryAfterSeconds: 0, headers: [] }
  }
}

function toDecision({ overallCode, statuses, responseHeadersToAdd = [] }: Answer): Decision {
  return {
    isAllowed: overallCode === 'OK',
    retryAfterSeconds: Math.max(1, Number.parseInt(statuses[0]?.durationUntilReset ?? '1', 10)),
    headers: responseHeadersToAdd.map(({ key, value }) => [key, value]),
  }
}
