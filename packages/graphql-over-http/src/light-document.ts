import { type DocumentNode, getLocation, type Location, type Source } from 'graphql'

/**
 * A location without the parser's tokens, which take more memory than the rest of a document. The
 * tokens are recreated on access, since compiling executors read them.
 */
class LightLocation {
  readonly start: number
  readonly end: number
  readonly source: Source

  constructor({ start, end, source }: Location) {
    this.start = start
    this.end = end
    this.source = source
  }

  get startToken(): object {
    return { ...getLocation(this.source, this.start), start: this.start, end: this.end }
  }

  get endToken(): object {
    return { ...getLocation(this.source, this.end), start: this.start, end: this.end }
  }

  toJSON(): object {
    return { start: this.start, end: this.end }
  }
}

type Parts = { [key: string]: unknown }

/** Most lists of a document are empty, so they share one array. */
const NONE: readonly never[] = Object.freeze([])

/** Estimated bytes of the largest node with its location, and of the list that holds it. */
const BYTES_PER_NODE = 200

/**
 * Reduces the memory that a document takes, in place, and returns an estimate of the bytes that
 * remain. The estimate errs on the high side.
 *
 * @param isFrozen - freeze the document as well. Fields stay writable, because graphql-jit adds properties to them.
 */
export function lighten(document: DocumentNode, isFrozen: boolean): number {
  let nodes = 0
  // A list of pending nodes instead of recursion, which deep documents would overflow.
  const pending: object[] = [document]
  for (let node = pending.pop() as Parts | undefined; node; node = pending.pop() as Parts) {
    nodes += 1
    for (const key in node) {
      const value = node[key]
      if (typeof value !== 'object' || value === null) continue
      if (value instanceof LightLocation || value === NONE) continue
      if (key === 'loc') node[key] = new LightLocation(value as Location)
      else if (!Array.isArray(value)) pending.push(value)
      else if (value.length === 0) node[key] = NONE
      else {
        for (const item of value) pending.push(item)
        if (isFrozen) Object.freeze(value)
      }
    }
    if (isFrozen && node['kind'] !== 'Field') Object.freeze(node)
  }
  return nodes * BYTES_PER_NODE
}
