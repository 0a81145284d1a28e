export interface ServerEvent {
  readonly name: string
  readonly data: string
  /** The ID of the last event that had one. */
  readonly lastId: string | undefined
}

/** A longer event is not one of the auth server. */
const longestEvent = 4_194_304

/**
 * Reads server-sent events from a response.
 * @throws {RangeError} if an event is too long.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  let buffer = ''
  let lastId: string | undefined
  const decoder = new TextDecoder()
  for await (const chunk of body) {
    buffer += decoder.decode(chunk, { stream: true })
    const blocks = buffer.split(/\r?\n\r?\n/)
    buffer = blocks.pop() ?? ''
    if (buffer.length > longestEvent) throw new RangeError('it sent an event that is too long')
    for (const block of blocks) {
      const fields = new Map(block.split(/\r?\n/).map(toField))
      lastId = fields.get('id') ?? lastId
      const data = fields.get('data')
      if (data !== undefined) yield { name: fields.get('event') ?? 'message', data, lastId }
    }
  }
}

/** The auth server sends each field of an event only once. */
function toField(line: string): [name: string, value: string] {
  const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? []
  return [name, value]
}
