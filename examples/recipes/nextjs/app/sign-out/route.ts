import { openSession, redirectTo } from '../../session.ts'

/** Not GET, because browsers and proxies may load links in advance. */
export async function POST(request: Request): Promise<Response> {
  const { auth, responseHeaders } = openSession(request.headers.get('cookie'))
  await auth.signOut({ scope: 'local' })
  return redirectTo('/', responseHeaders)
}
