import { createGenerations } from '../../generations.ts'
import type { ResponseInit } from '../../request.ts'

const isToken = checkOnce((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name))
const isText = checkOnce((text) => !/[^\t\x20-\x7e\x80-\xff]/.test(text))

/** Caches the results, since nearly all responses have the same few headers. */
function checkOnce(isFine: (text: string) => boolean): (text: string) => boolean {
  const fine = createGenerations<true>(100, 10_000)
  return (text) => {
    if (fine.get(text)) return true
    if (!isFine(text)) return false
    fine.set(text, true)
    return true
  }
}

/**
 * The headers of a response, ready to be written: names in lower case, no undefined values. The
 * content length is left out, since only the host knows how it sends the body.
 *
 * Throws on text that would end a header early or start another one. Some hosts do not check, and
 * some check when it is too late to send another response. RFC 9110, section 5.
 */
export function toHeaders(init: ResponseInit): { [name: string]: string } {
  const headers: { [name: string]: string } = {}
  for (const key in init.headers) {
    const value = init.headers[key]
    const name = key.toLowerCase()
    if (value === undefined || name === 'content-length') continue
    if (!isToken(name) || !isText(value)) {
      throw new TypeError(
        `Invalid response header ${JSON.stringify(name)}: ${JSON.stringify(value)}`,
      )
    }
    headers[name] = value
  }
  if (init.statusText && !isText(init.statusText)) {
    throw new TypeError(`Invalid status text: ${JSON.stringify(init.statusText)}`)
  }
  return headers
}

/** The headers plus `Vary` if the option is set, for hosts that do not merge headers themselves. */
export function toVaryingHeaders(init: ResponseInit, vary: boolean): { [name: string]: string } {
  const headers = toHeaders(init)
  if (vary) headers['vary'] = varyByAccept(headers['vary'])
  return headers
}

/** Adds `Accept` to an existing value of `Vary`. */
export function varyByAccept(present: string | undefined): string {
  if (!present) return 'Accept'
  return /(?:^|,)\s*(?:accept|\*)\s*(?:,|$)/i.test(present) ? present : `${present}, Accept`
}

/**
 * RFC 9110, section 8.6: responses with these statuses must not have a content length, not even 0.
 */
export function isWithoutLength(status: number): boolean {
  return status < 200 || status === 204 || status === 304
}
