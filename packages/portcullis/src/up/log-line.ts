/** Whether a line of a server's log is only about how things go. */
export function isNews(line: string): boolean {
  return /^warning: |"level":"(?:info|debug|trace)"|level=(?:info|debug|warning)/.test(line)
}

/** Whether it is about something that did not work. */
export function isError(line: string): boolean {
  return /"level":"(?:error|fatal)"|level=(?:error|fatal)/.test(line)
}

/** What a line says, without what is around it; all of it where it is no log. */
export function toWords(line: string): string {
  const text = /\bmsg="((?:[^"\\]|\\.)*)"/.exec(line)?.[1]
  if (text !== undefined) return text.replaceAll(/\\(.)/g, '$1')
  if (!line.startsWith('{')) return line
  try {
    const fields: Readonly<Record<string, unknown>> = JSON.parse(line)
    const { '@message': message, msg = message } = fields
    return toRequestWords(fields) ?? (typeof msg === 'string' ? msg : line)
  } catch {
    return line
  }
}

/** What became of a request; undefined for lines about anything else. */
function toRequestWords(fields: Readonly<Record<string, unknown>>): string | undefined {
  const { method, path, status, error_code: code, error } = fields
  if (typeof method !== 'string' || typeof path !== 'string' || typeof status !== 'number') {
    return undefined
  }
  const outcome = status >= 500 ? 'failed' : 'was refused'
  const reasons = [code, error].filter((reason) => typeof reason === 'string' && reason !== '')
  return `${method} ${path} ${outcome}: ${[status, ...reasons].join(', ')}`
}
