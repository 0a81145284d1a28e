import type { AuthorizationServer } from './authorization-server.ts'
import { type HttpAnswer, send } from './http-client.ts'

type Fields = Readonly<Record<string, string>>

/** A browser without scripts, which keeps the cookies of the built-in pages. */
export function createVisitor({ url }: Pick<AuthorizationServer, 'url'>) {
  const cookies = new Map<string, string>()
  const visit = async (path: string, options: Parameters<typeof send>[2] = {}) => {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const answer = await send(url, path, {
      ...options,
      headers: { cookie, 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)', ...options.headers },
    })
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    return answer
  }
  return {
    open: (id: string) => visit(`/oauth/consent?authorization_id=${id}`),
    /** Follows a redirect to the server. */
    follow: (answer: HttpAnswer) => {
      const { pathname, search } = new URL(answer.headers.get('location') ?? '')
      return visit(`${pathname}${search}`)
    },
    get: visit,
    submit: (id: string, fields: Fields, origin = url) =>
      visit(`/oauth/consent?authorization_id=${id}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin },
        body: `${new URLSearchParams(fields)}`,
      }),
  }
}
export type Visitor = ReturnType<typeof createVisitor>

/** The value of a hidden field of a page. */
export function fieldOf({ body }: HttpAnswer, name: string): string {
  const [, value = ''] = new RegExp(`name="${name}" value="([^"]*)"`).exec(body) ?? []
  return value
}
