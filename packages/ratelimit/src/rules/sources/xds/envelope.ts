import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { toReason } from './reason.ts'

/** A `DiscoveryResponse` without its resources. */
export interface Envelope {
  readonly version: string
  readonly typeUrl: string
  readonly nonce: string
}

const fieldNumbers = { version: 1, typeUrl: 4, nonce: 5 } as const

/**
 * Skips the resources, so that it takes no time: even if everything else in a response is wrong, the
 * server can be told which one it was.
 * @throws {Error} when the response is not a protobuf message.
 */
export function parseEnvelope(response: Uint8Array): Envelope {
  try {
    const texts = readTexts(response)
    const textOf = (number: number) => texts.get(number) ?? ''
    return {
      version: textOf(fieldNumbers.version),
      typeUrl: textOf(fieldNumbers.typeUrl),
      nonce: textOf(fieldNumbers.nonce),
    }
  } catch (error) {
    throw new Error(`the message cannot be decoded: ${toReason(error)}`, { cause: error })
  }
}

const wanted = new Set<number>(Object.values(fieldNumbers))

/** By field number. */
function readTexts(response: Uint8Array): ReadonlyMap<number, string> {
  const texts = new Map<number, string>()
  const reader = new BinaryReader(response)
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    const isWanted = wireType === WireType.LengthDelimited && wanted.has(number)
    if (isWanted) texts.set(number, reader.string(true))
    else reader.skip(wireType, number)
  }
  return texts
}
