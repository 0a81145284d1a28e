import { openSession, redirectTo, toErrorPath } from '../../../session.ts'

/** Links in email and providers return here with a code. */
export async function GET(request: Request): Promise<Response> {
  const { searchParams } = new URL(request.url)
  const failure = searchParams.get('error_code')
  if (failure !== null) return redirectTo(toErrorPath(failure))
  const { auth, responseHeaders } = openSession(request.headers.get('cookie'))
  // The verifier of the code is in a cookie, so the code is useless in another browser.
  const { error } = await auth.exchangeCodeForSession(searchParams.get('code') ?? '')
  return redirectTo(error ? toErrorPath(error.code) : '/', responseHeaders)
}
