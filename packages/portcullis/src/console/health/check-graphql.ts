import type { GraphqlTarget } from '../settings.ts'
import { type Answer, ask, parseObject, toDown } from './ask.ts'
import type { CheckPart, PartHealth } from './part-health.ts'

const name = 'The GraphQL API'
const query = JSON.stringify({ query: '{ __typename }' })

/**
 * A query tells whether it is one. But queries may be counted against a limit: unless ours are not, it is
 * enough after the first answer that somebody is still there.
 */
export function createGraphqlCheck(target: GraphqlTarget): CheckPart {
  const check = createAnswerCheck(target)
  return async (signal) => ({ ...(await check(signal)), startedAt: target.startedAt })
}

function createAnswerCheck({ url, auditHeaders }: GraphqlTarget): CheckPart {
  let hasAnswered = false
  return async (signal) => {
    const options = signal ? { signal } : {}
    try {
      if (hasAnswered && auditHeaders === undefined) {
        const { latencyMs } = await ask(name, new URL('/health', url).href, options)
        return { state: 'up', latencyMs }
      }
      const answer = await ask(name, url, {
        ...options,
        method: 'POST',
        headers: {
          ...auditHeaders,
          'content-type': 'application/json',
          accept: 'application/graphql-response+json, application/json',
        },
        body: query,
      })
      const health = judge(answer)
      hasAnswered = health.state === 'up'
      return health
    } catch (error) {
      hasAnswered = false
      return toDown(error)
    }
  }
}

function judge({ status, text, latencyMs }: Answer): PartHealth {
  if (status === 429) return { state: 'up', latencyMs, detail: 'At its limit for this address' }
  const content = parseObject(text)
  if (content && 'data' in content) return { state: 'up', latencyMs }
  // Who may ask is its own business; it did understand that it was asked.
  if (content && 'errors' in content) return { state: 'up', latencyMs, detail: 'Refuses strangers' }
  return { state: 'troubled', latencyMs, detail: `It answers ${status}, and not as GraphQL does` }
}
