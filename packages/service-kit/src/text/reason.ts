/**
 * Why something failed, for a message that names the file or server itself. Only the plain part of a
 * file system error remains: `no such file or directory` of
 * `ENOENT: no such file or directory, open '/x'`.
 */
export function toReason(error: unknown): string {
  const message = toMessage(error)
  const code = toCode(error)
  if (code === '' || !message.startsWith(`${code}: `)) return message
  // Node calls this an illegal operation.
  if (code === 'EISDIR') return 'is a directory, not a file'
  const syscall = error instanceof Error && 'syscall' in error ? error.syscall : undefined
  const end = message.indexOf(`, ${syscall}`)
  return end === -1 ? message : message.slice(code.length + 2, end)
}

/** The reason with the path of a file, for errors of any origin. */
export function toMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // OpenSSL ends its messages with a line break.
  const message = error.message.trimEnd()
  if (message !== '') return message
  // Node reports the errors of all addresses of a host in one error, which has no message.
  const several = error instanceof AggregateError ? error.errors.map(toMessage).join('; ') : ''
  return several || toCode(error) || error.name
}

/** The code of an error of Node or PostgreSQL; empty if it has none. */
export function toCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code ?? '') : ''
}
