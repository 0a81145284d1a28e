import { wire } from '../../../protocol/tags.ts'
import { WireReader } from '../../../protocol/wire-reader.ts'

/** A `DiscoveryResponse` without its resources. */
export interface Envelope {
  readonly version: string
  readonly typeUrl: string
  readonly nonce: string
}

const versionTag = (1 << 3) | wire.bytes
const typeUrlTag = (4 << 3) | wire.bytes
const nonceTag = (5 << 3) | wire.bytes

const reader = new WireReader()

/**
 * Passes over the resources, so that it takes no time: even of a response with which everything
 * else is wrong, the server can be told which one it was.
 * @throws {DecodeError}
 */
export function parseEnvelope(response: Buffer): Envelope {
  let version = ''
  let typeUrl = ''
  let nonce = ''
  reader.open(response, 0, response.length)
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === versionTag) version = reader.readString()
    else if (tag === typeUrlTag) typeUrl = reader.readString()
    else if (tag === nonceTag) nonce = reader.readString()
    else reader.skip(tag)
  }
  return { version, typeUrl, nonce }
}
