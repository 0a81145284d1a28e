import { type Descriptor, type RateLimitRequest, toOverrideText } from '../protocol/message.ts'

/**
 * A request in protobuf's text form on one line, as Go's `String()` writes it:
 * `domain:"shop" descriptors:{entries:{key:"path" value:"/"}} hits_addend:2`. Cut off after
 * `maxLength` characters; what is beyond is not even made.
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
 * The first `maxLength` characters. A copy: a part that V8 cuts out of a text keeps the whole text
 * in memory, and spans wait in a queue.
 */
export function cutText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : Buffer.from(text.slice(0, maxLength)).toString()
}
