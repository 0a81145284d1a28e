/** An http URL of a loopback address, with any port. */
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?(?=[/?]|$)/

/**
 * Whether a client may use this redirect URI: only the exact text that it has registered. Apps on a
 * computer listen on a port that they find free, so the port of a loopback address may differ
 * (RFC 8252, section 7.3).
 */
export function isRegistered(registered: readonly string[], requested: string): boolean {
  return registered.some((uri) => uri === requested || isSameLoopback(uri, requested))
}

function isSameLoopback(registered: string, requested: string): boolean {
  return loopback.test(registered) && withoutPort(registered) === withoutPort(requested)
}

function withoutPort(uri: string): string {
  return uri.replace(loopback, 'http://$1')
}

/**
 * Whether another app on the same device could receive the response. The registration then does not
 * prove which app sends a request, so every request needs the consent of the user (RFC 8252, section 8.6).
 */
export function canBeTaken(uri: string): boolean {
  return !uri.startsWith('https:')
}
