/** Limits the headers of an error to a size that every client accepts. */
const MAX_LENGTH = 4096

/**
 * Encodes `grpc-message`: UTF-8, with everything but printable ASCII and the percent sign itself
 * written as %XX ("Percent-Encoded" in the gRPC protocol).
 */
export function toStatusMessage(text: string): string {
  if (/^[ -$&-~]*$/.test(text)) return text.slice(0, MAX_LENGTH)
  let encoded = ''
  for (const byte of Buffer.from(text)) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25
    const next = isPlain
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    if (encoded.length + next.length > MAX_LENGTH) break
    encoded += next
  }
  return encoded
}
