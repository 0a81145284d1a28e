import { DecodeError, type Descriptor } from './message.ts'
import { descriptor, request } from './tags.ts'
import { WireReader } from './wire-reader.ts'

/** Limits on the size of a request: one with a hundred thousand descriptors would delay all others. */
export interface RequestBounds {
  readonly mostDescriptors: number
  readonly mostEntries: number
}

/** Returns which limit a request exceeds, for the client; undefined if it exceeds none. */
export function findExcess(
  descriptors: readonly Pick<Descriptor, 'entries'>[],
  bounds: RequestBounds,
): string | undefined {
  if (descriptors.length > bounds.mostDescriptors) return tooManyDescriptors(bounds)
  const isTooLong = descriptors.some(({ entries }) => entries.length > bounds.mostEntries)
  return isTooLong ? tooManyEntries(bounds) : undefined
}

const reader = new WireReader()

/** Like `findExcess`, for an encoded request or its beginning, which is read only as far as necessary. */
export function findEncodedExcess(
  buffer: Buffer,
  start: number,
  end: number,
  bounds: RequestBounds,
): string | undefined {
  // A descriptor or an entry takes at least two bytes.
  if (end - start <= 2 * Math.min(bounds.mostDescriptors, bounds.mostEntries)) return undefined
  try {
    return countEncoded(buffer, start, end, bounds)
  } catch (error) {
    // The error is reported when the request is decoded.
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

function countEncoded(
  buffer: Buffer,
  start: number,
  end: number,
  bounds: RequestBounds,
): string | undefined {
  reader.open(buffer, start, end)
  let descriptors = 0
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag !== request.descriptors) {
      reader.skip(tag)
      continue
    }
    descriptors += 1
    if (descriptors > bounds.mostDescriptors) return tooManyDescriptors(bounds)
    const outerEnd = reader.enterBeginning()
    const { mostEntries } = bounds
    if (reader.left > 2 * mostEntries && hasMoreEntries(mostEntries)) return tooManyEntries(bounds)
    reader.skipRest()
    reader.leave(outerEnd)
  }
  return undefined
}

/** Whether the descriptor that the reader is in has more entries. */
function hasMoreEntries(most: number): boolean {
  let entries = 0
  while (entries <= most && reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === descriptor.entries) entries += 1
    reader.skip(tag)
  }
  return entries > most
}

function tooManyDescriptors({ mostDescriptors }: RequestBounds): string {
  return `a request may have at most ${mostDescriptors} descriptors (MAX_DESCRIPTORS_PER_REQUEST)`
}

function tooManyEntries({ mostEntries }: RequestBounds): string {
  return `a descriptor may have at most ${mostEntries} entries (MAX_ENTRIES_PER_DESCRIPTOR)`
}
