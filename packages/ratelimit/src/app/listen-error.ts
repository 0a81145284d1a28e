/** Says what to do about an address that cannot be listened on. */
export function toListenError(error: unknown, what: string, variables: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'something else listens there',
    EACCES: 'the system does not allow it',
    EADDRNOTAVAIL: 'this machine has no such address',
  }
  const reason = reasons[String(error.code)]
  if (reason === undefined) return error
  // The specifications of both servers name this port.
  const isClash = error.code === 'EADDRINUSE' && /:8081\b/.test(error.message)
  const clash = isClash
    ? ' The auth server has 8081 by default, too: AUTH_API_PORT moves that.'
    : ''
  const text = `Cannot listen for ${what}: ${reason} (${error.message}). Change ${variables}.${clash}`
  return new Error(text, { cause: error })
}
