import { type Descriptor, type RateLimitRequest, toOverrideText } from '../protocol/message.ts'

/**
 * Formats a request in protobuf's text format on one line, like Go's `String()`:
 * `domain:"shop" descriptors:{entries:{key:"path" value:"/"}} hits_addend:2`. It is truncated after
 * `maxLength` characters, and the rest is not formatted at all.
 */
export function toRequestText(
  { domain, descriptors, hitsAddend }: RateLimitRequest,
  maxLength: number,
): string {
  let text = domain === '' ? '' : `domain:${JSON.stringify(domain)}`
  for (const descriptor of descriptors) {
    if (text.length > maxLength) return cutText(text, maxLength)
    text += ` descriptors:{${toDescriptorText(descriptor)}}`
  }
  if (hitsAddend !== 0) text += ` hits_addend:${hitsAddend}`
  return cutText(text.trimStart(), maxLength)
}

function toDescriptorText({ entries, limit, hitsAddend, isNegativeHits }: Descriptor): string {
  const fields = entries.map(({ key, value }) => `entries:{${toEntryText(key, value)}}`)
  if (limit !== undefined) fields.push(`limit:{${toOverrideText(limit)}}`)
  if (hitsAddend !== undefined) {
    fields.push(`hits_addend:{${hitsAddend === 0 ? '' : `value:${hitsAddend}`}}`)
  }
  if (isNegativeHits) fields.push('is_negative_hits:true')
  return fields.join(' ')
}

function toEntryText(key: string, value: string): string {
  const fields: string[] = []
  if (key !== '') fields.push(`key:${JSON.stringify(key)}`)
  if (value !== '') fields.push(`value:${JSON.stringify(value)}`)
  return fields.join(' ')
}

/**
 * Returns a copy of the first `maxLength` characters: a substring keeps the whole string in memory, and
 * spans wait in a queue.
 */
export function cutText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : Buffer.from(text.slice(0, maxLength)).toString()
}
