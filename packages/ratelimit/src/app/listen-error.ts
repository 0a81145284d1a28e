/** Adds to a listen error what to do about it. */
export function toListenError(error: unknown, what: string, variables: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'the address is already in use',
    EACCES: 'permission denied',
    EADDRNOTAVAIL: 'this machine has no such address',
  }
  const reason = reasons[String(error.code)]
  if (reason === undefined) return error
  // Both servers use this port by default.
  const isClash = error.code === 'EADDRINUSE' && /:8081\b/.test(error.message)
  const clash = isClash
    ? ' The auth server also uses 8081 by default; AUTH_API_PORT changes that.'
    : ''
  const text = `Cannot listen for ${what}: ${reason} (${error.message}). Change ${variables}.${clash}`
  return new Error(text, { cause: error })
}
