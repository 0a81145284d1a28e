import type { AuthTarget } from '../settings.ts'
import { type Answer, ask, parseObject, toDown } from './ask.ts'
import type { CheckPart, PartHealth } from './part-health.ts'

const name = 'The auth server'

/** Is it there, and does it take our key? Supabase Auth answers the same questions. */
export function createAuthCheck({ url, key }: AuthTarget): CheckPart {
  return async (signal) => {
    try {
      const options = { headers: toKeyHeaders(await key()), ...(signal && { signal }) }
      const health = await ask(name, `${url}/health`, options)
      if (health.status !== 200) return toTrouble(health, `${url}/health`)
      const users = await ask(name, `${url}/admin/users?page=1&per_page=1`, options)
      return { ...toHealth(health), ...judgeKey(users), ...(await findStart(url, options)) }
    } catch (error) {
      return toDown(error)
    }
  }
}

/** The gateway before a hosted server asks for the second one, even for its health. */
export function toKeyHeaders(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}`, apikey: key }
}

function toHealth({ text, latencyMs }: Answer): PartHealth {
  const { name: product, version } = parseObject(text) ?? {}
  const toText = (value: unknown) => (typeof value === 'string' ? value : undefined)
  return { state: 'up', product: toText(product), version: toText(version), latencyMs }
}

/** Supabase Auth does not say when it started. */
async function findStart(url: string, options: RequestInit): Promise<Partial<PartHealth>> {
  const since = encodeURIComponent(new Date().toISOString())
  const { status, text } = await ask(name, `${url}/admin/sign-ins?since=${since}`, options)
  if (status !== 200) return {}
  const { started_at: startedAt } = parseObject(text) ?? {}
  return typeof startedAt === 'string' ? { startedAt: Date.parse(startedAt) } : {}
}

function toTrouble({ status, latencyMs }: Answer, url: string): PartHealth {
  return { state: 'troubled', latencyMs, detail: `${url} answers ${status} instead of 200` }
}

function judgeKey({ status, headers }: Answer): Partial<PartHealth> {
  if (status === 200) {
    const total = headers.get('x-total-count')
    return total === null ? {} : { users: Number(total) }
  }
  if (status === 401 || status === 403) {
    return {
      state: 'troubled',
      detail: `It refuses the console's key (${status}): a service key of this server is needed`,
    }
  }
  return { state: 'troubled', detail: `GET /admin/users answers ${status}` }
}
