/** Length in bytes of the HTTP/1.1 response that a buffer starts with; 0 while it is incomplete. */
export function lengthOfResponse(buffer: Buffer): number {
  const text = buffer.toString('latin1')
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return 0
  const bodyStart = headEnd + 4
  const head = text.slice(0, headEnd)

  const contentLength = /^content-length: *(\d+) *$/im.exec(head)?.[1]
  if (contentLength !== undefined) {
    const end = bodyStart + Number(contentLength)
    return buffer.length >= end ? end : 0
  }
  if (!/^transfer-encoding: *chunked *$/im.test(head)) {
    throw new Error('The response has neither a content-length nor chunks')
  }
  // RFC 9112, section 7.1: size in hexadecimal, line end, data, line end; the last chunk has size
  // 0.
  for (let position = bodyStart; ; ) {
    const lineEnd = text.indexOf('\r\n', position)
    if (lineEnd < 0) return 0
    const size = Number.parseInt(text.slice(position, lineEnd), 16)
    position = lineEnd + 2 + size + 2
    if (position > text.length) return 0
    if (size === 0) return position
  }
}
