import { DecodeError, type Descriptor } from './message.ts'
import { descriptor, request } from './tags.ts'
import { WireReader } from './wire-reader.ts'

/** How large a request may be: one of a hundred thousand descriptors would keep all others waiting. */
export interface RequestBounds {
  readonly mostDescriptors: number
  readonly mostEntries: number
}

/** What is wrong with the size of a request, for its caller; undefined: nothing. */
export function findExcess(
  descriptors: readonly Pick<Descriptor, 'entries'>[],
  bounds: RequestBounds,
): string | undefined {
  if (descriptors.length > bounds.mostDescriptors) return tooManyDescriptors(bounds)
  const isTooLong = descriptors.some(({ entries }) => entries.length > bounds.mostEntries)
  return isTooLong ? tooManyEntries(bounds) : undefined
}

const reader = new WireReader()

/** The same for an encoded request, of which no more is read than it takes. */
export function findEncodedExcess(
  buffer: Buffer,
  start: number,
  end: number,
  bounds: RequestBounds,
): string | undefined {
  // Nothing of either kind takes less than two bytes.
  if (end - start <= 2 * Math.min(bounds.mostDescriptors, bounds.mostEntries)) return undefined
  try {
    return countEncoded(buffer, start, end, bounds)
  } catch (error) {
    // Decoding it reports what is wrong.
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
    let entries = 0
    const outerEnd = reader.enter()
    while (reader.hasMore()) {
      const inner = reader.readTag()
      if (inner === descriptor.entries) entries += 1
      reader.skip(inner)
    }
    reader.leave(outerEnd)
    if (entries > bounds.mostEntries) return tooManyEntries(bounds)
  }
  return undefined
}

function tooManyDescriptors({ mostDescriptors }: RequestBounds): string {
  return `a request may have at most ${mostDescriptors} descriptors (MAX_DESCRIPTORS_PER_REQUEST)`
}

function tooManyEntries({ mostEntries }: RequestBounds): string {
  return `a descriptor may have at most ${mostEntries} entries (MAX_ENTRIES_PER_DESCRIPTOR)`
}
